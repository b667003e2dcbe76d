// SPDX-License-Identifier: Apache-2.0
// Commands never wait for input that nobody will send, and get exactly what was sent.
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomBytes, sha256, withinMs } from "../support/helpers.js";
import { exactBytes, sh } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite();

test("X2_cat_without_stdin_ends_at_once", async () => {
  const result = await withinMs("cat", 15_000, t.session.exec(["cat"]));
  assert.deepEqual([result.stdout, result.stderr, result.exit_code], ["", "", 0]);
});

test("X2_read_without_stdin_gets_end_of_file", async () => {
  const result = await withinMs("read", 15_000, t.session.exec(sh("read x; echo [$x]")));
  assert.equal(result.stdout, "[]\n");
});

test("X2_python_input_raises_EOFError", async () => {
  const result = await withinMs("python", 60_000, t.session.exec(["python3", "-c", "input()"]));
  assert.equal(result.exit_code, 1);
  assert.match(result.stderr, /EOFError/);
});

test("X2_stdin_is_the_null_device_not_a_socket", async () => {
  assert.equal(await t.session.output("readlink /proc/self/fd/0"), "/dev/null\n");
  assert.match(await t.session.output("readlink /proc/$$/fd/1; readlink /proc/$$/fd/2 >&1"), /^pipe:.*\npipe:.*\n$/);
});

test("X3_heredocs_pass_through_exec_and_poison_nothing", async () => {
  const script = "cat << 'EOF'\nline one\n$HOME `stays`\n\n  indented\nEOF\ncat <<X | wc -l\na\nb\nX\n";
  const want = "line one\n$HOME `stays`\n\n  indented\n2\n";
  assert.equal((await t.session.exec(sh(script))).stdout, want);
  assert.equal((await t.session.exec(["bash", "-lc", script])).stdout, want);
  assert.equal((await t.session.exec(script)).stdout, want, "a bare string runs in bash -lc");
  const streamed = await (await t.session.execStream(sh(script))).collect();
  assert.equal(streamed.stdout.toString(), want);
  assert.equal(await t.session.output("echo ok"), "ok\n");
});

test("exec_stdin_text_reaches_the_command_then_ends", async () => {
  const result = await t.session.exec(["cat"], { stdin: "héllo\n日本語☕\0end" });
  assert.equal(result.stdout, "héllo\n日本語☕\0end");
});

test("exec_stdin_empty_is_an_end_of_file", async () => {
  assert.equal((await t.session.exec(sh("wc -c"), { stdin: "" })).stdout.trim(), "0");
});

test("exec_stdin_base64_carries_any_bytes", async () => {
  const bytes = randomBytes(1_000_003);
  const more = { stdin: bytes.toString("base64"), stdin_encoding: "base64" };
  const { stdout } = await t.session.exec(["sha256sum"], more);
  assert.equal(stdout.split(" ")[0], sha256(bytes));
  const echoed = await t.session.exec(["cat"], more);
  assert(exactBytes(echoed.stdout, echoed.stdout_encoding).equals(bytes));
});

test("exec_stdin_takes_4_MiB_and_refuses_one_byte_more", async () => {
  const limit = 4 * 1024 * 1024;
  assert.equal((await t.session.exec(["wc", "-c"], { stdin: "x".repeat(limit) })).stdout.trim(), String(limit));
  const json = { command: ["wc", "-c"], stdin: "x".repeat(limit + 1) };
  const reply = await t.session.expect(400, "POST", "/exec", { json });
  assert.equal(reply.json.code, "payload_too_large");
});

test("exec_stdin_of_a_command_that_does_not_read_it_is_dropped", async () => {
  const result = await t.session.exec(sh("exec <&-; echo done"), { stdin: "x".repeat(3_000_000) });
  assert.deepEqual([result.stdout, result.exit_code], ["done\n", 0]);
  const early = await t.session.exec(["true"], { stdin: "x".repeat(3_000_000) });
  assert.equal(early.exit_code, 0);
});

test("exec_stdin_works_on_streams", async () => {
  const { stdout, terminal } = await (await t.session.execStream(["tr", "a-z", "A-Z"], { stdin: "abc" })).collect();
  assert.equal(stdout.toString(), "ABC");
  assert.equal(terminal?.event, "exit");
});
