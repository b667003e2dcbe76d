// SPDX-License-Identifier: Apache-2.0
// What a command finds when it starts: who it is, where it is, what its environment holds; and what happens when it cannot.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parallel } from "../support/helpers.js";
import { sh, TestSession } from "../support/session.js";
import { exitOf } from "../support/sse.js";
import { suite } from "../support/suite.js";

const t = suite({ env: { FROM_SESSION: "s", BOTH: "session" }, secrets: { TOKEN: "hush-hush", SHARED: "secret" } });

test("commands_run_as_the_sandbox_user_in_workspace", async () => {
  assert.equal(
    await t.session.output("id -u; id -g; id -un; pwd; echo $HOME; echo $USER"),
    "999\n999\nsandbox\n/workspace\n/home/sandbox\nsandbox\n",
  );
});

test("the_workspace_and_home_are_writable_and_the_root_is_not", async () => {
  await t.session.output("touch /workspace/.probe ~/.probe /tmp/.probe && rm /workspace/.probe ~/.probe /tmp/.probe");
  const result = await t.session.exec(["mkdir", "/top-level"]);
  assert.notEqual(result.exit_code, 0);
  assert.match(result.stderr, /denied|Read-only/i);
});

test("the_guest_has_the_tools_that_clients_rely_on", async () => {
  const tools = "bash sh python3 node find grep base64 tar sed mkdir mv cat rm seq sleep tr head";
  assert.equal(await t.session.output(`for c in ${tools}; do command -v $c >/dev/null || echo missing $c; done`), "");
  await t.session.output("sleep 0.01; bash -lc true; sh -lc true");
  assert.equal(await t.session.output("find / -maxdepth 1 -name workspace -printf '%y %f'"), "d workspace");
});

test("sudo_works_without_a_password_unless_the_session_says_no", async () => {
  assert.equal(await t.session.output("sudo -n id -u"), "0\n");
  const locked = await TestSession.create(t.client, { no_sudo: true });
  assert.equal((await locked.get()).no_sudo, true);
  const refused = await locked.exec(sh("sudo -n id -u"));
  assert.notEqual(refused.exit_code, 0);
  assert.match(await locked.output("grep NoNewPrivs /proc/self/status"), /1$/m);
  await locked.destroy();
});

test("P6_session_env_and_secrets_reach_every_command", async () => {
  assert.equal(await t.session.output('echo "$FROM_SESSION $TOKEN $SHARED"'), "s hush-hush secret\n");
  const streamed = await (await t.session.execStream(sh('echo "$FROM_SESSION $TOKEN"'))).collect();
  assert.equal(streamed.stdout.toString(), "s hush-hush\n");
  await t.session.start("env", sh('echo "$FROM_SESSION $TOKEN"'));
  await t.session.exited("env");
  assert.equal((await t.session.logs("env")).stdout, "s hush-hush\n");
});

test("X22_env_of_the_command_wins_over_the_session", async () => {
  const env = { BOTH: "command", ONLY: 'it\'s "quoted" $HOME\nand more' };
  const result = await t.session.exec(sh('printf "%s|%s|%s" "$BOTH" "$ONLY" "$FROM_SESSION"'), { env });
  assert.equal(result.stdout, `command|${env.ONLY}|s`);
  assert.equal(await t.session.output('echo "$BOTH"'), "session\n", "for that command only");
  const home = await t.session.exec(sh("echo $HOME"), { env: { HOME: "/tmp" } });
  assert.equal(home.stdout, "/tmp\n");
});

test("X22_env_holds_nothing_of_the_host", async () => {
  const names = (await t.session.output("env -0 | tr '\\0' '\\n' | cut -d= -f1")).split("\n");
  for (const name of Object.keys(process.env).filter((key) => /^(INIS|NODE|npm|GITHUB|CI)/.test(key)))
    assert(!names.includes(name), name);
});

test("argv_is_passed_untouched", async () => {
  const argv = ["", " ", "*", "$HOME", "a b", "'", '"', "\\", "☕", "-n", "--"];
  const result = await t.session.exec(["python3", "-c", "import sys, json; print(json.dumps(sys.argv[1:]))", ...argv]);
  assert.deepEqual(JSON.parse(result.stdout), argv);
});

test("a_large_argument_is_passed_and_one_beyond_the_kernel_is_refused", async () => {
  const large = await t.session.exec(["sh", "-c", 'printf %s "$1" | wc -c', "sh", "x".repeat(131_000)]);
  assert.equal(large.stdout.trim(), "131000");
  const reply = await t.session.expect(400, "POST", "/exec", { json: { command: ["echo", "x".repeat(131_072)] } });
  assert.equal(reply.json.field, "command");
});

test("cwd_is_used_and_relative_to_workspace", async () => {
  assert.equal((await t.session.exec(["pwd"], { cwd: "/tmp" })).stdout, "/tmp\n");
  await t.session.output("mkdir -p /workspace/sub/dir");
  assert.equal((await t.session.exec(["pwd"], { cwd: "sub/dir" })).stdout, "/workspace/sub/dir\n");
});

test("X21_a_bad_cwd_is_400_naming_it", async () => {
  for (const cwd of ["/nope", "missing/dir", "/etc/passwd"]) {
    const reply = await t.session.expect(400, "POST", "/exec", { json: { command: ["true"], cwd } });
    assert.deepEqual([reply.json.code, reply.json.field], ["bad_request", "cwd"], cwd);
    assert((reply.json.error as string).includes(cwd), `${reply.json.error} names ${cwd}`);
  }
});

test("a_missing_executable_is_127_and_one_that_cannot_run_is_126", async () => {
  const missing = await t.session.exec(["no-such-program"]);
  assert.equal(missing.exit_code, 127);
  assert.match(missing.stderr, /no-such-program/);
  await t.session.output("printf 'not a program' >/workspace/plain; chmod 644 /workspace/plain");
  for (const argv of [["/workspace/plain"], ["/workspace"]]) {
    const refused = await t.session.exec(argv);
    assert.equal(refused.exit_code, 126, argv[0]);
    assert.notEqual(refused.stderr, "");
  }
  const streamed = await (await t.session.execStream(["no-such-program"])).collect();
  assert.equal(exitOf(streamed).exit_code, 127);
  assert.match(streamed.stderr.toString(), /no-such-program/);
});

test("X10_execs_of_a_session_run_side_by_side", async () => {
  const meet = (me: string, other: string) =>
    `touch /tmp/${me}; for i in $(seq 600); do test -e /tmp/${other} && exit 0; sleep 0.05; done; exit 1`;
  const results = await parallel(2, 2, (i) =>
    t.session.exec(sh(i === 0 ? meet("left", "right") : meet("right", "left"))),
  );
  assert.deepEqual(
    results.map((result) => result.exit_code),
    [0, 0],
  );
});

const DESCRIPTORS = `
import os
def is_open(fd):
    try: os.fstat(fd)
    except OSError: return False
    return True
print([fd for fd in sorted(map(int, os.listdir("/proc/self/fd"))) if is_open(fd)])`;

test("commands_get_default_signals_and_no_foreign_descriptors", async () => {
  assert.equal((await t.session.exec(["python3", "-c", DESCRIPTORS])).stdout, "[0, 1, 2]\n");
  const masks = await t.session.output("grep -E '^Sig(Blk|Ign):' /proc/self/status");
  assert.match(masks, /SigBlk:\s0+\nSigIgn:\s0+\n/);
});
