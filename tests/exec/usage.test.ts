// SPDX-License-Identifier: Apache-2.0
// What a command has cost is told with its result, the same wherever that is asked for.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../support/contract.js";
import { eventually } from "../support/helpers.js";
import { sh } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite();
const MiB = 1024 * 1024;

/** Uses at least this much of both. */
const COSTLY = `
import time
block = bytearray(b"x") * (100 << 20)
while time.process_time() < 0.5: pass
`;
const python = ["python3", "-c", COSTLY];

interface Usage {
  cpu_ms: number;
  peak_memory_bytes: number;
  stdout_bytes: number;
  stderr_bytes: number;
}

function assertCostly(usage: JsonObject, what: string): void {
  const { cpu_ms, peak_memory_bytes } = usage as unknown as Usage;
  assert(cpu_ms >= 500, `${what}: ${cpu_ms} ms`);
  assert(peak_memory_bytes >= 100 * MiB && peak_memory_bytes < 400 * MiB, `${what}: ${peak_memory_bytes} bytes`);
}

const run = async (command: string[], more: JsonObject = {}): Promise<JsonObject> =>
  (await t.session.exec(command, more)) as unknown as JsonObject;

test("a_buffered_exec_tells_its_processor_time_and_peak_memory", async () => {
  assertCostly(await run(python), "itself");
  assertCostly(await run(sh(`python3 -c '${COSTLY}'; true`)), "a child");
  const little = (await run(["true"])) as unknown as Usage;
  assert(little.cpu_ms < 500 && little.peak_memory_bytes < 50 * MiB, JSON.stringify(little));
});

test("processes_that_were_killed_are_counted", async () => {
  const script = `python3 -c 'block = bytearray(b"x") * (100 << 20); open("filled", "w")
while True: pass' & wait`;
  const call = run(sh(script), { exec_id: "killed" });
  await eventually("it has what it wanted", async () => (await t.session.list(".")).includes("filled"));
  await t.session.expect(200, "DELETE", "/execs/killed");
  const { peak_memory_bytes, cpu_ms } = (await call) as unknown as Usage;
  assert(peak_memory_bytes >= 100 * MiB, `${peak_memory_bytes}`);
  assert(cpu_ms > 0);
});

test("bytes_are_counted_also_when_they_were_cut_off", async () => {
  const small = await run(sh("printf 12345; printf é >&2"));
  assert.deepEqual([small.stdout_bytes, small.stderr_bytes], [5, 2]);
  const large = await run(sh("head -c 6000001 /dev/zero; head -c 7 /dev/zero >&2"));
  assert.deepEqual([large.truncated, large.stdout_bytes, large.stderr_bytes], [true, 6000001, 7]);
  assert.deepEqual([(await run(["true"])).stdout_bytes, (await run(["true"])).stderr_bytes], [0, 0]);
});

test("the_exit_event_of_a_stream_tells_the_same", async () => {
  const { terminal } = await (await t.session.execStream(["sh", "-c", `python3 -c '${COSTLY}'; echo 12345`])).collect();
  const exit = terminal!.json as JsonObject;
  assertCostly(exit, "stream");
  assert.deepEqual([exit.stdout_bytes, exit.stderr_bytes], [6, 0]);
});

test("a_process_that_has_exited_tells_the_same_and_a_running_one_nothing", async () => {
  const running = (await t.session.start("costly", ["sh", "-c", `read x; python3 -c '${COSTLY}'; echo 12345 >&2`], {
    stdin: true,
  })) as unknown as JsonObject;
  for (const member of ["cpu_ms", "peak_memory_bytes", "stdout_bytes", "stderr_bytes"])
    assert.equal(running[member], undefined, member);
  await t.session.expect(200, "POST", "/processes/costly/stdin", { query: { eof: true }, body: "\n" });
  const exited = (await t.session.exited("costly")) as unknown as JsonObject;
  assertCostly(exited, "process");
  assert.deepEqual([exited.stdout_bytes, exited.stderr_bytes], [0, 6]);
});

test("an_item_of_a_batch_tells_the_same", async () => {
  const json = { session_ids: [t.session.id], command: python };
  const { json: answer } = await t.client.expect(200, "POST", "/v1/sessions/batch/exec", { json });
  assertCostly((answer.results as JsonObject[])[0]!, "batch");
});

test("time_in_which_the_session_was_paused_costs_nothing", async () => {
  const call = run(sh("echo >begun; until [ -e on ]; do sleep 0.1; done; true"));
  await t.session.output("until [ -e begun ]; do sleep 0.05; done");
  await t.session.pause();
  await t.session.write("on", "");
  const { cpu_ms } = (await t.session.keepResuming(call)) as unknown as Usage;
  assert(cpu_ms < 5000, `${cpu_ms}`);
});
