// SPDX-License-Identifier: Apache-2.0
// Two things that happen at once, in every order that chance brings: forks and a kill, an end and a drain, a restart
// and a transfer. INIS_TEST_SEED=N plays a run again.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { descendants, role } from "../support/footprint.js";
import { eventually, parallel, randomBytes, sha256, sleep } from "../support/helpers.js";
import { scaled } from "../support/paths.js";
import { type Dice, generator, testSeed } from "../support/random.js";
import { Server } from "../support/server.js";
import { sh, TestSession } from "../support/session.js";
import { exitOf } from "../support/sse.js";
import { Terminal } from "../support/terminal.js";

const PIDS_MAX = 256;

let server: Server;
before(async () => {
  server = await Server.start({ pids_max: PIDS_MAX });
});
after(() => server.stop());

// ---- forks against a kill ----

/** Forks as fast as it can, in every one of its processes, some of them in sessions of their own. */
const STORM = `
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    try:
        if os.fork() == 0 and os.getpid() % 3 == 0: os.setsid()
    except OSError: pass`;

const storm = (mark: string) => ["python3", "-c", STORM, mark];
/** Its processes, seen from the machine. */
const raging = (mark: string) => descendants(server.pid).filter(({ command }) => command.includes(mark)).length;

async function untilRaging(mark: string, dice: Dice): Promise<void> {
  await eventually("the storm is there", () => raging(mark) > 1);
  await sleep(dice(400));
  const count = raging(mark);
  assert(count <= PIDS_MAX, `${count} processes, ${PIDS_MAX} are allowed`);
}

/** Each ends a storm in the session; gone says that the session is too. */
const ENDS: Record<string, (session: TestSession, mark: string, dice: Dice) => Promise<"gone" | undefined>> = {
  kill_of_a_process: async (session, mark, dice) => {
    await session.start(mark, storm(mark));
    await untilRaging(mark, dice);
    await session.kill(mark, { grace_ms: dice(2) * 50 });
    return undefined;
  },
  timeout_of_a_command: async (session, mark, dice) => {
    const result = await session.exec(storm(mark), { timeout_ms: 500 + dice(500) });
    assert.deepEqual([result.timed_out, result.exit_code], [true, 124]);
    return undefined;
  },
  end_of_a_stream: async (session, mark, dice) => {
    const stream = await session.execStream(storm(mark));
    await untilRaging(mark, dice);
    stream.abort();
    await stream.collect();
    return undefined;
  },
  destroy: async (session, mark, dice) => {
    await session.start(mark, storm(mark));
    await untilRaging(mark, dice);
    await session.destroy();
    assert.equal(raging(mark), 0, "a destroy is answered when nothing is left");
    return "gone";
  },
};

test("P11_T7_no_storm_of_forks_outlives_its_kill", async (context) => {
  const seed = testSeed();
  const dice = generator(seed);
  context.diagnostic(`INIS_TEST_SEED=${seed}`);
  const client = server.client();
  let session = await TestSession.create(client);
  await session.start("bystander", ["sleep", "600"]);
  for (let round = 0; round < scaled(5, 1); round++) {
    for (const [name, end] of Object.entries(ENDS)) {
      const mark = `storm-${round}-${name}`;
      const gone = await end(session, mark, dice);
      await eventually(`${name}: nothing is left`, () => raging(mark) === 0);
      if (gone) {
        session = await TestSession.create(client);
        await session.start("bystander", ["sleep", "600"]);
      }
      assert.equal(await session.output("echo usable"), "usable\n");
      assert.equal((await session.process("bystander")).state, "running", "only the storm was killed");
    }
  }
  await session.destroy();
});

// ---- ends against drains ----

const numbers = (count: number) => Array.from({ length: count }, (_, i) => `${i + 1}\n`).join("");

/** Ends with its last write, whatever the pipe still holds then. */
const seq = (count: number) => ["seq", "1", String(count)];

