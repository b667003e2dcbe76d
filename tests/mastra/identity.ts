// SPDX-License-Identifier: Apache-2.0
// Which session a sandbox gets: its own, another program's, one that was given.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { InisSandbox } from "@inis-run/mastra";
import { Client } from "@inis-run/sdk";
import { RequestContext } from "@mastra/core/request-context";
import { Workspace } from "@mastra/core/workspace";
import { coreName } from "./support/core.js";
import { client, makeSandbox, server, uniqueId, withSandbox } from "./support/sandbox.js";

describe(`identity (${coreName})`, () => {
  test("23974_the_same_id_finds_its_session_again", async () => {
    const id = uniqueId();
    await withSandbox({ id }, async (first) => {
      await first.executeCommand("echo mine > /workspace/file");
      const second = makeSandbox({ id });
      assert.deepEqual(await second.start(), { outcome: "connected" });
      assert.equal(second.session.sessionId, first.session.sessionId);
      assert.equal((await second.executeCommand("cat /workspace/file")).stdout, "mine\n");
      assert.equal((await second.getInfo()).id, id);
    });
  });

  test("two_programs_that_start_one_id_at_once_share_a_session", async () => {
    const id = uniqueId();
    const sandboxes = [{}, { env: { DIFFERENT: "options" } }, {}, {}].map((options) => makeSandbox({ id, ...options }));
    await Promise.all(sandboxes.map((sandbox) => sandbox._start()));
    const ids = new Set(sandboxes.map((sandbox) => sandbox.session.sessionId));
    assert.equal(ids.size, 1, [...ids].join(" "));
    await sandboxes[0]!._destroy();
  });

  test("a_destroyed_id_starts_afresh", async () => {
    const id = uniqueId();
    const first = makeSandbox({ id });
    await first.executeCommand("touch /workspace/file");
    const { sessionId } = first.session;
    await first._destroy();
    await withSandbox({ id }, async (second) => {
      assert.equal((await second.executeCommand("ls /workspace")).stdout, "");
      assert.notEqual(second.session.sessionId, sessionId);
    });
  });

  test("ids_of_any_length_and_content_work", async () => {
    for (const id of ["x".repeat(1000), "with spaces & ünïcode/?#"]) {
      await withSandbox({ id: `${uniqueId()} ${id}` }, async (first) => {
        await first._start();
        const second = makeSandbox({ id: first.id });
        await second._start();
        assert.equal(second.session.sessionId, first.session.sessionId);
      });
    }
  });

  test("an_attached_session_is_used_and_never_destroyed", async () => {
    const session = await client().sessions.create({ egress: { mode: "deny" } });
    for (const given of [session, session.sessionId]) {
      const sandbox = makeSandbox({ session: given, env: { ATTACHED: "yes" } });
      assert.equal((await sandbox.executeCommand('echo "$ATTACHED"')).stdout, "yes\n");
      assert.equal((await sandbox.getInfo()).metadata?.owned, false);
      await sandbox._stop();
      await sandbox._destroy();
      assert.equal(sandbox.status, "destroyed");
      assert.equal((await session.get()).state, "live");
    }
    await session.destroy();
  });

  test("a_process_outlives_the_attached_sandbox_that_started_it", async () => {
    const session = await client().sessions.create();
    const sandbox = makeSandbox({ session });
    const handle = await sandbox.processes.spawn("sleep 600");
    await sandbox._destroy();
    await assert.rejects(handle.wait(), { code: "NOT_READY" });
    assert.equal((await session.getProcess(handle.pid)).state, "running");
    await session.destroy();
  });

  test("attaching_a_session_object_needs_no_key", async () => {
    const session = await client().sessions.create();
    const sandbox = new InisSandbox({ session });
    assert.equal((await sandbox.executeCommand("echo attached")).stdout, "attached\n");
    await session.destroy();
  });

  test("22300_attaching_to_what_cannot_be_reached_fails_and_creates_nothing", async () => {
    const session = await client().sessions.create();
    const before = (await client().sessions.list()).sessions.length;
    const wrongKey = new Client({ baseUrl: server().baseUrl, token: "sk_wrong" });
    const nobody = new Client({ baseUrl: "http://127.0.0.1:9", token: "sk_x" });
    for (const [options, code] of [
      [{ client: client(), session: "nosuchsession00000000" }, "not_found"],
      [{ client: wrongKey, session: session.sessionId }, "unauthenticated"],
      [{ client: nobody, session: session.sessionId }, undefined],
    ] as const) {
      const sandbox = new InisSandbox(options);
      await assert.rejects(sandbox.executeCommand("true"), (error: Error & { details?: { inisCode?: string } }) => {
        assert.equal(error.details?.inisCode, code);
        return true;
      });
      assert.equal(sandbox.status, "error");
    }
    assert.equal((await client().sessions.list()).sessions.length, before);
    await session.destroy();
  });

  test("L3_an_owned_sandbox_that_cannot_reach_the_server_reports_that", async () => {
    const sandbox = new InisSandbox({ client: new Client({ baseUrl: "http://127.0.0.1:9", token: "sk_x" }) });
    await assert.rejects(sandbox.executeCommand("true"), TypeError);
    assert.equal(sandbox.status, "error");
  });

  test("a_clone_is_a_sibling_with_a_session_of_its_own", async () => {
    const options = { sessionName: uniqueId(), labels: { team: "a" }, env: { A: "1", B: "1" }, idleTimeoutMs: 120_000 };
    await withSandbox(options, async (parent) => {
      await parent._start();
      const { sessionId } = parent.session;
      const clone = parent.clone({ env: { B: "2" }, workingDirectory: "/tmp", idleTimeoutMinutes: 7 });
      assert.equal(clone.status, "pending");
      assert.notEqual(clone.id, parent.id);
      assert.equal((await clone.executeCommand('echo "$A $B $(pwd)"')).stdout, "1 2 /tmp\n");
      assert.notEqual(clone.session.sessionId, sessionId);
      const info = await clone.session.get();
      assert.equal(info.idleTimeoutMs, 7 * 60_000);
      assert.deepEqual(info.labels, { team: "a" });
      await clone._destroy();
      assert.equal((await parent.session.get()).idleTimeoutMs, 120_000);
    });
  });

  test("a_clone_can_be_attached_and_a_clone_of_an_attached_one_owns", async () => {
    await withSandbox({}, async (parent) => {
      await parent._start();
      const attached = parent.clone({ sandboxId: parent.session.sessionId, id: "chosen" });
      await attached._start();
      assert.deepEqual([attached.id, attached.session.sessionId], ["chosen", parent.session.sessionId]);
      await attached._destroy();
      assert.equal((await parent.session.get()).state, "live");
      const owned = makeSandbox({ session: parent.session }).clone();
      await owned._start();
      assert.notEqual(owned.session.sessionId, parent.session.sessionId);
      await owned._destroy();
    });
  });

  test("K2_K3_sandboxes_share_no_configuration", async () => {
    const env = { A: "1" };
    await withSandbox({ env }, async (one) => {
      await withSandbox({ env }, async (other) => {
        one.setEnv((now) => ({ ...now, A: "changed" }));
        env.A = "changed too";
        assert.equal((await one.executeCommand('echo "$A"')).stdout, "changed\n");
        assert.equal((await other.executeCommand('echo "$A"')).stdout, "1\n");
      });
    });
  });

  test("15664_a_resolver_gives_each_user_a_sandbox", async () => {
    const run = uniqueId();
    const sandboxes = new Map<string, InisSandbox>();
    const sandboxOf = (user: string) => {
      const known = sandboxes.get(user) ?? makeSandbox({ id: `${run}-${user}` });
      sandboxes.set(user, known);
      return known;
    };
    const workspace = new Workspace({
      sandbox: ({ requestContext }) => sandboxOf(String(requestContext.get("user"))),
    });
    for (const user of ["ada", "bob"]) {
      const requestContext = new RequestContext();
      requestContext.set("user", user);
      const sandbox = (await workspace.resolveSandbox({ requestContext })) as InisSandbox;
      await sandbox.executeCommand(`echo ${user} > /workspace/who`);
    }
    assert.equal((await sandboxOf("ada").executeCommand("cat who")).stdout, "ada\n");
    assert.equal((await sandboxOf("bob").executeCommand("cat who")).stdout, "bob\n");
    for (const sandbox of sandboxes.values()) await sandbox._destroy();
  });
});
