// SPDX-License-Identifier: Apache-2.0
// An agent that a guest has taken over (hostile_agent.c) under a real server: whatever it sends, its own session's
// requests end, no other session notices, the server's memory stays bounded and nothing is left behind.
import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Footprint, footprint, guestInit, residentKb, role, settledFootprint } from "../support/footprint.js";
import { eventually, sleep, withinMs } from "../support/helpers.js";
import type { RawClient, RequestOptions } from "../support/http.js";
import { testSeed } from "../support/random.js";
import type { Server } from "../support/server.js";
import { sh, TestSession } from "../support/session.js";

/** The longest that a request may take: the limits of the server are half a minute of silence, five for large files. */
const PATIENCE_MS = 600_000;
const LONGER_THAN_ANY_TEST = 86_000;

/** What requests may fail with when it is the session's own agent that fails them. */
const FAILURES = [400, 403, 404, 409, 410, 413, 429, 501, 502, 503];

/** The server's programs with another agent. Where they are is read once, by paths.js. */
const programs = mkdtempSync(join(tmpdir(), "inis-hostile-"));
const real = process.env.INIS_BIN_DIR ?? join(import.meta.dirname, "../../bin");
process.env.INIS_BIN_DIR = programs;
const { scale, scaled } = await import("../support/paths.js");

const MODES = [
  ...["garbled", "truncated", "oversized", "replayed", "reordered", "silent", "invented"],
  ...["pings", "strays", "processes"],
];
const SESSIONS = scaled(10, 2);
/** What all that hostile agents send may cost the server, while each sends as much as it can. */
const MEMORY_KB = (32 + 4 * MODES.length * SESSIONS) * 1024;

const seed = testSeed();
const harmed = new Map<string, Promise<void>>();

let server: Server;
let mute: Promise<void>;
let honest: TestSession;
let worker: Promise<number>;
let rest: Footprint;
let memory = { before: 0, most: 0 };
let front: number;
let over = false;

/** Does a bit of everything in an honest session, over and over; how often. */
async function work(): Promise<number> {
  const { pid } = await honest.process("sleeper");
  let rounds = 0;
  for (; !over; rounds++) {
    const word = `word ${rounds}`;
    const result = await honest.exec(sh(`echo ${word}; exit 3`));
    assert.deepEqual([result.stdout, result.exit_code], [`${word}\n`, 3]);
    await honest.write("file", word);
    assert.equal((await honest.read("file")).toString(), word);
    const { state, pid: now } = await honest.process("sleeper");
    assert.deepEqual([state, now], ["running", pid]);
    memory.most = Math.max(memory.most, residentKb(front));
    await sleep(50);
  }
  return rounds;
}

before(async () => {
  for (const name of ["inisd", "inis-broker"]) copyFileSync(join(real, name), join(programs, name));
  copyFileSync(join(real, "inis-test-hostile-agent"), join(programs, "inis-agent"));
  const { Server } = await import("../support/server.js");
  server = await Server.start({ pool: 2 });
  front = role(server, "front");
  honest = await TestSession.create(server.client());
  await honest.start("sleeper", ["sleep", "86400"], { keep_alive: true });
  rest = await settledFootprint(server);
  memory = { before: residentKb(front), most: 0 };
  worker = work();
  // All at once: most of it is waiting for limits. A test each takes what came of them.
  for (const mode of MODES)
    harmed.set(
      mode,
      manyTimes(SESSIONS, (nth) => harm(mode, nth)),
    );
  mute = bear();
  for (const some of [worker, mute, ...harmed.values()]) some.catch(() => {});
});
after(async () => {
  over = true;
  await worker?.catch(() => {});
  await server?.stop();
  rmSync(programs, { recursive: true });
});

/** A request that ends, well or with an error that is in the protocol. */
async function ends(client: RawClient, method: string, path: string, options?: RequestOptions): Promise<void> {
  const what = `${method} ${path}`;
  const reply = await withinMs(what, PATIENCE_MS, client.send(method, path, options));
  assert(reply.status < 300 || FAILURES.includes(reply.status), `${what}: ${reply.status} ${reply.body}`);
}

async function streamEnds(client: RawClient, path: string): Promise<void> {
  const options = { query: { stream: true }, json: { command: ["seq", "1000"], timeout_ms: 5000 } };
  const events = await client.events("POST", path, options).catch((error: Error) => error.message);
  if (typeof events === "string") assert.match(events, /no event stream but (503|409|410|404|502)/);
  else await withinMs("a stream ends", PATIENCE_MS, events.collect());
}

