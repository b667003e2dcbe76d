// SPDX-License-Identifier: Apache-2.0
// `inis exec --tty` and `inis shell` on a real terminal: joined to it, and it is afterwards as it was before.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { cleanEnv, inis } from "../cli/program.js";
import { eventually } from "../support/helpers.js";
import { binDir, repository } from "../support/paths.js";
import { suite } from "../support/suite.js";

const t = suite({ on_pty_detach: "keep_live", env: { FROM_SESSION: "yes" } });

const env = () => ({ INIS_BASE_URL: t.server.baseUrl, INIS_API_KEY: t.server.token, TERM: "xterm" });

interface Step {
  wait: string;
  type?: string;
  resize?: [rows: number, cols: number];
  signal?: number;
}

interface Outcome {
  code: number | null;
  output: string;
  raw: boolean;
  restored: boolean;
  left: number;
}

async function onTerminal(args: string[], ...steps: Step[]): Promise<Outcome> {
  const job = JSON.stringify({ argv: [join(binDir, "inis"), ...args], steps });
  const child = spawn("python3", [join(repository, "tests/pty/on_terminal.py"), job], {
    env: cleanEnv(env()),
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  await once(child, "close");
  const outcome = JSON.parse(text) as Outcome;
  assert.equal(outcome.left, 0, `a step never came: ${text}`);
  return outcome;
}

test("X12_exec_with_tty_has_a_terminal_and_without_it_has_none", async () => {
  const script = "test -t 0 && test -t 1 && test -t 2";
  const joined = await onTerminal(["exec", "--tty", t.session.id, "--", "sh", "-c", script]);
  assert.deepEqual([joined.code, joined.restored], [0, true], joined.output);
  const apart = await onTerminal(["exec", "-n", t.session.id, "--", "sh", "-c", script]);
  assert.deepEqual([apart.code, apart.raw, apart.restored], [1, false, true], apart.output);
});

test("exit_codes_sizes_and_window_changes_pass_through", async () => {
  const script = "trap 'stty size; exit 42' WINCH; stty size; echo $TERM; while :; do sleep 0.05; done";
  const outcome = await onTerminal(["exec", "-t", t.session.id, "--", "bash", "-c", script], {
    wait: "xterm",
    resize: [44, 111],
  });
  assert.match(outcome.output, /31 97\r\nxterm\r\n44 111\r\n/);
  assert.deepEqual([outcome.code, outcome.restored], [42, true]);
});

test("keys_that_are_signals_here_go_to_the_program_there", async () => {
  const script = "trap 'echo got it; exit 5' INT; echo up; while :; do sleep 0.05; done";
  const outcome = await onTerminal(["exec", "-t", t.session.id, "--", "bash", "-c", script], {
    wait: "up",
    type: "\x03",
  });
  assert.match(outcome.output, /got it/);
  assert.deepEqual([outcome.code, outcome.restored], [5, true]);
});

test("signals_to_inis_hang_up_and_restore_the_terminal", async () => {
  for (const [signal, code] of [
    [15, 143],
    [1, 129],
    [2, 130],
    [3, 131],
  ] as const) {
    const outcome = await onTerminal(["exec", "-t", t.session.id, "--", "sh", "-c", "echo up; sleep 640"], {
      wait: "up",
      signal,
    });
    assert.deepEqual([outcome.code, outcome.raw, outcome.restored], [code, true, true], `signal ${signal}`);
    await eventually("it was hung up", async () => (await t.session.running("sleep 640")).length === 0);
  }
});

test("failures_restore_the_terminal_and_say_why", async () => {
  const missing = await onTerminal(["exec", "-t", "a".repeat(21), "--", "true"]);
  assert.deepEqual([missing.code, missing.restored], [125, true]);
  assert.match(missing.output, /inis: .*does not exist.*not_found, HTTP 404/);
  const nowhere = await onTerminal(["exec", "-t", "--cwd", "/no/such", t.session.id, "--", "true"]);
  assert.equal(nowhere.code, 125);
  assert.match(nowhere.output, /cwd/);
});

test("variables_and_directory_of_one_command", async () => {
  const args = [
    "exec",
    "-t",
    "--env",
    "A=b c",
    "--cwd",
    "/tmp",
    t.session.id,
    "--",
    "sh",
    "-c",
    'echo "$A|$FROM_SESSION|$(pwd)"',
  ];
  const outcome = await onTerminal(args);
  assert.match(outcome.output, /b c\|yes\|\/tmp/);
});

test("shell_in_a_session_is_a_login_shell", async () => {
  const outcome = await onTerminal(["shell", t.session.id], {
    wait: "$",
    type: "shopt -q login_shell && echo lo''gin $FROM_SESSION; exit 6\r",
  });
  assert.match(outcome.output, /login yes/);
  assert.deepEqual([outcome.code, outcome.restored], [6, true]);
  assert.equal((await t.session.get()).state, "live");
});

test("shell_without_a_session_has_one_while_it_lasts", async () => {
  const before = (await t.client.expect(200, "GET", "/v1/sessions")).json.sessions as object[];
  const outcome = await onTerminal(["shell", "--env", "X=fresh"], { wait: "$", type: "echo [$X]; exit 0\r" });
  assert.match(outcome.output, /\[fresh\]/);
  assert.deepEqual([outcome.code, outcome.restored], [0, true]);
  const after = (await t.client.expect(200, "GET", "/v1/sessions")).json.sessions as object[];
  assert.equal(after.length, before.length);
});

test("X14_ten_megabytes_on_stdin_are_typed_and_their_end_too", async () => {
  const line = `${"x".repeat(99)}\n`;
  const outcome = await inis(["exec", "-t", t.session.id, "--", "sh", "-c", "stty -echo; wc -c"], {
    env: env(),
    input: line.repeat(100_000),
  });
  assert.equal(outcome.code, 0, outcome.stderr);
  assert(outcome.stdout.endsWith("10000000\r\n"), outcome.stdout.slice(-300));
});

test("a_terminal_has_no_timeout", async () => {
  const outcome = await inis(["exec", "-t", "--timeout", "5s", t.session.id, "--", "true"], { env: env() });
  assert.equal(outcome.code, 125);
  assert.match(outcome.stderr, /--timeout/);
});

test("a_shell_with_a_name_goes_on_without_its_client_and_is_taken_up_again", async () => {
  const args = ["shell", "--name", "kept", t.session.id];
  const first = await onTerminal(
    args,
    { wait: "$", type: "word=ke''pt; echo [$word]\r" },
    { wait: "[kept]", signal: 1 },
  );
  assert.deepEqual([first.code, first.raw, first.restored], [129, true, true], first.output);
  assert.match(first.output, new RegExp(`terminal kept goes on: inis shell --name kept ${t.session.id}`));
  const again = await onTerminal(
    args,
    { wait: "[kept]", type: "" },
    { wait: "\x1b[5n", type: "\x1b[?6c\x1b[0necho ag''ain-$word; exit 9\r" },
  );
  assert.match(again.output, /again-kept\r\n/);
  assert.doesNotMatch(again.output, /6cecho/, "what the terminal answered to the replay was not typed");
  assert.deepEqual([again.code, again.restored], [9, true], again.output);
  assert.doesNotMatch(again.output, /goes on/);
  assert.deepEqual((await t.session.expect(200, "GET", "/ptys")).json.ptys, []);
});

test("a_command_with_a_name_is_taken_over_and_the_one_before_says_so", async () => {
  const args = ["exec", "--tty", "--name", "counted", t.session.id, "--", "sh", "-c", "echo up; read x; exit $x"];
  const first = onTerminal(args, { wait: "up", type: "" });
  await eventually("it runs", async () => (await t.session.running("read x")).length === 1);
  const second = await onTerminal(args, { wait: "\x1b[5n", type: "\x1b[0n" }, { wait: "up", type: "7\r" });
  assert.deepEqual([second.code, second.restored], [7, true], second.output);
  const { code, output, restored } = await first;
  assert.deepEqual([code, restored], [125, true], output);
  assert.match(output, /another client has taken the terminal over/);
  assert.doesNotMatch(output, /goes on/);
});

test("a_name_needs_a_terminal_and_a_session_that_exists", async () => {
  for (const [args, why] of [
    [["shell", "--name", "x"], /--name is for a session that exists/],
    [["exec", "--name", "x", t.session.id, "--", "true"], /--tty/],
    [["exec", "-t", "--name", "a/b", t.session.id, "--", "true"], /`name`: must be 1 to 64/],
  ] as const) {
    const outcome = await inis([...args], { env: env() });
    assert.equal(outcome.code, 125);
    assert.match(outcome.stderr, why);
  }
});
