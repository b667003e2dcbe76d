// SPDX-License-Identifier: Apache-2.0
// The session goes away under a sandbox.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { InisSandbox } from "@inis-run/mastra";
import { withinMs } from "../support/helpers.js";
import { coreName } from "./support/core.js";
import { client, makeSandbox, uniqueId, withSandbox } from "./support/sandbox.js";

async function killExternally(sandbox: InisSandbox): Promise<string> {
  const { sessionId } = sandbox.session;
  await client().sessions.attach(sessionId).destroy();
  return sessionId;
}

describe(`recovery (${coreName})`, () => {
  test("an_owned_sandbox_recovers_on_the_next_command", async () => {
    let starts = 0;
    const onStart = () => {
      starts++;
    };
    await withSandbox({ onStart }, async (sandbox) => {
      await sandbox.executeCommand("touch /workspace/old");
      const gone = await killExternally(sandbox);
      const result = await sandbox.executeCommand("ls /workspace; echo recovered");
      assert.equal(result.stdout, "recovered\n");
      assert.notEqual(sandbox.session.sessionId, gone);
      assert.equal(sandbox.status, "running");
      assert.equal(starts, 2);
    });
  });

  test("an_owned_sandbox_recovers_on_spawn_list_and_files", async () => {
    await withSandbox({ id: uniqueId() }, async (sandbox) => {
      await sandbox._start();
      await killExternally(sandbox);
      const handle = await sandbox.processes.spawn("echo recovered");
      assert.equal((await handle.wait()).stdout, "recovered\n");
      await killExternally(sandbox);
      assert.deepEqual(await sandbox.processes.list(), []);
      await killExternally(sandbox);
      await sandbox.writeFiles([{ path: "a.txt", content: "a" }]);
      assert.equal((await sandbox.executeCommand("cat a.txt")).stdout, "a");
    });
  });

  test("many_commands_on_a_gone_session_make_one_new_session", async () => {
    const id = uniqueId();
    await withSandbox({ id }, async (sandbox) => {
      await sandbox._start();
      await killExternally(sandbox);
      const results = await Promise.all(Array.from({ length: 10 }, (_, i) => sandbox.executeCommand(`echo ${i}`)));
      results.forEach((result, i) => {
        assert.equal(result.stdout, `${i}\n`);
      });
      assert.equal((await client().sessions.list({ externalId: id })).sessions.length, 1);
    });
  });

  test("21642_an_interrupted_command_is_reported_once_and_not_repeated", async () => {
    await withSandbox({}, async (sandbox) => {
      let begun!: () => void;
      const started = new Promise<void>((resolve) => {
        begun = resolve;
      });
      const onStdout = () => begun();
      const running = sandbox.executeCommand("echo begun; sleep 600", [], { onStdout });
      running.catch(() => {});
      await started;
      const first = sandbox.session.sessionId;
      await killExternally(sandbox);
      // Either the stream says that the command was killed with the session, or that its outcome is unknown.
      const outcome = await withinMs("interrupted command", 60_000, running).catch((error: Error) => error);
      if (outcome instanceof Error) {
        assert.equal((outcome as Error & { code: string }).code, "EXECUTION_FAILED");
        assert.equal((outcome as Error & { stdout: string }).stdout, "begun\n");
      } else {
        assert.equal(outcome.success, false);
        assert.equal(outcome.stdout, "begun\n");
      }
      assert.equal((await sandbox.executeCommand("echo next")).stdout, "next\n");
      assert.notEqual(sandbox.session.sessionId, first);
    });
  });

  test("handles_of_a_gone_session_settle", async () => {
    await withSandbox({}, async (sandbox) => {
      const handle = await sandbox.processes.spawn("echo begun; sleep 600");
      await killExternally(sandbox);
      const result = await withinMs("wait", 60_000, handle.wait());
      assert.deepEqual([result.success, result.killed], [false, true]);
    });
  });

  test("handles_settle_when_the_sandbox_is_destroyed", async () => {
    const sandbox = makeSandbox();
    const handle = await sandbox.processes.spawn("sleep 600");
    await sandbox._destroy();
    assert.equal((await withinMs("wait", 60_000, handle.wait())).success, false);
  });

  test("recreation_can_be_forbidden", async () => {
    const id = uniqueId();
    const sandbox = makeSandbox({ id, onSessionGone: "fail" });
    await sandbox._start();
    await killExternally(sandbox);
    for (let i = 0; i < 2; i++) {
      await assert.rejects(sandbox.executeCommand("true"), (error: Error & { code: string }) => {
        assert.equal(error.code, "NOT_READY");
        assert.equal((error.cause as Error).name, "InisError");
        return true;
      });
      assert.equal(sandbox.status, "error");
    }
    assert.deepEqual((await client().sessions.list({ externalId: id })).sessions, []);
  });

  test("22300_an_attached_session_is_never_replaced", async () => {
    const session = await client().sessions.create();
    const sandbox = makeSandbox({ session: session.sessionId });
    await sandbox.executeCommand("true");
    const before = (await client().sessions.list()).sessions.length;
    await session.destroy();
    for (let i = 0; i < 2; i++) {
      await assert.rejects(sandbox.executeCommand("true"), { code: "NOT_READY" });
      assert.equal(sandbox.status, "error");
    }
    assert.equal((await client().sessions.list()).sessions.length, before - 1);
  });

  test("stop_and_destroy_of_a_gone_session_succeed", async () => {
    const sandbox = makeSandbox();
    await sandbox._start();
    await killExternally(sandbox);
    await sandbox._stop();
    assert.equal(sandbox.status, "stopped");
    const other = makeSandbox();
    await other._start();
    await killExternally(other);
    await other._destroy();
    assert.equal(other.status, "destroyed");
  });
});
