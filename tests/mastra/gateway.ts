// SPDX-License-Identifier: Apache-2.0
// The adapter on a server without extensions, and on connections that break.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { InisSandbox } from "@inis-run/mastra";
import { eventually, withinMs } from "../support/helpers.js";
import { coreName, newest } from "./support/core.js";
import { Gateway } from "./support/gateway.js";

describe(`server without extensions (${coreName})`, () => {
  let gateway: Gateway;
  let sandbox: InisSandbox;
  before(async () => {
    gateway = await Gateway.open({ plain: true });
    sandbox = new InisSandbox({ client: gateway.client(), env: { BOX: "b'x" } });
    await sandbox._start();
  });
  after(async () => {
    await sandbox._destroy();
    await gateway.close();
  });

  test("commands_and_processes_work", async () => {
    const env = { CALL: `"$a'` };
    const result = await sandbox.executeCommand('printf "$BOX$CALL"', [], { env });
    assert.equal(result.stdout, `b'x"$a'`);
    assert.equal(result.command, 'printf "$BOX$CALL"');
    const handle = await sandbox.processes.spawn('printf "$BOX$CALL"; exit 3', { env });
    assert.deepEqual([(await handle.wait()).exitCode, handle.stdout], [3, `b'x"$a'`]);
  });

  test("an_environment_in_the_command_line_is_not_shown", async () => {
    const handle = await sandbox.processes.spawn("sleep 600", { env: { TOKEN: "it's secret" } });
    const [row] = (await sandbox.processes.list()).filter(({ pid }) => pid === handle.pid);
    assert.equal(row?.command, "sleep 600");
    const other = new InisSandbox({ client: gateway.client(), session: sandbox.session.sessionId });
    const [seen] = (await other.processes.list()).filter(({ pid }) => pid === handle.pid);
    assert.equal(seen?.command, "sleep 600");
    assert.equal(await handle.kill(), true);
    assert.equal(await handle.kill(), false);
  });

  test("stdin_is_refused_with_a_clear_error", async () => {
    const handle = await sandbox.processes.spawn("sleep 600");
    await assert.rejects(handle.sendStdin("x"), (error: Error & { code: string }) => {
      assert.equal(error.code, "UNSUPPORTED_FEATURE");
      assert.match(error.message, /standard input/);
      return true;
    });
    await assert.rejects(handle.closeStdin(), { name: newest ? "UnsupportedStdinCloseError" : "SandboxError" });
    handle.writer.end();
    await handle.kill();
  });

  test("timeout_of_a_process_is_kept_by_the_host", async () => {
    const handle = await sandbox.processes.spawn("echo part; sleep 600", { timeout: 300 });
    const result = await withinMs("timeout", 60_000, handle.wait());
    assert.deepEqual([result.exitCode, result.timedOut, result.stdout], [124, true, "part\n"]);
  });

  test("modes_of_files_are_refused_not_ignored", async () => {
    const file = { path: "x", content: "x", mode: 0o755 };
    await assert.rejects(sandbox.writeFiles([file]), { code: "UNSUPPORTED_FEATURE" });
    await sandbox.writeFiles([{ path: "x", content: "x" }]);
  });

  test("nothing_of_an_extension_was_sent", () => {
    const sent = gateway.requests.filter(({ path }) => /exec|processes/.test(path));
    for (const { path, body } of sent)
      assert.doesNotMatch(path + body, /"env"|"stdin"|"timeout_ms":300\b|grace_ms|positions/);
  });

  test("a_broken_log_stream_goes_on_without_gap_or_repetition", async () => {
    const handle = await sandbox.processes.spawn("for i in $(seq 300); do echo ☕$i; sleep 0.005; done");
    await cutUntilExit(gateway, handle);
    assert.equal(handle.stdout, Array.from({ length: 300 }, (_, i) => `☕${i + 1}\n`).join(""));
  });
});

