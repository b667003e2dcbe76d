// SPDX-License-Identifier: Apache-2.0
// What the sandbox says and does besides running commands: instructions, info, ports, mounts.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { InisSandbox } from "@inis-run/mastra";
import { RequestContext } from "@mastra/core/request-context";
import { LocalFilesystem, supportsNetworking, Workspace } from "@mastra/core/workspace";
import { withinMs } from "../support/helpers.js";
import { coreName } from "./support/core.js";
import { Gateway } from "./support/gateway.js";
import { makeSandbox, withSandbox } from "./support/sandbox.js";

describe(`surroundings (${coreName})`, () => {
  const directory = mkdtempSync(join(tmpdir(), "inis-mount-"));
  after(() => rmSync(directory, { recursive: true, force: true }));

  test("instructions_can_be_replaced_or_derived", () => {
    assert.match(
      makeSandbox({ workingDirectory: "/workspace/app" }).getInstructions(),
      /directory is \/workspace\/app/,
    );
    assert.equal(makeSandbox({ instructions: "Only this." }).getInstructions(), "Only this.");
    const sandbox = makeSandbox({
      instructions: ({ defaultInstructions, requestContext }) =>
        `${defaultInstructions} For ${requestContext?.get("user")}.`,
    });
    const requestContext = new RequestContext();
    requestContext.set("user", "ada");
    assert.match(sandbox.getInstructions({ requestContext }), /isolated[\s\S]* For ada\.$/);
  });

  test("13520_the_advertised_directory_is_the_one_where_commands_run", async () => {
    await withSandbox({}, async (sandbox) => {
      const { stdout } = await sandbox.executeCommand("pwd");
      assert(sandbox.getInstructions().includes(stdout.trim()));
    });
  });

  test("mount_and_unmount_throw_the_typed_error", async () => {
    const sandbox = makeSandbox();
    for (const attempt of [sandbox.mount(), sandbox.unmount()]) {
      await assert.rejects(attempt, { code: "MOUNT_NOT_SUPPORTED", name: "MountNotSupportedError" });
    }
  });

  test("F18_mounts_are_never_advertised_as_usable_in_commands", async () => {
    const sandbox = makeSandbox();
    const workspace = new Workspace({
      sandbox,
      mounts: { "/data": new LocalFilesystem({ basePath: directory }) },
    });
    const check = () => {
      const text = workspace.getInstructions();
      assert.match(text, /Workspace-only[\s\S]*\/data/);
      assert.doesNotMatch(text, /accessible in shell commands/);
    };
    check();
    await workspace.init();
    check();
    await workspace.filesystem?.writeFile("/data/file.txt", "by the file tools");
    assert.deepEqual((await sandbox.getInfo()).mounts, []);
    await workspace.destroy();
  });

  test("a_workspace_can_still_provide_its_mounts_itself", async () => {
    const mounted: string[] = [];
    const workspace = new Workspace({
      sandbox: makeSandbox(),
      mounts: { "/workspace/data": new LocalFilesystem({ basePath: directory }) },
      onMount: async ({ mountPath, sandbox }) => {
        await sandbox.executeCommand?.("mkdir", ["-p", mountPath]);
        mounted.push(mountPath);
        return { success: true, mountPath };
      },
    });
    await workspace.init();
    assert.deepEqual(mounted, ["/workspace/data"]);
    assert.match(workspace.getInstructions(), /accessible in shell commands[\s\S]*\/workspace\/data/);
    assert.deepEqual((await workspace.sandbox?.getInfo?.())?.mounts, [
      { path: "/workspace/data", filesystem: "local" },
    ]);
    await workspace.destroy();
  });

  test("a_port_has_no_url_before_start_or_where_none_can_be_had", async () => {
    await withSandbox({}, async (sandbox) => {
      assert(supportsNetworking(sandbox));
      assert.equal(await sandbox.networking.getPortUrl(8080), null);
      await sandbox._start();
      const url = await sandbox.networking.getPortUrl(8080);
      assert(url === null || url.startsWith("http"), String(url));
    });
  });

  test("info_is_cheap_and_never_fails", async () => {
    const gateway = await Gateway.open();
    const sandbox = new InisSandbox({ client: gateway.client() });
    try {
      await sandbox._start();
      const before = gateway.requests.length;
      for (let i = 0; i < 50; i++) await sandbox.getInfo();
      assert(gateway.requests.length - before <= 2, "many questions are answered from one reply");
      gateway.stall();
      await new Promise((resolve) => setTimeout(resolve, 3_100));
      const info = await withinMs("getInfo of a server that does not answer", 30_000, sandbox.getInfo());
      assert.equal(info.metadata?.inisSessionId, sandbox.session.sessionId);
      assert.equal(info.metadata?.state, "live");
    } finally {
      gateway.unstall();
      await sandbox._destroy();
      await gateway.close();
    }
  });

  test("options_that_cannot_be_meant_are_refused", () => {
    assert.throws(() => new InisSandbox({ idleTimeoutMs: -1 }), RangeError);
    assert.throws(() => new InisSandbox({ maxLifetimeMs: Number.NaN }), RangeError);
    assert.throws(() => new InisSandbox({ env: { "no name": "x" } }), TypeError);
    assert.doesNotThrow(() => new InisSandbox({ idleTimeoutMs: 0 }));
  });
});
