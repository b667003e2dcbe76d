// SPDX-License-Identifier: Apache-2.0
// Foreground commands that must end: input, timeouts, aborts, amounts of output.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, withinMs } from "../support/helpers.js";
import { onSandbox, runningIn } from "./support/sandbox.js";

const SOON_MS = 30_000;

onSandbox("limits of commands", {}, (sandbox) => {
  test("X1_background_child_does_not_block_exec", async () => {
    const result = await withinMs("exec", SOON_MS, sandbox().executeCommand("sleep 7101 & echo hi"));
    assert.deepEqual([result.stdout, result.exitCode], ["hi\n", 0]);
    assert.equal((await sandbox().executeCommand("echo next")).stdout, "next\n");
    assert.equal((await runningIn(sandbox(), "sleep 7101")).length, 1);
  });

  for (const [command, args, stdout] of [
    ["cat", [], ""],
    ["cat", ["-"], ""],
    ["read x; echo [$x]", [], "[]\n"],
    ["grep pattern; echo $?", [], "1\n"],
    ["wc", ["-c"], "0\n"],
  ] as const) {
    test(`X2_24336_no_input_is_end_of_file: ${command} ${args.join(" ")}`, async () => {
      const result = await withinMs(
        "exec",
        SOON_MS,
        sandbox().executeCommand(command, [...args], { timeout: 600_000 }),
      );
      assert.equal(result.stdout, stdout);
    });
  }

  test("X6_timeout_ends_the_command_and_says_so", async () => {
    const result = await withinMs("timeout", SOON_MS, sandbox().executeCommand("sleep 600", [], { timeout: 100 }));
    assert.deepEqual([result.success, result.exitCode, result.timedOut, result.killed], [false, 124, true, true]);
    assert.match(result.stderr, /timed out after 100 ms/);
  });

  test("X7_timeout_keeps_the_output_so_far_on_each_stream", async () => {
    let streamed = "";
    const result = await sandbox().executeCommand("printf partial; printf e >&2; sleep 600", [], {
      timeout: 500,
      onStdout: (text) => {
        streamed += text;
      },
    });
    assert.deepEqual([result.stdout, streamed, result.timedOut], ["partial", "partial", true]);
    assert(result.stderr.startsWith("e\n"), result.stderr);
  });

  test("timeout_of_a_printing_loop_delivers_what_was_printed", async () => {
    let streamed = "";
    const loop = "i=0; while true; do echo tick $i; i=$((i+1)); sleep 0.05; done";
    const result = await sandbox().executeCommand(loop, [], {
      timeout: 2000,
      onStdout: (text) => {
        streamed += text;
      },
    });
    assert.equal(result.success, false);
    assert.match(streamed, /^tick 0\ntick 1\n/);
    assert.equal(result.stdout, streamed);
  });

  test("a_fast_command_is_not_touched_by_its_timeout", async () => {
    const result = await sandbox().executeCommand("echo quick", [], { timeout: 60_000 });
    assert.deepEqual([result.success, result.timedOut, result.stdout], [true, false, "quick\n"]);
  });

  test("X9_exit_code_124_of_the_command_is_no_timeout", async () => {
    const result = await sandbox().executeCommand("exit 124");
    assert.deepEqual([result.exitCode, result.timedOut], [124, false]);
  });

  test("X4_23773_timeout_leaves_no_child_and_no_zombie", async () => {
    const command = "sleep 7201 & (setsid sleep 7202 &) ; nohup sleep 7203 >/dev/null 2>&1 & wait";
    await sandbox().executeCommand(command, [], { timeout: 1000 });
    for (const seconds of [7201, 7202, 7203]) assert.deepEqual(await runningIn(sandbox(), `sleep ${seconds}`), []);
    const zombies = await sandbox().executeCommand("grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null; true");
    assert.equal(zombies.stdout, "");
  });

  test("13597_abort_ends_the_command_in_the_guest_too", async () => {
    const controller = new AbortController();
    const result = await withinMs(
      "abort",
      SOON_MS,
      sandbox().executeCommand("echo begun; sleep 7301", [], {
        abortSignal: controller.signal,
        onStdout: () => controller.abort(),
      }),
    );
    assert.deepEqual([result.success, result.killed, result.stdout], [false, true, "begun\n"]);
    assert.notEqual(result.exitCode, 0);
    await eventually("the command is gone", async () => (await runningIn(sandbox(), "sleep 7301")).length === 0);
  });

  test("a_command_that_was_aborted_before_does_not_run", async () => {
    const result = await sandbox().executeCommand("touch should-not-exist", [], { abortSignal: AbortSignal.abort() });
    assert.deepEqual([result.success, result.killed], [false, true]);
    assert.equal((await sandbox().executeCommand("ls should-not-exist")).success, false);
  });

  test("the_newest_output_is_retained_within_the_limit", async () => {
    let streamed = 0;
    const result = await sandbox().executeCommand("seq 100000; echo the end", [], {
      maxRetainedBytes: 1000,
      onStdout: (text) => {
        streamed += text.length;
      },
    });
    assert(result.stdout.endsWith("100000\nthe end\n"));
    assert.equal(Buffer.byteLength(result.stdout), 1000);
    assert.equal(result.stdoutTruncated, true);
    assert.equal(result.stdoutDroppedBytes, streamed - 1000);
    assert.equal(result.stderrTruncated, false);
  });

  test("retention_of_nothing_and_of_everything", async () => {
    const none = await sandbox().executeCommand("echo abc", [], { maxRetainedBytes: 0 });
    assert.deepEqual([none.stdout, none.stdoutTruncated, none.stdoutDroppedBytes], ["", true, 4]);
    const all = await sandbox().executeCommand("echo abc", [], { maxRetainedBytes: Number.POSITIVE_INFINITY });
    assert.deepEqual([all.stdout, all.stdoutTruncated], ["abc\n", false]);
    for (const maxRetainedBytes of [-1, 1.5, Number.NaN]) {
      await assert.rejects(sandbox().executeCommand("true", [], { maxRetainedBytes }), RangeError);
    }
  });

  test("O4_a_hundred_megabytes_are_a_result_not_an_error", async () => {
    let streamed = 0;
    const result = await sandbox().executeCommand("head -c 100000000 /dev/zero | tr '\\0' x; exit 3", [], {
      timeout: 600_000,
      maxRetainedBytes: 4096,
      onStdout: (text) => {
        streamed += text.length;
      },
    });
    assert.equal(result.exitCode, 3);
    assert.equal(streamed, 100_000_000);
    assert.equal(result.stdout, "x".repeat(4096));
    assert.equal(result.stdoutDroppedBytes, 100_000_000 - 4096);
  });

  test("memory_limit_is_told_when_it_ended_the_command", async () => {
    const greedy = "python3 -c 'x=[]\nwhile True: x.append(bytearray(1<<24))'";
    const result = await sandbox().executeCommand(greedy, [], { timeout: 300_000 });
    assert.notEqual(result.exitCode, 0);
    assert.match(result.stderr, /memory limit/);
    assert.equal((await sandbox().executeCommand("echo alive")).stdout, "alive\n");
  });
});