describe(`connections that break (${coreName})`, () => {
  let gateway: Gateway;
  let sandbox: InisSandbox;
  before(async () => {
    gateway = await Gateway.open();
    sandbox = new InisSandbox({ client: gateway.client() });
    await sandbox._start();
  });
  after(async () => {
    await sandbox._destroy();
    await gateway.close();
  });

  test("a_foreground_command_is_one_request", async () => {
    await sandbox.executeCommand("true");
    const before = gateway.requests.length;
    await sandbox.executeCommand("echo x", [], { env: { A: "b" }, timeout: 5000 });
    const [made, ...more] = gateway.requests.slice(before);
    assert.match(made!.path, /\/exec\?stream=true$/);
    const { exec_id, ...body } = JSON.parse(made!.body);
    assert.equal(typeof exec_id, "string");
    assert.deepEqual(body, {
      command: ["bash", "-lc", "echo x"],
      cwd: "/workspace",
      timeout_ms: 5000,
      env: { A: "b" },
    });
    assert.deepEqual(more, []);
  });

  test("X17_a_command_whose_stream_broke_is_an_error_with_its_output_and_is_not_run_again", async () => {
    const running = sandbox.executeCommand("echo ran >> /tmp/count; echo begun; sleep 600", [], {
      onStdout: () => gateway.cutStreams(),
    });
    await assert.rejects(withinMs("cut", 60_000, running), (error: Error & { code: string; stdout: string }) => {
      assert.deepEqual([error.code, error.stdout], ["EXECUTION_FAILED", "begun\n"]);
      assert.match(error.message, /may or may not have finished/);
      return true;
    });
    assert.equal((await sandbox.executeCommand("cat /tmp/count")).stdout, "ran\n");
    assert.equal(sandbox.status, "running");
  });

  test("O10_a_broken_log_stream_goes_on_without_gap_or_repetition", async () => {
    const handle = await sandbox.processes.spawn("for i in $(seq 300); do echo ☕$i; sleep 0.005; done");
    await cutUntilExit(gateway, handle);
    assert.equal(handle.stdout, Array.from({ length: 300 }, (_, i) => `☕${i + 1}\n`).join(""));
  });
});

describe(`answers that do not mean gone (${coreName})`, () => {
  const json = { "content-type": "application/json" };
  const error = (code: string) => JSON.stringify({ error: "told by the test", code });
  for (const [title, canned, code] of [
    ["429", { status: 429, headers: { ...json, "retry-after": "7" }, body: error("rate_limited") }, "rate_limited"],
    ["500", { status: 500, headers: json, body: error("internal") }, "internal"],
    ["503", { status: 503, headers: json, body: error("session_unavailable") }, "session_unavailable"],
    ["401", { status: 401, headers: json, body: error("unauthenticated") }, "unauthenticated"],
    [
      "a proxy's own 404",
      { status: 404, headers: { "content-type": "text/html" }, body: "<h1>not here</h1>" },
      "error",
    ],
    ["a 404 that the session denies", { status: 404, headers: json, body: error("not_found") }, "not_found"],
  ] as const) {
    test(`L3_22300_the_session_is_kept: ${title}`, async () => {
      const gateway = await Gateway.open();
      const sandbox = new InisSandbox({ client: gateway.client() });
      try {
        await sandbox.executeCommand("echo kept > file");
        const { sessionId } = sandbox.session;
        gateway.answer(/\/(exec|processes)/, canned);
        for (const attempt of [() => sandbox.executeCommand("true"), () => sandbox.processes.spawn("true")]) {
          await assert.rejects(attempt, (failure: Error & { details: Record<string, unknown> }) => {
            const { inisCode, status } = failure.details;
            assert.deepEqual([inisCode, status], [code, canned.status]);
            if (canned.status === 429)
              assert.deepEqual([failure.details.retryable, failure.details.retryAfter], [true, 7]);
            return true;
          });
        }
        gateway.answer(/./, undefined);
        assert.equal((await sandbox.executeCommand("cat file")).stdout, "kept\n");
        assert.equal(sandbox.session.sessionId, sessionId);
        const creates = gateway.requests.filter(({ method, path }) => method === "POST" && path === "/v1/sessions");
        assert.equal(creates.length, 1);
      } finally {
        await sandbox._destroy();
        await gateway.close();
      }
    });
  }

  test("a_server_that_cannot_pause_leaves_the_session_running", async () => {
    const gateway = await Gateway.open();
    const sandbox = new InisSandbox({ client: gateway.client() });
    try {
      await sandbox.executeCommand("echo kept > /tmp/file");
      gateway.answer(/\/pause/, { status: 501, headers: json, body: error("not_implemented") });
      await sandbox._stop();
      assert.equal(sandbox.status, "stopped");
      gateway.answer(/\/pause/, { status: 503, headers: json, body: error("archive_unavailable") });
      assert.equal((await sandbox.executeCommand("cat /tmp/file")).stdout, "kept\n");
      await assert.rejects(sandbox._stop(), { code: "archive_unavailable" });
      assert.equal(sandbox.status, "error");
      assert.equal((await sandbox.executeCommand("cat /tmp/file")).stdout, "kept\n");
    } finally {
      await sandbox._destroy();
      await gateway.close();
    }
  });
});

async function cutUntilExit(gateway: Gateway, handle: { exitCode: number | undefined; wait(): Promise<unknown> }) {
  const over = handle.wait();
  let cuts = 0;
  while (handle.exitCode === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    cuts += gateway.cutStreams();
  }
  await over;
  await eventually("streams were cut", () => cuts > 0);
}
