// SPDX-License-Identifier: Apache-2.0
// Who may end a command: its canceller and the client of its stream; never the client of a buffered one that went away.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { footprint, settledFootprint } from "../support/footprint.js";
import { eventually, parallel, sleep, withinMs } from "../support/helpers.js";
import { generator, testSeed } from "../support/random.js";
import { sh } from "../support/session.js";
import { exitOf } from "../support/sse.js";
import { suite } from "../support/suite.js";
import { head } from "../support/wire.js";

const t = suite();

const untilRunning = (text: string) =>
  eventually(`${text} runs`, async () => (await t.session.running(text)).length > 0);
const untilGone = (text: string) =>
  eventually(`${text} is gone`, async () => (await t.session.running(text)).length === 0);

test("exec_cancel_ends_a_buffered_exec_and_all_it_started", async () => {
  const script = "setsid sleep 41.5 & echo out; sleep 41.5";
  const pending = t.session.exec(sh(script), { exec_id: "job-1" });
  await untilRunning("sleep 41.5");
  const cancelled = await t.session.expect(200, "DELETE", "/execs/job-1");
  assert.deepEqual(cancelled.json, { exec_id: "job-1", killed: true });
  const result = await withinMs("the cancelled exec", 30_000, pending);
  assert.deepEqual([result.stdout, result.exit_code, result.timed_out], ["out\n", 143, false]);
  assert.deepEqual(await t.session.running("sleep 41.5"), []);
});

test("exec_cancel_kills_what_ignores_SIGTERM", async () => {
  const pending = t.session.exec(sh('trap "" TERM; while :; do sleep 42.5; done'), { exec_id: "stubborn" });
  await untilRunning("sleep 42.5");
  await withinMs("cancel", 30_000, t.session.expect(200, "DELETE", "/execs/stubborn"));
  assert.equal((await pending).exit_code, 137);
});

test("exec_cancel_ends_a_stream_with_an_exit_event", async () => {
  const stream = await t.session.execStream(sh("echo go; sleep 43.5"), { exec_id: "streamed" });
  const collected = stream.collect();
  await untilRunning("sleep 43.5");
  await t.session.expect(200, "DELETE", "/execs/streamed");
  const all = await collected;
  assert.equal(all.stdout.toString(), "go\n");
  assert.equal(exitOf(all).exit_code, 143);
});

test("exec_ids_are_unique_among_running_execs_and_free_afterwards", async () => {
  const pending = t.session.exec(["sleep", "44.5"], { exec_id: "same" });
  await untilRunning("sleep 44.5");
  const json = { command: ["true"], exec_id: "same" };
  assert.equal((await t.session.expect(409, "POST", "/exec", { json })).json.code, "conflict");
  await t.session.expect(200, "DELETE", "/execs/same");
  await pending;
  assert.equal((await t.session.expect(404, "DELETE", "/execs/same")).json.code, "not_found");
  assert.equal((await t.session.exec(["true"], { exec_id: "same" })).exit_code, 0);
});

test("a_buffered_exec_is_not_cancelled_by_a_disconnect", async () => {
  const gone = new AbortController();
  const json = { command: sh("sleep 3; echo finished >/workspace/finished") };
  const pending = t.session.send("POST", "/exec", { json, signal: gone.signal });
  await untilRunning("sleep 3");
  gone.abort();
  await assert.rejects(pending);
  await eventually("the command finished", async () => (await t.session.list("/workspace")).includes("finished"));
});

test("a_streaming_exec_is_killed_by_a_disconnect", async () => {
  const stream = await t.session.execStream(sh("setsid sleep 45.5 & echo go; sleep 45.5"));
  for await (const event of stream) if (event.event === "stdout") break;
  stream.abort();
  await untilGone("sleep 45.5");
});

test("a_silent_streaming_exec_is_killed_by_a_disconnect", async () => {
  const stream = await t.session.execStream(["sleep", "46.5"]);
  await untilRunning("sleep 46.5");
  stream.abort();
  await untilGone("sleep 46.5");
});

/** Sends a streaming exec and cuts the connection after so many bytes: first of the request, then of the answer. */
async function cutAfter(bytes: number, hard: boolean): Promise<void> {
  const { hostname, port } = new URL(t.server.baseUrl);
  const body = JSON.stringify({ command: sh("echo 47.5; yes 47.5") });
  const lines = ["Content-Type: application/json", `Content-Length: ${body.length}`];
  const request = Buffer.from(head(t.server, "POST", t.session.path("/exec?stream=true"), ...lines) + body);
  const socket = connect({ host: hostname, port: Number(port) });
  let left = bytes - request.length;
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("close", () => resolve());
    const cut = () => (hard ? socket.resetAndDestroy() : socket.destroy());
    socket.on("data", (chunk) => {
      left -= chunk.length;
      if (left <= 0) cut();
    });
    socket.once("connect", () => socket.write(request.subarray(0, bytes), () => left <= 0 && cut()));
  });
}

test("X16_200_streams_cut_at_random_bytes_leave_no_trace", async (context) => {
  const seed = testSeed();
  const dice = generator(seed);
  context.diagnostic(`INIS_TEST_SEED=${seed}`);
  await t.session.output("true");
  const before = await settledFootprint(t.server);
  await parallel(20, 200, async (i) => {
    // In the request's head and body; in the answer's head and first events; anywhere in what follows.
    const bytes = [1 + dice(400), 300 + dice(600), dice(1 << 18)][i % 3]!;
    await cutAfter(bytes, dice(2) === 0);
  });
  await untilGone("47.5");
  await eventually("descriptors and processes are back where they were", async () => {
    const now = footprint(t.server);
    assert(now.frontFiles <= before.frontFiles, `front holds ${now.frontFiles}, ${before.frontFiles} before`);
    assert(now.processes <= before.processes, `${now.processes} processes, ${before.processes} before`);
    return true;
  });
  assert.equal(await t.session.output("echo healthy"), "healthy\n");
});

test("many_execs_started_and_dropped_at_once_do_not_disturb_others", async () => {
  const drops = parallel(20, 40, async () => {
    const gone = new AbortController();
    const pending = t.session.send("POST", "/exec", { json: { command: ["sleep", "0.2"] }, signal: gone.signal });
    setTimeout(() => gone.abort(), 5);
    await pending.catch(() => {});
  });
  for (let i = 0; i < 10; i++) assert.equal(await t.session.output(`echo ${i}`), `${i}\n`);
  await drops;
  await sleep(10);
  assert.equal(await t.session.output("echo fine"), "fine\n");
});
