// SPDX-License-Identifier: Apache-2.0
// A pause freezes a session where it is, and a resume goes on exactly there.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { test } from "node:test";
import { descendants, guestInit } from "../support/footprint.js";
import { eventually, parallel, sleep } from "../support/helpers.js";
import { scaled } from "../support/paths.js";
import { sh, TestSession } from "../support/session.js";
import type { EventStream } from "../support/sse.js";
import { suite } from "../support/suite.js";

const t = suite();

const COUNTER = sh("i=0; while :; do i=$((i+1)); echo $i; sleep 0.02; done");
const TREE = "find /workspace -type f -exec sha256sum {} + | sort | sha256sum";

/** 1, 2, 3, … each on its line, without a gap or a repetition. */
function assertCounts(text: string): number {
  const lines = text.split("\n").slice(0, -1);
  assert.deepEqual(
    lines.slice(0, 3).concat(lines.slice(-3)),
    [1, 2, 3, lines.length - 2, lines.length - 1, lines.length].map(String),
  );
  assert.equal(new Set(lines).size, lines.length, "no line twice");
  return lines.length;
}

async function counted(session: TestSession, above: number): Promise<number> {
  let count = 0;
  await eventually("it counts", async () => {
    count = assertCounts((await session.logs("counter")).stdout);
    return count > above;
  });
  return count;
}

async function untilLine(stream: EventStream, wanted: string): Promise<string> {
  let text = "";
  for await (const { event, bytes } of stream) {
    if (event === "stdout") text += bytes.toString();
    if (text.includes(`${wanted}\n`)) break;
  }
  return text;
}

test("S1_files_memory_and_processes_survive_many_pauses", async () => {
  const session = await TestSession.create(t.client);
  await session.output(
    "for i in $(seq 60); do mkdir -p d$((i%7))/e; head -c $((i*997)) /dev/urandom >d$((i%7))/e/$i; done",
  );
  await session.start("counter", COUNTER);
  const remember = "r=$(head -c 24 /dev/urandom | base64); while read -r line; do echo $r; done";
  await session.start("memory", sh(remember), { stdin: true });
  const tree = await session.output(TREE);
  let count = await counted(session, 3);
  const cycles = scaled(50, 6);
  for (let i = 0; i < cycles; i++) {
    const paused = await session.pause();
    assert.deepEqual([paused.state, paused.snapshot_tier], ["paused", "hot"]);
    if (i % 2) assert.equal((await session.resume()).state, "live");
    await session.expect(200, "POST", "/processes/memory/stdin", { body: "again\n" });
    assert.equal(await session.output(TREE), tree, "the files are as they were");
    count = await counted(session, count);
  }
  const told = await eventually("every line was answered", async () => {
    const lines = (await session.logs("memory")).stdout.split("\n").slice(0, -1);
    return lines.length === cycles && lines;
  });
  assert.equal(new Set(told).size, 1, "what was in memory is in memory");
  await session.destroy();
});

test("S1_an_idle_pause_keeps_what_a_pause_by_call_keeps", async () => {
  const session = await TestSession.create(t.client, { idle_timeout_ms: 1000 });
  await session.output("for i in 1 2 3 4 5 6 7 8; do head -c 5000 /dev/urandom >$i; done");
  await session.start("counter", COUNTER);
  const tree = await session.output(TREE);
  let count = await counted(session, 3);
  for (let i = 0; i < scaled(20, 3); i++) {
    await eventually("it idles", async () => (await session.state()) === "paused");
    assert.equal(await session.output(TREE), tree);
    count = await counted(session, count);
  }
  await session.destroy();
});

test("a_paused_session_does_nothing", async () => {
  const session = await TestSession.create(t.client);
  await session.start("counter", sh("while :; do : a-busy-loop; done"));
  const pids = descendants(guestInit(t.server, "a-busy-loop")).map(({ pid }) => pid);
  const used = () => pids.map((pid) => readFileSync(`/proc/${pid}/stat`, "utf8").split(" ").slice(13, 17).join(" "));
  await session.pause();
  const before = used();
  await sleep(500);
  assert.deepEqual(used(), before, "processor time, in ticks");
  await session.resume();
  await eventually("it is busy again", () => used().join() !== before.join());
  await session.destroy();
});

test("pause_of_a_paused_and_resume_of_a_live_session_change_nothing", async () => {
  const session = await TestSession.create(t.client);
  await session.exec(["true"]);
  const paused = await session.pause();
  await sleep(20);
  assert.deepEqual(await session.pause(), paused);
  assert.deepEqual(await session.get(), paused);
  const live = await session.resume();
  assert.deepEqual([live.state, live.snapshot_tier], ["live", undefined]);
  await sleep(20);
  assert.deepEqual(await session.resume(), live);
  await session.expect(200, "POST", "/pause", { json: {} });
  await session.expect(200, "POST", "/resume", { json: {} });
  await session.destroy();
});

