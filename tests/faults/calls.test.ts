// SPDX-License-Identifier: Apache-2.0
// System calls of the server's processes fail, one at a time: the request at hand gets a documented error, what was
// promised stays, nothing is left behind, and the next request works.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Footprint, footprint, guestInit, role, settledFootprint } from "../support/footprint.js";
import { eventually } from "../support/helpers.js";
import type { RawClient, Reply, RequestOptions } from "../support/http.js";
import { scaled } from "../support/paths.js";
import { type Dice, generator, testSeed } from "../support/random.js";
import { Server } from "../support/server.js";
import { sh, TestSession } from "../support/session.js";
import { type Fault, Injection } from "./inject.js";

type Role = "front" | "broker" | "agent";

const ERRORS: Record<string, string[]> = {
  // Memory.
  mmap: ["ENOMEM"],
  brk: ["ENOMEM"],
  // Files and the disk.
  openat: ["EMFILE", "EIO"],
  openat2: ["EMFILE", "EIO"],
  write: ["ENOSPC", "EIO"],
  pwrite64: ["ENOSPC", "EIO"],
  fsync: ["EIO"],
  fdatasync: ["EIO"],
  ftruncate: ["ENOSPC"],
  mkdirat: ["ENOSPC"],
  renameat: ["EIO"],
  unlinkat: ["EIO"],
  read: ["EIO"],
  // Processes.
  clone3: ["EAGAIN", "ENOMEM"],
  vfork: ["EAGAIN"],
  clone: ["EAGAIN"],
  pipe2: ["EMFILE"],
  // Mounts and namespaces.
  fsopen: ["ENOMEM"],
  fsmount: ["ENOMEM"],
  fsconfig: ["EIO"],
  open_tree: ["ENOMEM"],
  mount_setattr: ["ENOMEM"],
  move_mount: ["ENOMEM"],
  setns: ["ENOMEM"],
  // Sockets and events.
  accept4: ["EMFILE"],
  socket: ["ENOBUFS"],
  connect: ["ECONNREFUSED"],
  sendmsg: ["ENOBUFS"],
  epoll_ctl: ["ENOSPC"],
};

const CALLS: Record<Role, string[]> = {
  front: [
    "mmap",
    "brk",
    "openat",
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "ftruncate",
    "accept4",
    "sendmsg",
    "epoll_ctl",
  ],
  broker: Object.keys(ERRORS).filter((call) => call !== "accept4"),
  agent: ["mmap", "brk", "openat", "openat2", "write", "mkdirat", "clone3", "vfork", "pipe2", "accept4", "epoll_ctl"],
};