/** Each brings all that a command of so many lines has said. */
const PATHS: Record<string, (session: TestSession, count: number, name: string) => Promise<string>> = {
  buffered: async (session, count) => {
    const { stdout, exit_code } = await session.exec(seq(count));
    assert.equal(exit_code, 0);
    return stdout;
  },
  streamed: async (session, count) => {
    const all = await (await session.execStream(seq(count))).collect();
    assert.equal(exitOf(all).exit_code, 0);
    return all.stdout.toString();
  },
  followed: async (session, count, name) => {
    await session.start(name, seq(count));
    const { stdout, terminal } = await (await session.follow(name)).collect();
    assert.equal(terminal?.event, "eof");
    return stdout.toString();
  },
  logged: async (session, count, name) => {
    await session.start(name, seq(count));
    await eventually("it ends", async () => (await session.process(name)).state === "exited");
    return (await session.logs(name)).stdout;
  },
};

test("X19_commands_that_end_while_they_are_drained_lose_no_byte", async (context) => {
  const seed = testSeed();
  const dice = generator(seed);
  context.diagnostic(`INIS_TEST_SEED=${seed}`);
  const session = await TestSession.create(server.client());
  const paths = Object.entries(PATHS);
  await parallel(6, scaled(2000, 200), async (i) => {
    const [name, read] = paths[i % paths.length]!;
    // Around the sizes of a pipe and of a frame, and anywhere.
    const count = [dice(40), 13_000 + dice(2000), dice(40_000)][dice(3)]!;
    const got = await read(session, count, `drain-${i}`);
    const said = numbers(count);
    assert(got === said, `${name}: ${got.length} of ${said.length} bytes: …${JSON.stringify(got.slice(-40))}`);
  });
  await session.destroy();
});

test("X17_a_cancel_at_any_moment_leaves_a_beginning_and_tells_the_end", async (context) => {
  const seed = testSeed();
  const dice = generator(seed);
  context.diagnostic(`INIS_TEST_SEED=${seed}`);
  const session = await TestSession.create(server.client());
  const ends = new Map<number, number>();
  await parallel(4, scaled(600, 60), async (i) => {
    const count = 20_000 + dice(40_000);
    const exec_id = `cancelled-${i}`;
    const streamed = dice(2) === 0;
    const running = streamed
      ? session.execStream(seq(count), { exec_id }).then(async (stream) => {
          const all = await stream.collect();
          return { stdout: all.stdout.toString(), exit_code: exitOf(all).exit_code };
        })
      : session.exec(seq(count), { exec_id });
    await sleep(dice(30));
    const cancelled = await session.send("DELETE", `/execs/${exec_id}`);
    assert([200, 404].includes(cancelled.status), `${cancelled.status} ${cancelled.body}`);
    const { stdout, exit_code } = await running;
    const said = numbers(count);
    assert([0, 143].includes(exit_code), `exit code ${exit_code}`);
    assert(exit_code === 0 ? stdout === said : said.startsWith(stdout), `${stdout.length} of ${said.length} bytes`);
    ends.set(exit_code, (ends.get(exit_code) ?? 0) + 1);
  });
  context.diagnostic(JSON.stringify([...ends]));
  await session.destroy();
});

// ---- restarts against transfers ----

const MiB = 1024 * 1024;
const COUNTED = 400_000;
/** Counts on while processes of the server die; its own pace, so that a restart comes into it. */
const COUNTER = sh("i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo $i; [ $((i%100)) -ne 0 ] || sleep 0.05; done");

/** How a connection shows that its server is gone, and what one says that is coming or going. */
const CUT = /ECONN|EPIPE|socket hang up|aborted|PREMATURE|other side closed|without an answer/i;
const PASSING = /\b(503|409)\b/;

/** True: it was done; false: the client was told that it was not, or its connection was cut. */
async function attempt(what: string, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    if (error instanceof Broken || CUT.test(`${code} ${message}`) || PASSING.test(message)) return false;
    throw new Error(`${what}: ${message}`, { cause: error });
  }
}

class Broken extends Error {}

interface Transfers {
  session: TestSession;
  stored: Buffer;
}

