// SPDX-License-Identifier: Apache-2.0
// A program on the embedded engine that is killed leaves nothing: its sessions end with their leases.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { eventually } from "../support/helpers.js";
import { RawClient } from "../support/http.js";
import { binDir, scale } from "../support/paths.js";

let folder: string;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "inis-lease-"));
  chmodSync(folder, 0o711);
});

after(async () => {
  const file = join(folder, "state", "engine.json");
  if (existsSync(file)) {
    const { pid } = JSON.parse(readFileSync(file, "utf8")) as { pid: number };
    process.kill(pid, "SIGTERM");
    await eventually("the engine ends", () => !existsSync(`/proc/${pid}`));
  }
  rmSync(folder, { recursive: true, force: true });
});

const PROGRAM = `
  const { Client } = await import(${JSON.stringify(import.meta.resolve("@inis-run/sdk"))});
  const client = new Client();
  const leased = await client.sessions.create();
  await leased.startProcess("p", ["sleep", "600"], { keepAlive: true });
  const kept = await client.sessions.create({ lease: false });
  console.log(JSON.stringify([client.baseUrl, client.token, leased.sessionId, kept.sessionId]));
  setInterval(() => {}, 1000);
`;

test("L1_a_killed_program_leaves_only_what_it_wanted_to_stay", async () => {
  const { INIS_API_KEY: _, INIS_BASE_URL: __, ...rest } = process.env;
  const env = { ...rest, INIS_STATE_DIR: join(folder, "state"), INIS_ENGINE_DIR: binDir };
  const child = spawn(process.execPath, ["--input-type=module", "-e", PROGRAM], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const [url, token, leased, kept] = JSON.parse(line) as [string, string, string, string];
  const client = new RawClient(url, token);
  const info = async (id: string) => (await client.expect(200, "GET", `/v1/sessions/${id}`)).json;
  assert.equal((await info(leased)).lease_ms, 60_000);
  assert.equal((await info(kept)).lease_ms, undefined);
  child.kill("SIGKILL");
  await once(child, "exit");
  // The time of a lease is the SDK's choice; at reduced size the end is brought about as the client would have.
  if (scale < 1) await client.expect(204, "DELETE", `/v1/sessions/${leased}`);
  else await eventually("it ends", async () => (await info(leased)).end_reason === "lease_expired", 120_000);
  assert.equal((await info(kept)).state, "live");
  await client.expect(204, "DELETE", `/v1/sessions/${kept}`);
  client.close();
});