test("pauses_and_resumes_at_once_are_each_answered_with_what_they_asked_for", async () => {
  const session = await TestSession.create(t.client);
  await session.start("counter", COUNTER);
  const calls = parallel(12, scaled(240, 48), async (i) => {
    if (i % 3 === 0) return ["paused", (await session.pause()).state];
    if (i % 3 === 1) return ["live", (await session.resume()).state];
    return ["ok\n", await session.output("echo ok")];
  });
  for (const [wanted, got] of await session.keepResuming(calls)) assert.equal(got, wanted);
  await session.resume();
  await counted(session, 3);
  await session.destroy();
});

test("P2_the_process_table_is_the_same_after_a_pause", async () => {
  const session = await TestSession.create(t.client);
  await session.start("server", ["sleep", "600"], { keep_alive: true });
  await session.start("failed", sh("exit 9"));
  await session.start("killed", ["sleep", "600"]);
  await session.exited("failed");
  await session.kill("killed");
  const table = async () => (await session.expect(200, "GET", "/processes")).json;
  const inside = () => session.running("sleep");
  const before = [await table(), await inside()];
  await session.pause();
  assert.deepEqual([await table(), await inside()], before);
  await session.destroy();
});

test("the_clock_is_right_at_once_after_a_pause", async () => {
  const session = await TestSession.create(t.client);
  await session.pause();
  await sleep(1200);
  const before = Date.now();
  const guest = Number(await session.output("date +%s%3N"));
  assert(guest >= before - 5 && guest <= Date.now() + 5, `guest ${guest}, host ${before}`);
  await session.destroy();
});

test("S16_a_program_in_the_guest_sees_that_it_was_resumed", async () => {
  const session = await TestSession.create(t.client);
  const read = async () => (await session.output("cat /run/inis/generation")).trim().split("\n");
  assert.equal((await read())[0], "0");
  const paused = Date.now();
  await session.pause();
  await sleep(50);
  const [generation, when] = await read();
  assert.equal(generation, "1");
  assert(Date.parse(when!) >= paused, when);
  assert.equal((await read())[0], "1");
  await session.pause();
  await session.resume();
  await eventually("it counts", async () => (await read())[0] === "2");
  assert.equal(await session.output("stat -c %a /run/inis/generation"), "644\n");
  await session.destroy();
});

test("streams_and_requests_that_are_open_go_on_after_a_pause", async () => {
  const session = await TestSession.create(t.client);
  const lines = (n: number) => sh(`i=0; while [ $i -lt ${n} ]; do i=$((i+1)); echo $i; sleep 0.02; done`);
  await session.start("counter", COUNTER);
  const buffered = session.exec(lines(60));
  const stream = await session.execStream(lines(60));
  const log = await session.follow("counter");
  const early = await untilLine(log, "5");
  await session.pause();
  await sleep(700);
  await session.resume();
  const late = early + (await untilLine(log, String(assertCounts(early) + 60)));
  assertCounts(late.slice(0, late.lastIndexOf("\n") + 1));
  log.response.destroy();
  const { stdout, terminal } = await stream.collect();
  assert.equal(assertCounts(stdout.toString()), 60);
  assert.deepEqual(terminal?.event, "exit");
  assert.equal(assertCounts((await buffered).stdout), 60);
  await session.destroy();
});

test("limits_of_commands_stand_still_while_the_session_is_paused", async () => {
  const session = await TestSession.create(t.client);
  const work = sh("for i in $(seq 20); do sleep 0.08; done; echo done");
  const spin = sh("while :; do sleep 0.05; done");
  const inTime = session.exec(work, { timeout_ms: 9000 });
  const tooLong = session.exec(spin, { timeout_ms: 3000 });
  await session.start("in-time", work, { timeout_ms: 9000 });
  await sleep(300);
  await session.pause();
  await sleep(10_000);
  await session.resume();
  const done = await inTime;
  assert.deepEqual([done.stdout, done.timed_out], ["done\n", false]);
  assert(done.duration_ms < 9000, `${done.duration_ms} ms counts the pause`);
  const late = await tooLong;
  assert.deepEqual([late.timed_out, late.exit_code], [true, 124]);
  assert(late.duration_ms >= 2900 && late.duration_ms < 10_000, `${late.duration_ms} ms`);
  assert.equal((await session.exited("in-time")).exit_code, 0);
  await session.destroy();
});

test("an_upload_goes_on_after_a_pause", async () => {
  const session = await TestSession.create(t.client);
  const piece = Buffer.alloc(200_000, "p");
  const body = Readable.from(
    (async function* () {
      for (let i = 0; i < 10; i++) {
        yield piece;
        if (i === 4) await session.pause();
        if (i === 7) await session.resume();
      }
    })(),
  );
  await session.expect(200, "PUT", "/files/stream", { query: { path: "big" }, body });
  assert.equal(await session.output("stat -c %s big"), `${10 * piece.length}\n`);
  await session.destroy();
});
