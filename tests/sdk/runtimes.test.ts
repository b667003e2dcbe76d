// SPDX-License-Identifier: Apache-2.0
// L12: the client on other runtimes, and on Node.js with globals that are not the platform's own.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { repository } from "../support/paths.js";
import { Server } from "../support/server.js";

const PATIENCE_MS = 300_000;

let server: Server;
let dir: string;
before(async () => {
  server = await Server.start();
  dir = mkdtempSync(join(tmpdir(), "inis-flow-"));
});
after(async () => {
  rmSync(dir, { recursive: true, force: true });
  await server.stop();
});

const file = (name: string) => fileURLToPath(new URL(`./runtime/${name}.js`, import.meta.url));

async function flow(program: string, args: string[]): Promise<void> {
  const env = { ...process.env, INIS_BASE_URL: server.baseUrl, INIS_API_KEY: server.token, INIS_FLOW_DIR: dir };
  const child = spawn(program, [...args, file("flow")], { cwd: repository, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk));
  const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once("close", resolve).once("error", reject),
  );
  clearTimeout(timer);
  assert.equal(code, 0, output);
  assert.match(output, /^the flow is whole$/m);
}

const preloaded = (name: string) => ["--import", file(`${name}-globals`)];
const NODES = { this_node: process.execPath, node_22: join(repository, "node_modules/node22/bin/node") };
for (const [name, node] of Object.entries(NODES)) {
  test(`L12_the_client_works_on_${name}`, () => flow(node, []));
  test(`L12_the_client_works_among_the_globals_of_jsdom_on_${name}`, () => flow(node, preloaded("jsdom")));
  test(`L12_the_client_works_with_the_classes_of_hono_on_${name}`, () => flow(node, preloaded("hono")));
  test(`L12_the_client_works_with_another_fetch_on_${name}`, () => flow(node, preloaded("undici")));
}

/** Large programs that the long tier installs; see scripts/testing/runtimes.mjs. */
const runtimes = join(repository, "build/runtimes/node_modules");
const OTHERS: Record<string, { program: string; args: string[] }> = {
  bun: { program: join(runtimes, "bun/bin/bun.exe"), args: ["run"] },
  deno: { program: join(runtimes, "deno/deno"), args: ["run", "--allow-all", "--node-modules-dir=manual"] },
};
for (const [name, { program, args }] of Object.entries(OTHERS)) {
  const skip = !existsSync(program) && "only installed for the long tier";
  test(`L12_the_client_works_on_${name}`, { skip }, () => flow(program, args));
}
