// SPDX-License-Identifier: Apache-2.0
// A command ends when its main process ends; what it leaves behind neither blocks it nor survives a kill.
import assert from "node:assert/strict";
import { test } from "node:test";
import { withinMs } from "../support/helpers.js";
import { sh, TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite();

/** Ways to run a sleeper that leave the command's process group, session or parent. */
const ESCAPES: Record<string, (seconds: string) => string> = {
  child: (s) => `sleep ${s} & sleep ${s}`,
  setsid: (s) => `setsid sleep ${s} & sleep ${s}`,
  nohup: (s) => `nohup sleep ${s} >/dev/null 2>&1 & sleep ${s}`,
  double_fork: (s) => `(setsid sh -c "sleep ${s} & sleep ${s} & exit 0" &) ; sleep ${s}`,
  ignores_term: (s) => `trap "" TERM; sleep ${s} & while :; do sleep ${s}; done`,
};

test("X1_background_child_does_not_block_exec", async () => {
  const session = await TestSession.create(t.client);
  const result = await withinMs("exec with a background child", 15_000, session.exec(sh("sleep 31.75 & echo hi")));
  assert.deepEqual([result.stdout, result.exit_code, result.timed_out], ["hi\n", 0, false]);
  assert.equal(await session.output("echo again"), "again\n");
  assert.equal((await session.running("sleep 31.75")).length, 1, "the sleeper lives on");
  await session.destroy();
});

test("X1_background_writer_does_not_hold_the_answer", async () => {
  const result = await withinMs("exec with a background yes", 30_000, t.session.exec(sh("yes & echo $!")));
  assert.equal(result.exit_code, 0);
  const pid = /^(\d+)$/m.exec(result.stdout)?.[1];
  assert(pid, "the shell's own line is in the output");
  assert.equal(await t.session.output(`kill -0 ${pid} && kill ${pid} && echo alive`), "alive\n");
});

test("X1_background_child_does_not_block_a_stream", async () => {
  const stream = await t.session.execStream(sh("sleep 32.25 & echo hi"));
  const { stdout, terminal } = await withinMs("stream with a background child", 15_000, stream.collect());
  assert.equal(stdout.toString(), "hi\n");
  assert.equal(terminal?.event, "exit");
  await t.session.exec(["pkill", "-f", "sleep 32.25"]);
});

for (const [name, script] of Object.entries(ESCAPES)) {
  test(`X4_timeout_kills_everything_the_command_started (${name})`, async () => {
    const seconds = `3${Object.keys(ESCAPES).indexOf(name)}1.5`;
    const result = await withinMs(name, 60_000, t.session.exec(sh(script(seconds)), { timeout_ms: 500 }));
    assert.equal(result.timed_out, true);
    assert.equal(result.exit_code, 124);
    assert.deepEqual(await t.session.running(`sleep ${seconds}`), []);
  });
}

test("X4_a_timeout_leaves_the_session_usable", async () => {
  await t.session.exec(sh("sleep 300"), { timeout_ms: 200 });
  assert.equal(await t.session.output("echo ok"), "ok\n");
});
