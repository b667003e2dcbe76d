// SPDX-License-Identifier: Apache-2.0
// Writing to the stdin of a named process: exact bytes, an end of file, and back-pressure.
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { eventually, randomBytes, sha256, sleep, withinMs } from "../support/helpers.js";
import { sh } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite();
const MiB = 1024 * 1024;

const send = (name: string, body: Buffer | string | Readable, eof = false) =>
  t.session.send("POST", `/processes/${name}/stdin`, { body, query: eof ? { eof: true } : {} });

test("X14_lines_reach_the_process_and_eof_ends_it", async () => {
  const started = await t.session.start("cat", ["cat"], { stdin: true });
  assert.equal(started.has_stdin, true);
  const first = await send("cat", "one\n");
  assert.deepEqual([first.status, first.json], [200, { name: "cat", bytes: 4 }]);
  await eventually("it is echoed", async () => (await t.session.logs("cat")).stdout === "one\n");
  assert.equal((await send("cat", "two ☕\n")).status, 200);
  assert.equal((await t.session.process("cat")).has_stdin, true);
  assert.equal((await send("cat", "", true)).status, 200);
  const ended = await withinMs("cat ends", 30_000, t.session.exited("cat"));
  assert.deepEqual([ended.exit_code, ended.has_stdin], [0, undefined]);
  assert.equal((await t.session.logs("cat")).stdout, "one\ntwo ☕\n");
});

test("X14_ten_megabytes_arrive_exactly", async () => {
  const bytes = randomBytes(10 * MiB + 7);
  await t.session.start("sum", ["sha256sum"], { stdin: true });
  const reply = await send("sum", Readable.from([bytes.subarray(0, 3 * MiB), bytes.subarray(3 * MiB)]), true);
  assert.deepEqual([reply.status, reply.json.bytes], [200, bytes.length]);
  await t.session.exited("sum");
  assert.equal((await t.session.logs("sum")).stdout.split(" ")[0], sha256(bytes));
});

test("stdin_eof_together_with_the_last_bytes", async () => {
  await t.session.start("wc", ["wc", "-c"], { stdin: true });
  assert.equal((await send("wc", "12345", true)).json.bytes, 5);
  await t.session.exited("wc");
  assert.equal((await t.session.logs("wc")).stdout.trim(), "5");
});

test("stdin_that_was_not_asked_for_is_the_null_device", async () => {
  await t.session.start("null", sh("readlink /proc/self/fd/0; cat; echo over"));
  await t.session.exited("null");
  assert.equal((await t.session.logs("null")).stdout, "/dev/null\nover\n");
});

test("stdin_is_409_when_there_is_none_or_no_longer", async () => {
  await t.session.start("deaf", ["sleep", "600"]);
  assert.deepEqual([(await send("deaf", "x")).status, (await send("deaf", "x")).json.code], [409, "conflict"]);
  await t.session.kill("deaf");
  await t.session.start("closed", sh("cat; sleep 600"), { stdin: true });
  assert.equal((await send("closed", "", true)).status, 200);
  assert.equal((await send("closed", "x")).status, 409);
  await t.session.kill("closed", { grace_ms: 0 });
  assert.equal((await send("closed", "x")).status, 409);
});

test("stdin_backpressure_holds_the_body_not_the_daemon", async () => {
  await t.session.start("slow", sh("sleep 3; wc -c"), { stdin: true });
  let sent = 0;
  const body = new Readable({
    read() {
      this.push(sent < 64 * MiB ? Buffer.alloc(65536, "x") : null);
      sent += 65536;
    },
  });
  const pending = send("slow", body, true);
  await sleep(1500);
  assert(sent < 24 * MiB, `${sent} bytes were taken from the client while nobody read`);
  assert.equal(await t.session.output("echo others work"), "others work\n");
  const reply = await pending;
  assert.deepEqual([reply.status, reply.json.bytes], [200, 64 * MiB]);
  await t.session.exited("slow");
  assert.equal((await t.session.logs("slow")).stdout.trim(), String(64 * MiB));
});

test("stdin_of_a_process_that_exits_meanwhile_is_answered", async () => {
  await t.session.start("quitter", sh("head -c 10 >/dev/null; exit 4"), { stdin: true });
  const reply = await withinMs("the answer", 60_000, send("quitter", Buffer.alloc(8 * MiB)));
  assert([200, 409].includes(reply.status), `${reply.status}`);
  assert.equal((await t.session.exited("quitter")).exit_code, 4);
});

test("stdin_writes_one_after_another_keep_their_order", async () => {
  await t.session.start("order", ["cat"], { stdin: true });
  for (let i = 0; i < 100; i++) assert.equal((await send("order", `${i}\n`)).status, 200);
  await send("order", "", true);
  await t.session.exited("order");
  assert.equal((await t.session.logs("order")).stdout, Array.from({ length: 100 }, (_, i) => `${i}\n`).join(""));
});

test("stdin_client_that_goes_away_midway_leaves_the_process_alone", async () => {
  await t.session.start("patient", ["cat"], { stdin: true });
  const gone = new AbortController();
  const endless = new Readable({ read: () => {} });
  endless.push("partial ");
  const pending = t.session.send("POST", "/processes/patient/stdin", { body: endless, signal: gone.signal });
  pending.catch(() => {});
  await eventually("the first part came", async () => (await t.session.logs("patient")).stdout === "partial ");
  gone.abort();
  assert.equal((await withinMs("next write", 60_000, send("patient", "rest\n", true))).status, 200);
  await t.session.exited("patient");
  assert.equal((await t.session.logs("patient")).stdout, "partial rest\n");
});