/** What a request may fail with when the machine fails it. */
const FAILURES: Record<number, string[]> = {
  400: ["payload_too_large"],
  404: ["not_found"],
  409: ["session_not_live", "conflict", "idempotency_key_in_progress"],
  410: ["session_ended"],
  500: ["internal"],
  502: ["bad_gateway"],
  503: ["unavailable", "session_unavailable"],
};
const LOST = ["ECONNRESET", "ECONNREFUSED", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE"];

let server: Server;
let resident: TestSession;
let residentPid: number | undefined;
let before_: Footprint;

before(async () => {
  server = await Server.start({ pool: 1 });
  await renewResident();
  before_ = await settledFootprint(server);
});
after(() => server.stop());

/** How long the process of the resident session sleeps: also what it is found by. */
const MARK = "987654321";

async function renewResident(): Promise<void> {
  resident = await TestSession.create(server.client(), { external_id: "resident" });
  residentPid = (await resident.start("sleeper", ["sleep", MARK], { keep_alive: true })).pid;
}

/** A request that may fail, but only in a documented way. Undefined: it did, or its connection was lost. */
async function attempt(
  client: RawClient,
  method: string,
  path: string,
  options?: RequestOptions,
): Promise<Reply | undefined> {
  try {
    const reply = await client.send(method, path, options);
    if (reply.status < 300) return reply;
    const code = reply.json.code as string;
    assert(FAILURES[reply.status]?.includes(code), `${method} ${path}: ${reply.status} ${reply.body}`);
    return undefined;
  } catch (error) {
    if (LOST.includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** A bit of everything on a session of its own, and on the resident one. */
async function useEverything(client: RawClient): Promise<void> {
  const made = await attempt(client, "POST", "/v1/sessions", { json: { external_id: "passing" } });
  for (const id of [made?.json.session_id as string | undefined, resident.id]) {
    if (!id) continue;
    const at = `/v1/sessions/${id}`;
    const done = await attempt(client, "POST", `${at}/exec`, {
      json: { command: sh("echo out; exit 3"), timeout_ms: 60000 },
    });
    if (done) assert.deepEqual([done.json.stdout, done.json.exit_code], ["out\n", 3], "X17: no false success");
    await attempt(client, "PUT", `${at}/files`, { json: { path: "f", content: "text", encoding: "text" } });
    const read = await attempt(client, "GET", `${at}/files`, { query: { path: "f", op: "read" } });
    if (read) assert(["", "text"].includes(read.json.content as string), "a file is as it was or as it was written");
  }
  if (!made) return;
  const at = `/v1/sessions/${made.json.session_id}`;
  await attempt(client, "POST", `${at}/processes`, { json: { name: "p", command: ["sleep", "60"] } });
  await attempt(client, "POST", `${at}/pause`);
  await attempt(client, "POST", `${at}/resume`);
  await attempt(client, "DELETE", at);
}

async function removePassing(client: RawClient): Promise<void> {
  await eventually("what was made can be destroyed", async () => {
    const { json } = await client.expect(200, "GET", "/v1/sessions", { query: { external_id: "passing" } });
    for (const { session_id } of json.sessions as { session_id: string }[])
      await client.expect(204, "DELETE", `/v1/sessions/${session_id}`);
    return true;
  });
}

/** The resident session lives on with its process; a fault in its own agent may have ended it, but then it says so. */
async function assertResident(client: RawClient, at: Role, what: string): Promise<void> {
  const shown = await client.send("GET", resident.path());
  if (at === "agent" && (shown.status === 404 || shown.json.state !== "live")) {
    assert.equal(shown.json.state, "ended", `${what}: ${shown.body}`);
    assert.equal(shown.json.end_reason, "error");
    await client.send("DELETE", resident.path());
    await renewResident();
    before_ = await settledFootprint(server);
    return;
  }
  assert.equal(shown.json.state, "live", what);
  const { json } = await client.expect(200, "GET", resident.path("/processes/sleeper"));
  assert.deepEqual([json.state, json.pid], ["running", residentPid], `${what}: the process of another session goes on`);
}

async function assertAsBefore(what: string): Promise<void> {
  await eventually(`${what}: nothing is left`, () => {
    const { frontFiles: _, brokerFiles: __, ...now } = footprint(server);
    const { frontFiles: ___, brokerFiles: ____, ...then } = before_;
    assert.deepEqual(now, then);
    return true;
  });
}

function pidOf(at: Role): number {
  return at === "agent" ? guestInit(server, MARK) : role(server, at);
}

/** One fault; whether the call was made at all. */
async function meet(at: Role, fault: Fault): Promise<boolean> {
  const what = `${fault.when}. ${fault.call} of the ${at}: ${fault.error}`;
  const injection = await Injection.begin(pidOf(at), fault);
  const client = server.client();
  try {
    await useEverything(client);
  } catch (error) {
    if (error instanceof Error) error.message = `${what}: ${error.message}`;
    throw error;
  } finally {
    await injection.end();
  }
  await eventually(`${what}: the server answers`, async () => (await client.send("GET", "/v1/healthz")).status === 200);
  await removePassing(client);
  await assertResident(client, at, what);
  await assertAsBefore(what);
  client.close();
  return injection.report.includes("(INJECTED)");
}

function every(at: Role, times: number): Fault[] {
  return CALLS[at].flatMap((call) =>
    ERRORS[call]!.flatMap((error) => Array.from({ length: times }, (_, n) => ({ call, error, when: String(n + 1) }))),
  );
}

function sample(dice: Dice, faults: Fault[], count: number): Fault[] {
  if (count >= faults.length) return faults;
  const left = [...faults];
  return Array.from({ length: count }, () => left.splice(dice(left.length), 1)[0]!);
}

for (const at of ["front", "broker", "agent"] as const) {
  test(`L1_T10_a_failing_system_call_of_the_${at}_fails_one_request_and_leaves_nothing`, async (context) => {
    const seed = testSeed();
    const faults = sample(generator(seed), every(at, scaled(6, 2)), scaled(10_000, 6));
    let met = 0;
    for (const fault of faults) {
      const hit = await meet(at, fault).catch((error) => {
        context.diagnostic(server.logs().slice(-3000));
        throw error;
      });
      if (hit) met++;
    }
    context.diagnostic(`INIS_TEST_SEED=${seed}: ${met} of ${faults.length} faults were met`);
    assert(met > 0, "no chosen call was ever made");
  });
}
