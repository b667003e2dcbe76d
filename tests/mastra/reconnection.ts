// SPDX-License-Identifier: Apache-2.0
// Stop is a pause and start a resume: the same session, with its files, memory and processes.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { InisSandbox } from "@inis-run/mastra";
import { eventually, sleep } from "../support/helpers.js";
import { coreName } from "./support/core.js";
import { client, makeSandbox, uniqueId, withSandbox } from "./support/sandbox.js";

const restart = async (sandbox: InisSandbox) => {
  await sandbox._stop();
  await sandbox._start();
};
const stateOf = async (sandbox: InisSandbox) => (await client().sessions.get(sandbox.session.sessionId)).state;
const output = async (sandbox: InisSandbox, command: string) => (await sandbox.executeCommand(command)).stdout;
const started = async (sandbox: InisSandbox) => {
  await sandbox._start();
  return sandbox;
};

describe(`reconnection (${coreName})`, () => {
  test("info_and_id_are_the_same_after_stop_and_start", async () => {
    await withSandbox({}, async (sandbox) => {
      const { id } = await started(sandbox);
      assert.equal((await sandbox.getInfo()).id, id);
      const before = sandbox.session.sessionId;
      await restart(sandbox);
      assert.deepEqual([sandbox.id, (await sandbox.getInfo()).id, sandbox.session.sessionId], [id, id, before]);
      assert.deepEqual((await sandbox.getInfo()).mounts, []);
    });
  });

  test("a_stopped_sandbox_is_a_paused_session_and_a_started_one_is_live", async () => {
    await withSandbox({}, async (sandbox) => {
      await started(sandbox);
      await sandbox._stop();
      assert.equal(await stateOf(sandbox), "paused");
      assert.equal((await sandbox.getInfo()).status, "stopped");
      assert.equal(await stateOf(sandbox), "paused", "information does not wake it");
      await sandbox._start();
      assert.equal(await stateOf(sandbox), "live");
    });
  });

  test("files_in_tmp_and_the_environment_survive_stop_and_start", async () => {
    await withSandbox({ env: { KEPT: "as it was" } }, async (sandbox) => {
      await output(sandbox, "echo here > /tmp/file");
      await restart(sandbox);
      assert.equal(await output(sandbox, 'cat /tmp/file; echo "$KEPT"'), "here\nas it was\n");
    });
  });

  test("ensureRunning_and_executeCommand_start_a_stopped_sandbox", async () => {
    await withSandbox({}, async (sandbox) => {
      await started(sandbox);
      await sandbox._stop();
      await sandbox.ensureRunning();
      assert.equal(sandbox.status, "running");
      await sandbox._stop();
      for (const word of ["one", "two", "three"]) assert.equal(await output(sandbox, `echo ${word}`), `${word}\n`);
      assert.equal(sandbox.status, "running");
    });
  });

  test("three_rounds_of_stop_and_start_lose_nothing", async () => {
    await withSandbox({}, async (sandbox) => {
      for (let round = 1; round <= 3; round++) {
        await output(sandbox, "echo x >> /tmp/rounds");
        await restart(sandbox);
        assert.equal((await output(sandbox, "wc -l < /tmp/rounds")).trim(), String(round));
      }
    });
  });

  test("stops_at_once_and_starts_at_once_are_one", async () => {
    await withSandbox({}, async (sandbox) => {
      await started(sandbox);
      await Promise.all([sandbox._stop(), sandbox._stop(), sandbox._stop()]);
      assert.deepEqual([sandbox.status, await stateOf(sandbox)], ["stopped", "paused"]);
      await Promise.all([sandbox._start(), sandbox._start(), sandbox._start()]);
      assert.deepEqual([sandbox.status, await stateOf(sandbox)], ["running", "live"]);
      assert.equal(await output(sandbox, "head -1 /run/inis/generation"), "1\n");
    });
  });

  test("20_a_background_counter_stands_still_and_goes_on_with_the_same_handle", async () => {
    await withSandbox({}, async (sandbox) => {
      const handle = await sandbox.processes.spawn("i=0; while :; do i=$((i+1)); echo $i; sleep 0.02; done");
      await eventually("it counts", () => handle.stdout.includes("3\n"));
      await restart(sandbox);
      const seen = handle.stdout.length;
      await eventually("it goes on", () => handle.stdout.length > seen + 20);
      const lines = handle.stdout.split("\n").slice(0, -1);
      assert.equal(lines.length, Number(lines.at(-1)), "no line is lost or doubled");
      assert.equal(await handle.kill(), true);
    });
  });

  test("a_session_that_idles_away_under_a_sandbox_wakes_with_the_next_command", async () => {
    await withSandbox({ idleTimeoutMs: 1000 }, async (sandbox) => {
      await output(sandbox, "echo kept > /tmp/file");
      await eventually("it is paused", async () => (await stateOf(sandbox)) === "paused");
      await sleep(100);
      assert.equal(await output(sandbox, "cat /tmp/file"), "kept\n");
    });
  });

  test("a_stopped_sandbox_is_found_again_by_its_id_in_another_program", async () => {
    const id = uniqueId();
    const first = await started(makeSandbox({ id }));
    await output(first, "echo kept > /tmp/file");
    await first._stop();
    await withSandbox({ id }, async (second) => {
      assert.equal(await output(second, "cat /tmp/file"), "kept\n");
      assert.equal(second.session.sessionId, first.session.sessionId);
    });
  });

  test("a_session_that_is_killed_while_stopped_is_replaced_on_command_and_on_spawn", async () => {
    await withSandbox({}, async (sandbox) => {
      await started(sandbox);
      const kill = async () => client().sessions.attach(sandbox.session.sessionId).destroy();
      await kill();
      assert.equal(await output(sandbox, "echo recovered"), "recovered\n");
      await sandbox._stop();
      await kill();
      const handle = await sandbox.processes.spawn("echo recovered");
      assert.equal((await handle.wait()).stdout, "recovered\n");
    });
  });
});
