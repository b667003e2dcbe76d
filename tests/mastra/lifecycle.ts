// SPDX-License-Identifier: Apache-2.0
// Start, stop, destroy: status, coalescing, hooks, what each does to the session.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { InisSandbox } from "@inis-run/mastra";
import { Client } from "@inis-run/sdk";
import { Workspace } from "@mastra/core/workspace";
import { coreName, newest } from "./support/core.js";
import { client, makeSandbox, server, uniqueId, withSandbox } from "./support/sandbox.js";

async function stateOf(sessionId: string): Promise<string> {
  return client()
    .sessions.get(sessionId)
    .then(
      (info) => info.state,
      (error) => error.code,
    );
}

describe(`life cycle (${coreName})`, () => {
  test("a_sandbox_says_who_it_is_before_it_starts", async () => {
    const [one, other] = [makeSandbox(), makeSandbox()];
    assert.equal(one.name, "InisSandbox");
    assert.equal(one.provider, "inis");
    assert.match(one.id, /^inis-/);
    assert.notEqual(one.id, other.id);
    assert.equal(makeSandbox({ id: "chosen" }).id, "chosen");
    assert.equal(one.status, "pending");
    assert.throws(() => one.session, { code: "NOT_READY" });
    const info = await one.getInfo();
    assert.deepEqual([info.id, info.name, info.provider, info.status], [one.id, one.name, one.provider, "pending"]);
    assert.equal(info.metadata, undefined);
  });

  test("status_and_info_follow_the_life_of_the_session", async () => {
    const sandbox = makeSandbox();
    await sandbox._start();
    assert.equal(sandbox.status, "running");
    const { sessionId } = sandbox.session;
    const info = await sandbox.getInfo();
    assert.equal(info.status, "running");
    assert.equal(info.metadata?.inisSessionId, sessionId);
    assert.deepEqual([info.metadata?.state, info.metadata?.owned], ["live", true]);
    assert((info.resources?.memoryMB ?? 0) > 0);
    assert((info.resources?.cpuCores ?? 0) > 0);
    assert(info.timeoutAt && info.timeoutAt.getTime() > Date.now());
    await sandbox._stop();
    assert.equal(sandbox.status, "stopped");
    assert.equal((await sandbox.getInfo()).status, "stopped");
    await sandbox._destroy();
    assert.equal(sandbox.status, "destroyed");
    assert.equal(await stateOf(sessionId), "not_found");
    assert.equal((await sandbox.getInfo()).status, "destroyed");
  });

  test("starting_twice_is_starting_once", async () => {
    await withSandbox({}, async (sandbox) => {
      await sandbox._start();
      const { sessionId } = sandbox.session;
      await sandbox._start();
      assert.equal(sandbox.session.sessionId, sessionId);
    });
  });

  test("a_direct_start_keeps_status_and_says_what_happened", async () => {
    await withSandbox({}, async (sandbox) => {
      const first = await sandbox.start();
      assert.deepEqual(first, { outcome: "created" });
      assert.equal(sandbox.status, "running");
      const { sessionId } = sandbox.session;
      await sandbox.start();
      assert.equal(sandbox.session.sessionId, sessionId);
    });
  });

  test("direct_stop_and_destroy_keep_status_too", async () => {
    const sandbox = makeSandbox();
    await sandbox.start();
    const { sessionId } = sandbox.session;
    await sandbox.stop();
    assert.equal(sandbox.status, "stopped");
    await sandbox.destroy();
    assert.equal(sandbox.status, "destroyed");
    assert.equal(await stateOf(sessionId), "not_found");
  });

  test("20739_twenty_first_commands_make_one_session", async () => {
    const id = uniqueId();
    await withSandbox({ id }, async (sandbox) => {
      const results = await Promise.all(Array.from({ length: 20 }, (_, i) => sandbox.executeCommand(`echo ${i}`)));
      results.forEach((result, i) => {
        assert.equal(result.stdout, `${i}\n`);
      });
      const { sessions } = await client().sessions.list({ externalId: id });
      assert.equal(sessions.length, 1);
    });
  });

  test("stop_keeps_files_and_the_next_command_goes_on", async () => {
    await withSandbox({}, async (sandbox) => {
      await sandbox.executeCommand("echo kept > /tmp/file");
      const { sessionId } = sandbox.session;
      for (let round = 0; round < 3; round++) {
        await Promise.all([sandbox._stop(), sandbox._stop()]);
        assert.equal(sandbox.status, "stopped");
        assert.equal((await sandbox.executeCommand("cat /tmp/file")).stdout, "kept\n");
        assert.equal(sandbox.status, "running");
        assert.equal(sandbox.session.sessionId, sessionId);
      }
    });
  });

  test("stop_leaves_background_processes_and_their_handles_alone", async () => {
    await withSandbox({}, async (sandbox) => {
      const handle = await sandbox.processes.spawn("until [ -e /tmp/go ]; do sleep 0.05; done; echo went on");
      await sandbox._stop();
      await sandbox._start();
      await sandbox.executeCommand("touch /tmp/go");
      const result = await handle.wait();
      assert.deepEqual([result.exitCode, result.stdout], [0, "went on\n"]);
    });
  });

  test("a_destroyed_sandbox_stays_destroyed", async () => {
    const sandbox = makeSandbox();
    await sandbox._start();
    await sandbox._destroy();
    await sandbox._stop();
    assert.equal(sandbox.status, "destroyed");
    await assert.rejects(sandbox.executeCommand("true"), { code: "NOT_READY" });
    await assert.rejects(sandbox._start());
    await sandbox._destroy();
    assert.equal(sandbox.status, "destroyed");
  });

  test("destroying_a_sandbox_that_never_started_makes_nothing", async () => {
    const id = uniqueId();
    const sandbox = makeSandbox({ id });
    await sandbox._destroy();
    assert.equal(sandbox.status, "destroyed");
    assert.deepEqual((await client().sessions.list({ externalId: id })).sessions, []);
  });

  test("a_session_can_be_deleted_through_a_sandbox_that_never_started", async () => {
    const id = uniqueId();
    const first = makeSandbox({ id });
    await first._start();
    assert.equal(await makeSandbox({ id }).deleteSession(), true);
    assert.equal(await stateOf(first.session.sessionId), "not_found");
    assert.equal(await makeSandbox({ id }).deleteSession(), false);
  });

  test("a_start_with_a_wrong_key_fails_cleanly", async () => {
    const wrong = new InisSandbox({ baseUrl: server().baseUrl, apiKey: `sk_${"x".repeat(43)}` });
    await assert.rejects(
      async () => wrong._start(),
      (error: Error & { details: Record<string, unknown> }) => {
        assert.match(error.message, /^inis error \[unauthenticated\] \(status=401, retryable=false\)/);
        assert.deepEqual([error.details.inisCode, error.details.status], ["unauthenticated", 401]);
        assert.equal((error.cause as Error).name, "InisError");
        return true;
      },
    );
    assert.equal(wrong.status, "error");
    await assert.rejects(wrong.executeCommand("true"));
    await withSandbox({}, async (good) => {
      assert.equal((await good.executeCommand("echo fine")).stdout, "fine\n");
    });
  });

  test("hooks_can_use_the_sandbox", async () => {
    const events: string[] = [];
    const say = (name: string) => async (args: { sandbox: unknown; outcome?: string }) => {
      const { stdout } = await (args.sandbox as InisSandbox).executeCommand(`echo ${name}`);
      events.push(newest && args.outcome ? `${stdout.trim()}:${args.outcome}` : stdout.trim());
    };
    const sandbox = makeSandbox({ onStart: say("start"), onStop: say("stop"), onDestroy: say("destroy") });
    await sandbox._start();
    await sandbox._stop();
    await sandbox._start();
    await sandbox._destroy();
    const expected = newest
      ? ["start:created", "stop", "start:connected", "destroy"]
      : ["start", "stop", "start", "destroy"];
    assert.deepEqual(events, expected);
  });

  test("15664_a_destroy_that_fails_is_told", async () => {
    const sandbox = makeSandbox();
    await sandbox._start();
    const broken = new InisSandbox({
      client: new Client({ baseUrl: server().baseUrl, token: "sk_revoked" }),
      session: sandbox.session.sessionId,
    });
    await assert.rejects(broken.deleteSession());
    assert.notEqual(broken.status, "destroyed");
    await sandbox._destroy();
  });

  test("a_workspace_starts_and_destroys_its_sandbox", async () => {
    const sandbox = makeSandbox();
    const workspace = new Workspace({ sandbox });
    await workspace.init();
    assert.equal(sandbox.status, "running");
    const { sessionId } = sandbox.session;
    const info = await workspace.getInfo();
    assert.equal(info.sandbox?.provider, "inis");
    await workspace.destroy();
    assert.equal(await stateOf(sessionId), "not_found");
  });
});