/** Each is a transfer that says that it succeeded only when every byte is there. */
const TRANSFERS: Record<string, (on: Transfers, dice: Dice) => Promise<void>> = {
  download: async ({ session, stored }) => {
    const reply = await session.send("GET", "/files/stream", { query: { path: "stored" } });
    if (reply.status !== 200) throw new Error(`${reply.status} ${reply.body}`);
    // A body that is shorter than its length is an error of the client's.
    assert.equal(sha256(reply.body), sha256(stored), "a download that ended well is whole");
  },
  upload: async ({ session }, dice) => {
    const path = `/workspace/up-${dice(1e9)}`;
    const content = randomBytes(4 * MiB);
    const reply = await session.send("PUT", "/files/stream", { query: { path }, body: content });
    if (reply.status !== 200) throw new Error(`${reply.status} ${reply.body}`);
    const read = await session.download(path);
    assert.equal(sha256(read), sha256(content), "an upload that was acknowledged is whole");
    await session.expect(204, "DELETE", "/files", { query: { path } });
  },
  stream: async ({ session }) => {
    const { stdout, terminal } = await (await session.execStream(seq(COUNTED))).collect();
    const said = numbers(COUNTED);
    assert(said.startsWith(stdout.toString()), "what came is a beginning");
    if (terminal?.event !== "exit") throw new Broken("no exit");
    assert.equal(stdout.length, said.length, "an exit comes after all output");
  },
  terminal: async ({ session }) => {
    const terminal = await Terminal.open(session, { cmd: sh("stty -opost; seq 1 20000; exit 5") });
    await terminal.socket.over();
    if (terminal.exitCode === undefined) throw new Broken("no exit");
    assert.equal(terminal.exitCode, 5);
    assert(terminal.text === numbers(20_000), "an exit comes after all output");
  },
};

/** O10: follows the counter through every restart to its end, each time from where it was. */
async function followThrough(session: () => TestSession, name: string): Promise<void> {
  let text = "";
  for (let ended = false; !ended; ) {
    await attempt("a follow", async () => {
      const stream = await session().follow(name, { positions: 1, from: text.length });
      for await (const event of stream) {
        if (event.event === "stdout") text += event.bytes.toString();
        if (event.event === "eof") ended = true;
      }
    });
    if (!ended) await sleep(50);
  }
  assert.equal(text, numbers(3000), "no line is lost or doubled");
}

async function kill(victim: "front" | "broker"): Promise<TestSession["client"]> {
  const old = role(server, victim);
  process.kill(old, "SIGKILL");
  await eventually(`a new ${victim} runs`, () => role(server, victim) !== old);
  const client = server.client();
  await eventually("it answers", async () => (await client.send("GET", "/v1/healthz")).status === 200);
  return client;
}

test("X17_O10_a_restart_never_makes_a_part_look_like_the_whole", async (context) => {
  const seed = testSeed();
  const dice = generator(seed);
  context.diagnostic(`INIS_TEST_SEED=${seed}`);
  const made = await TestSession.create(server.client());
  let session = made;
  const stored = randomBytes(8 * MiB);
  await made.expect(200, "PUT", "/files/stream", { query: { path: "stored" }, body: stored });
  const told: Record<string, [whole: number, broken: number]> = {};
  const met = () => Object.values(told).some(([, broken]) => broken > 0);
  // On until a restart has met a transfer, which is chance.
  for (let round = 0; round < scaled(60, 6) || (!met() && round < 60); round++) {
    await session.start(`counter-${round}`, COUNTER);
    const follower = followThrough(() => session, `counter-${round}`);
    const running = Object.entries(TRANSFERS).map(async ([name, work]) => {
      const done = await attempt(name, () => work({ session, stored }, dice));
      told[name] ??= [0, 0];
      told[name][done ? 0 : 1]++;
    });
    // What is found wrong ends the test, whenever that is.
    for (const one of [follower, ...running]) one.catch(() => {});
    // Amid all of them, or when the quick ones are over.
    await Promise.race([
      sleep(20 + dice(dice(2) === 0 ? 400 : 4000)),
      ...running.map((one) => one.then(() => sleep(1000))),
    ]);
    session = made.through(await kill(dice(3) === 0 ? "broker" : "front"));
    await Promise.all([...running, follower]);
    assert.equal(sha256(await session.download("stored")), sha256(stored));
    const left = await session.list("/workspace");
    assert(!left.some((name) => name.startsWith(".")), `no half of an upload stays: ${left}`);
  }
  context.diagnostic(JSON.stringify(told));
  assert(met(), "no restart ever met a transfer");
  await eventually("no command of a lost stream is left", async () => (await session.running("seq 1")).length === 0);
  await session.destroy();
});