/** Every kind of question that a client can ask a session's agent. */
async function askEverything(session: TestSession): Promise<void> {
  const client = server.client();
  const at = session.path();
  const asked: [string, string, RequestOptions?][] = [
    ["POST", "/exec", { json: { command: sh("head -c 300000 /dev/zero; exit 3"), timeout_ms: 5000 } }],
    ["POST", "/exec", { json: { command: ["cat"], stdin: "x".repeat(300_000), timeout_ms: 5000 } }],
    ["GET", "/files", { query: { path: "f", op: "read" } }],
    ["GET", "/files", { query: { path: "/", op: "list" } }],
    ["GET", "/files", { query: { path: "f", op: "stat" } }],
    ["GET", "/files", { query: { path: ".", op: "find", pattern: "*" } }],
    ["GET", "/files", { query: { path: ".", op: "grep", pattern: "t" } }],
    ["POST", "/processes", { json: { name: "p", command: sh("echo out; echo err >&2") } }],
    ["GET", "/processes"],
    ["GET", "/processes/marker"],
    ["GET", "/processes/marker/logs"],
    ["DELETE", "/processes/p", { query: { grace_ms: 0 } }],
    ["GET", "/ptys"],
    ["POST", "/pause"],
    ["POST", "/resume"],
  ];
  // Which may be silent for two minutes.
  if (scale === 1) asked.push(["PUT", "/files", { json: { path: "f", content: "text", encoding: "text" } }]);
  const all = asked.map(([method, rest, options]) => ends(client, method, at + rest, options));
  await Promise.all([...all, streamEnds(client, `${at}/exec`)]);
  client.close();
}

async function manyTimes(count: number, job: (nth: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, nth) => job(nth)));
}

let marks = LONGER_THAN_ANY_TEST;

/** A session whose agent turns hostile in this way, used until it is destroyed. */
async function harm(mode: string, nth: number): Promise<void> {
  const session = await TestSession.create(server.client());
  const mark = String(++marks);
  await session.start("marker", ["sleep", mark]);
  const init = await eventually("its process is seen", () => guestInit(server, mark));
  // By itself, since an answer to whoever asked would be hostile already.
  const turn = `sleep 0.5; echo ${mode} ${seed + nth} >.how; mv .how .hostile`;
  await session.start("turn", sh(turn));
  await eventually("the agent is hostile", () => existsSync(`/proc/${init}/root/workspace/.hostile`));
  for (let round = 0; round < scaled(10); round++) await askEverything(session);
  const shown = await session.client.send("GET", session.path());
  if (shown.status !== 404) {
    const { state, end_reason } = shown.json;
    assert(["live", "paused", "pausing", "resuming", "failed", "ended"].includes(state as string), `${state}`);
    if (state === "ended") assert.equal(end_reason, "error");
  }
  const { status } = await session.send("DELETE", "");
  assert([204, 404, 410].includes(status), `destroy: ${status}`);
}

/** In a session without sudo it is silent from the start. */
async function bear(): Promise<void> {
  const client = server.client();
  const { status, json } = await client.send("POST", "/v1/sessions", { json: { no_sudo: true } });
  assert([201, 202].includes(status), `create: ${status}`);
  const path = `/v1/sessions/${json.session_id}`;
  const failed = async () => {
    const shown = (await client.expect(200, "GET", path)).json;
    return shown.state === "failed" ? shown : false;
  };
  const { status_reason } = await eventually("it failed", failed, PATIENCE_MS);
  assert.match(status_reason as string, /did not answer/);
  await client.expect(204, "DELETE", path);
}

async function assertUnharmed(): Promise<void> {
  assert.equal(role(server, "front"), front, "the server's processes are those that it began with");
  assert.doesNotMatch(server.logs(), /child ended/);
  const grown = memory.most - memory.before;
  assert(grown < MEMORY_KB, `the server's memory grew by ${grown} KiB`);
  await eventually("nothing is left", () => {
    const { frontFiles: _, brokerFiles: __, ...now } = footprint(server);
    const { frontFiles: ___, brokerFiles: ____, ...then } = rest;
    assert.deepEqual(now, then);
    return true;
  });
}

for (const mode of MODES) {
  test(`an_agent_whose_frames_are_${mode}_harms_its_own_session_at_most`, async (context) => {
    context.diagnostic(`INIS_TEST_SEED=${seed}`);
    await harmed.get(mode);
  });
}

test("an_agent_that_never_says_a_word_makes_a_session_that_failed_and_says_why", () => mute);

test("all_others_went_on_meanwhile_and_nothing_is_left", async (context) => {
  await Promise.allSettled([mute, ...harmed.values()]);
  over = true;
  context.diagnostic(`${await worker} rounds; memory ${memory.before} KiB, at most ${memory.most} KiB`);
  await assertUnharmed();
});
