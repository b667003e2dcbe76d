// SPDX-License-Identifier: Apache-2.0
// Background processes: start, output, waiting, killing, finding again.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { InisProcessHandle } from "@inis-run/mastra";
import { eventually, withinMs } from "../support/helpers.js";
import { makeSandbox, onSandbox, runningIn, withSandbox } from "./support/sandbox.js";

const SOON_MS = 30_000;

onSandbox("processes", { env: { BOX: "box", BOTH: "box" } }, (sandbox) => {
  const spawn = (command: string, options?: Parameters<ReturnType<typeof sandbox>["processes"]["spawn"]>[1]) =>
    sandbox().processes.spawn(command, options);

  test("a_process_has_a_pid_and_delivers_both_streams_and_its_exit_code", async () => {
    const handle = await spawn("echo out; echo err >&2; exit 42");
    assert.equal(typeof handle.pid, "string");
    assert.equal(handle.command, "echo out; echo err >&2; exit 42");
    const result = await handle.wait();
    assert.deepEqual([result.success, result.exitCode, result.stdout, result.stderr], [false, 42, "out\n", "err\n"]);
    assert.deepEqual([handle.stdout, handle.stderr, handle.exitCode], ["out\n", "err\n", 42]);
    assert.deepEqual([result.timedOut, result.killed], [false, false]);
    assert.equal(await handle.kill(), false);
  });

  test("exit_code_is_unknown_while_it_runs", async () => {
    const handle = await spawn("until [ -e /tmp/end1 ]; do sleep 0.05; done");
    assert.equal(handle.exitCode, undefined);
    await sandbox().executeCommand("touch /tmp/end1");
    assert.equal((await handle.wait()).exitCode, 0);
    assert.equal(handle.exitCode, 0);
  });

  test("listeners_get_what_is_printed_but_not_before_spawn_has_resolved", async () => {
    const seen: string[] = [];
    let spawned = false;
    const listen = (name: string) => (text: string) => {
      assert(spawned, "output before the caller had the handle");
      seen.push(`${name}:${text}`);
    };
    const handle = await spawn("echo a; echo b >&2", { onStdout: listen("out"), onStderr: listen("err") });
    spawned = true;
    await handle.wait();
    assert.deepEqual(seen.sort(), ["err:b\n", "out:a\n"]);
  });

  test("a_listener_that_throws_does_not_stop_the_output", async () => {
    const handle = await spawn("echo a; sleep 0.2; echo b", {
      onStdout: () => {
        throw new Error("listener mistake");
      },
    });
    assert.equal((await handle.wait()).stdout, "a\nb\n");
  });

  test("wait_serves_any_number_of_callers", async () => {
    const handle = await spawn("echo x");
    const results = await Promise.all(Array.from({ length: 10 }, () => handle.wait()));
    for (const result of [...results, await handle.wait()]) assert.deepEqual(result, results[0]);
  });

  test("wait_streams_to_its_own_listeners", async () => {
    const handle = await spawn("until [ -e /tmp/end2 ]; do sleep 0.05; done; echo late; echo bad >&2");
    const seen: string[] = [];
    const waiting = handle.wait({ onStdout: (text) => seen.push(text), onStderr: (text) => seen.push(text) });
    await sandbox().executeCommand("touch /tmp/end2");
    await waiting;
    assert.deepEqual(seen.sort(), ["bad\n", "late\n"]);
  });

  test("X19_output_of_a_command_that_ends_at_once_is_complete", async () => {
    for (let i = 0; i < 20; i++) {
      const handle = await spawn(`echo ${i}`);
      assert.equal((await handle.wait()).stdout, `${i}\n`);
    }
  });

  test("killing_a_running_process_is_true_and_ends_all_it_started", async () => {
    const handle = await spawn("sleep 7401 & (setsid sleep 7402 &); echo up; wait");
    await eventually("it is up", () => handle.stdout === "up\n");
    assert.equal(await handle.kill(), true);
    const result = await withinMs("wait", SOON_MS, handle.wait());
    assert.deepEqual([result.success, result.killed, result.stdout], [false, true, "up\n"]);
    assert.notEqual(result.exitCode, 0);
    assert.deepEqual(await runningIn(sandbox(), "sleep 740"), []);
    assert.equal(await handle.kill(), false);
  });

  test("killing_what_has_exited_by_itself_is_false", async () => {
    const handle = await spawn("true");
    await handle.wait();
    assert.equal(await handle.kill(), false);
    const racing = await spawn("true");
    await eventually("the process has ended in the guest", async () => {
      const found = (await sandbox().processes.list()).find(({ pid }) => pid === racing.pid);
      return found?.running === false;
    });
    assert.equal(await racing.kill(), false);
  });

  test("21387_kill_settles_a_pending_wait", async () => {
    const handle = await spawn("trap '' TERM; echo up; while true; do sleep 1; done");
    await eventually("it is up", () => handle.stdout === "up\n");
    const waiting = handle.wait();
    assert.equal(await handle.kill(), true);
    assert.equal((await withinMs("wait", SOON_MS, waiting)).killed, true);
  });

  test("abort_kills_and_keeps_the_output_so_far", async () => {
    const controller = new AbortController();
    const handle = await spawn("echo partial; sleep 7501", {
      abortSignal: controller.signal,
      onStdout: () => controller.abort(),
    });
    const result = await withinMs("abort", SOON_MS, handle.wait());
    assert.deepEqual([result.success, result.killed, result.stdout], [false, true, "partial\n"]);
    assert.deepEqual(await runningIn(sandbox(), "sleep 7501"), []);
  });

  test("an_aborted_signal_kills_at_once", async () => {
    const handle = await spawn("sleep 7502", { abortSignal: AbortSignal.abort() });
    assert.equal((await withinMs("abort", SOON_MS, handle.wait())).success, false);
  });

  test("timeout_is_kept_by_the_server_and_told", async () => {
    const handle = await spawn("echo partial; sleep 7503", { timeout: 500 });
    const result = await withinMs("timeout", SOON_MS, handle.wait());
    assert.deepEqual([result.exitCode, result.timedOut, result.killed], [124, true, true]);
    assert.equal(result.stdout, "partial\n");
    assert.match(result.stderr, /timed out after 500 ms/);
    assert.equal((await sandbox().session.getProcess(handle.pid)).timedOut, true);
  });

  test("environment_and_directory_are_those_of_sandbox_and_call", async () => {
    const handle = await spawn('echo "$BOX $BOTH $CALL"; pwd', { env: { BOTH: "call", CALL: "call" }, cwd: "/tmp" });
    assert.equal((await handle.wait()).stdout, "box call call\n/tmp\n");
  });

  test("secrets_in_the_environment_are_in_no_command_line", async () => {
    const handle = await spawn("sleep 7504", { env: { TOKEN: "very-secret-value" } });
    const listed = await sandbox().processes.list();
    assert.equal(listed.find(({ pid }) => pid === handle.pid)?.command, "sleep 7504");
    assert(!JSON.stringify(await sandbox().session.listProcesses()).includes("very-secret-value"));
    assert.deepEqual(await runningIn(sandbox(), "very-secret-value"), []);
    await handle.kill();
  });

  test("list_tells_running_from_exited", async () => {
    const running = await spawn("sleep 7505");
    const exited = await spawn("exit 3");
    await exited.wait();
    const list = await sandbox().processes.list();
    assert.deepEqual(
      list
        .filter(({ pid }) => [running.pid, exited.pid].includes(pid))
        .map(({ running, exitCode }) => [running, exitCode]),
      [
        [true, undefined],
        [false, 3],
      ],
    );
    await running.kill();
  });

  test("get_finds_by_pid_and_gives_an_exited_one_once", async () => {
    const handle = await spawn("echo kept");
    await handle.wait();
    const found = await sandbox().processes.get(handle.pid);
    assert.deepEqual([found?.exitCode, found?.stdout], [0, "kept\n"]);
    assert.equal(await sandbox().processes.get(handle.pid), undefined);
    assert.equal(await sandbox().processes.get("99999"), undefined);
    assert.equal(await sandbox().processes.get("not a name/at all?"), undefined);
  });

  test("get_shows_the_output_of_a_running_process", async () => {
    const handle = await spawn("echo so far; sleep 7506");
    await eventually("output", () => handle.stdout === "so far\n");
    const found = await sandbox().processes.get(handle.pid);
    assert.equal(found?.stdout, "so far\n");
    assert.equal(await found?.kill(), true);
    assert.equal(
      (await sandbox().processes.get(handle.pid))?.pid,
      handle.pid,
      "kill of the handle does not untrack it",
    );
  });

  test("kill_by_pid", async () => {
    const handle = await spawn("sleep 7507");
    assert.equal(await sandbox().processes.kill(handle.pid), true);
    assert.equal(await sandbox().processes.get(handle.pid), undefined);
    assert.equal(await sandbox().processes.kill(handle.pid), false);
    assert.equal(await sandbox().processes.kill("99999"), false);
  });

  test("processes_run_side_by_side_with_pids_of_their_own", async () => {
    const handles = await Promise.all([1, 2, 3].map((i) => spawn(`sleep 0.1; echo ${i}`)));
    assert.equal(new Set(handles.map(({ pid }) => pid)).size, 3);
    const results = await Promise.all(handles.map((handle) => handle.wait()));
    assert.deepEqual(
      results.map(({ stdout }) => stdout),
      ["1\n", "2\n", "3\n"],
    );
  });

  test("P1_another_program_finds_the_process_with_all_its_output", async () => {
    const handle = await spawn("echo early; until [ -e /tmp/end3 ]; do sleep 0.05; done; echo late", {
      env: { TOKEN: "hidden" },
    });
    await eventually("output", () => handle.stdout === "early\n");
    await withSandbox({ session: sandbox().session.sessionId }, async (other) => {
      const found = (await other.processes.get(handle.pid)) as InisProcessHandle;
      assert.equal(found.stdout, "early\n");
      assert.match(found.command ?? "", /^echo early/);
      await other.executeCommand("touch /tmp/end3");
      assert.deepEqual([(await found.wait()).exitCode, found.stdout], [0, "early\nlate\n"]);
      const again = makeSandbox({ session: sandbox().session.sessionId });
      assert.equal((await again.processes.get(handle.pid))?.stdout, "early\nlate\n");
    });
  });

  test("16573_retained_output_is_the_newest_and_bounded", async () => {
    const handle = await spawn("seq 1000000", { maxRetainedBytes: 10_000 });
    const result = await handle.wait();
    assert(result.stdout.endsWith("999999\n1000000\n"));
    assert(Buffer.byteLength(result.stdout) <= 10_000);
    assert.equal(result.stdoutTruncated, true);
    assert.equal((result.stdoutDroppedBytes ?? 0) + Buffer.byteLength(result.stdout), 6_888_896);
  });

  test("O1_characters_of_a_process_are_never_broken", async () => {
    const text = "日本語☕😀".repeat(20);
    const script = `printf '%s' "$TEXT" > t; for i in $(seq 0 ${Buffer.byteLength(text) - 1}); do dd if=t bs=1 skip=$i count=1 status=none; done`;
    const handle = await spawn(script, { env: { TEXT: text } });
    assert.equal((await handle.wait()).stdout, text);
  });
});
