// SPDX-License-Identifier: Apache-2.0
// Time limits: reported as such, in time, with what was printed before.
import assert from "node:assert/strict";
import { test } from "node:test";
import { withinMs } from "../support/helpers.js";
import { sh } from "../support/session.js";
import { exitOf } from "../support/sse.js";
import { suite } from "../support/suite.js";

const t = suite();

test("X6_timeout_answers_long_before_the_command_would_end", async () => {
  const result = await withinMs("timeout", 60_000, t.session.exec(["sleep", "120"], { timeout_ms: 1000 }));
  assert.equal(result.timed_out, true);
  assert(result.duration_ms >= 1000, `duration ${result.duration_ms}`);
});

test("X6_timeout_of_a_stream_ends_with_an_exit_event", async () => {
  const stream = await t.session.execStream(sh("echo before; sleep 120"), { timeout_ms: 500 });
  const collected = await withinMs("timeout", 60_000, stream.collect());
  assert.equal(collected.stdout.toString(), "before\n");
  const { exit_code, timed_out } = exitOf(collected);
  assert.deepEqual([exit_code, timed_out], [124, true]);
});

test("X7_timeout_keeps_what_was_printed_on_each_stream", async () => {
  const script = "printf partial; printf e >&2; sleep 90";
  const result = await t.session.exec(sh(script), { timeout_ms: 500 });
  assert.deepEqual([result.stdout, result.stderr, result.timed_out], ["partial", "e", true]);
});

test("X7_output_of_a_TERM_handler_is_kept", async () => {
  const script = 'trap "echo cleaned; exit 3" TERM; echo started; sleep 90 & wait';
  const result = await t.session.exec(sh(script), { timeout_ms: 500 });
  assert.deepEqual([result.stdout, result.timed_out, result.exit_code], ["started\ncleaned\n", true, 124]);
});

test("X9_timeout_and_failure_are_told_apart", async () => {
  const timedOut = await t.session.exec(["sleep", "60"], { timeout_ms: 200 });
  assert.deepEqual([timedOut.timed_out, timedOut.exit_code], [true, 124]);
  const failed = await t.session.exec(sh("exit 124"));
  assert.deepEqual([failed.timed_out, failed.exit_code], [false, 124]);
});

test("X9_death_by_signal_is_128_plus_signal", async () => {
  for (const [signal, code] of [
    ["KILL", 137],
    ["TERM", 143],
    ["SEGV", 139],
    ["HUP", 129],
  ] as const) {
    const result = await t.session.exec(sh(`kill -${signal} $$`));
    assert.deepEqual([result.exit_code, result.timed_out], [code, false], signal);
  }
});

test("exit_codes_pass_through", async () => {
  for (const code of [0, 1, 2, 42, 125, 255]) assert.equal((await t.session.exec(sh(`exit ${code}`))).exit_code, code);
});

test("a_huge_timeout_is_clamped_never_wrapped", async () => {
  for (const timeout_ms of [2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
    const result = await t.session.exec(sh("sleep 0.3; echo done"), { timeout_ms });
    assert.deepEqual([result.stdout, result.timed_out], ["done\n", false], String(timeout_ms));
  }
});

test("timeout_zero_means_the_default", async () => {
  const result = await t.session.exec(sh("sleep 0.3; echo done"), { timeout_ms: 0 });
  assert.deepEqual([result.stdout, result.timed_out], ["done\n", false]);
});
