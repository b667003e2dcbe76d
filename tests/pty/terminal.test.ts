// SPDX-License-Identifier: Apache-2.0
// What runs on a terminal finds a real one, and every byte goes through it as it is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sha256 } from "../support/helpers.js";
import { suite } from "../support/suite.js";
import { Terminal } from "../support/terminal.js";

const t = suite({
  on_pty_detach: "keep_live",
  env: { FROM_SESSION: "env value" },
  secrets: { HIDDEN: "secret value" },
});

test("a_terminal_without_a_command_is_a_login_shell", async () => {
  const terminal = await Terminal.open(t.session);
  terminal.type("shopt -q login_shell && echo lo''gin; exit 7\n");
  await terminal.shows("login\r\n");
  assert.equal(await terminal.exited(), 7);
});

test("the_program_finds_a_terminal_of_its_own", async () => {
  const script = [
    "test -t 0 && test -t 1 && test -t 2 && echo all three",
    "stat -c '%u:%g %a' $(tty)",
    "tty | grep -c ^/dev/pts/",
    "echo hello >/dev/tty",
    "echo $TERM $COLORTERM; stty size; pwd",
  ].join("; ");
  const terminal = await Terminal.open(t.session, { cmd: ["sh", "-c", script] });
  assert.equal(await terminal.exited(), 0);
  const want = ["all three", "999:5 620", "1", "hello", "xterm-256color truecolor", "24 80", "/workspace", ""];
  assert.deepEqual(terminal.text.split("\r\n"), want);
});

test("the_query_says_size_kind_and_directory", async () => {
  const query = { rows: 33, cols: 101, term: "vt100", colorterm: "24 bit", cwd: "/tmp" };
  const cmd = ["sh", "-c", 'stty size; echo "$TERM|$COLORTERM"; pwd; printf "<%s>" "$@"', "sh", "a b", "", "ü", "+&="];
  const terminal = await Terminal.open(t.session, { ...query, cmd });
  assert.equal(await terminal.exited(), 0);
  assert.equal(terminal.text, "33 101\r\nvt100|24 bit\r\n/tmp\r\n<a b><><ü><+&=>");
});

test("P6_a_terminal_has_the_session_environment_and_secrets", async () => {
  const terminal = await Terminal.open(t.session, { cmd: ["sh", "-c", 'echo "$FROM_SESSION|$HIDDEN|$HOME"'] });
  assert.equal(await terminal.exited(), 0);
  assert.match(terminal.text, /^env value\|secret value\|\/.+\r\n$/);
  const shell = await Terminal.open(t.session);
  shell.type('echo "[$FROM_SESSION|$HIDDEN]"; exit\n');
  await shell.shows("[env value|secret value]");
  assert.equal(await shell.exited(), 0);
});

test("exit_codes_and_deaths_are_told", async () => {
  const code = async (...cmd: string[]) => (await Terminal.open(t.session, { cmd })).exited();
  assert.equal(await code("true"), 0);
  assert.equal(await code("sh", "-c", "exit 255"), 255);
  assert.equal(await code("sh", "-c", "kill -KILL $$"), 137);
});

test("a_program_that_does_not_exist_says_so_and_exits_127", async () => {
  const terminal = await Terminal.open(t.session, { cmd: ["no-such-program"] });
  assert.equal(await terminal.exited(), 127);
  assert.match(terminal.text, /no-such-program: command not found/);
});

test("O1_bytes_cut_anywhere_arrive_as_they_were_written", async () => {
  const script = [
    "import os, tty",
    "tty.setraw(1)",
    "data = '日本語☕'.encode() * 15400",
    "at, step = 0, 1",
    "while at < len(data):",
    "    at += os.write(1, data[at:at + step])",
    "    step = step % 61 + 1",
  ].join("\n");
  const terminal = await Terminal.open(t.session, { cmd: ["python3", "-c", script] });
  assert.equal(await terminal.exited(), 0);
  assert.equal(terminal.text, "日本語☕".repeat(15400));
});

test("every_byte_value_passes_both_ways_in_raw_mode", async () => {
  const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
  const terminal = await Terminal.open(t.session, {
    cmd: ["sh", "-c", "stty raw -echo; echo ready; head -c 256 | od -An -v -tu1 | tr -s ' \\n' '  '"],
  });
  await terminal.shows("ready");
  terminal.type(all);
  assert.equal(await terminal.exited(), 0);
  assert.equal(terminal.text.replace(/^ready\s*/, "").trim(), [...all].join(" "));
});

test("X3_a_heredoc_typed_into_a_shell_poisons_nothing", async () => {
  const terminal = await Terminal.open(t.session, { cmd: ["sh"] });
  terminal.type("stty -echo\ncat << 'EOF'\nline one\n$HOME `stays`\n\n  indented\nEOF\necho o''k\n");
  await terminal.shows("ok\r\n");
  assert(terminal.text.includes("line one\r\n$HOME `stays`\r\n\r\n  indented\r\n"), terminal.text);
  terminal.type("echo st''ill; exit\n");
  await terminal.shows("still\r\n");
  assert.equal(await terminal.exited(), 0);
});

test("X14_ten_megabytes_of_input_arrive_and_end_with_end_of_file", async () => {
  const bytes = Buffer.alloc(10_000_000);
  for (let i = 0; i < bytes.length; i++) bytes[i] = (i * 31 + (i >> 9)) & 0xff;
  const script = "stty raw -echo; echo ready; head -c 10000000 | sha256sum; stty sane; echo again; wc -c";
  const terminal = await Terminal.open(t.session, { cmd: ["sh", "-c", script] });
  await terminal.shows("ready");
  for (let at = 0; at < bytes.length; at += 1 << 20) terminal.type(bytes.subarray(at, at + (1 << 20)));
  await terminal.shows("again");
  assert(terminal.text.includes(sha256(bytes)), terminal.text);
  terminal.type("12345\n\x04");
  assert.equal(await terminal.exited(), 0);
  assert.match(terminal.text, /\b6\r\n$/);
});

test("the_last_output_comes_before_the_exit", async () => {
  for (let i = 0; i < 20; i++) {
    const terminal = await Terminal.open(t.session, { cmd: ["sh", "-c", "seq 1 2000; printf end"] });
    assert.equal(await terminal.exited(), 0);
    assert(terminal.text.startsWith("1\r\n2\r\n") && terminal.text.endsWith("2000\r\nend"), terminal.text.slice(-40));
  }
});

test("X1_a_background_child_on_the_terminal_does_not_hold_up_the_exit", async () => {
  const terminal = await Terminal.open(t.session, { cmd: ["sh", "-c", "trap '' HUP; sleep 600 & echo started"] });
  assert.equal(await terminal.exited(), 0);
  assert.equal(terminal.text, "started\r\n");
  assert.equal((await t.session.running("sleep 600")).length, 1);
  await t.session.exec(["pkill", "-f", "sleep 600"]);
});

test("several_terminals_at_once_are_apart", async () => {
  const terminals = await Promise.all(Array.from({ length: 12 }, () => Terminal.open(t.session, { cmd: ["cat"] })));
  for (const [i, terminal] of terminals.entries()) terminal.type(`number ${i}\n`);
  for (const [i, terminal] of terminals.entries()) await terminal.shows(`number ${i}\r\nnumber ${i}\r\n`);
  for (const terminal of terminals) terminal.type("\x04");
  for (const [i, terminal] of terminals.entries()) {
    assert.equal(await terminal.exited(), 0);
    assert.equal(terminal.text, `number ${i}\r\nnumber ${i}\r\n`);
  }
});
