// SPDX-License-Identifier: Apache-2.0
// Leases as the SDK keeps them: asked for with the embedded engine only, renewed while the client lives, never in the
// way of the program's end. What a server does with a lease is tested elsewhere.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { Client } from "@inis-run/sdk";
import { eventually, sleep } from "../support/helpers.js";
import { type Exchange, FakeServer, json, type Recorded } from "./support/fake-server.js";

const LEASE_MS = 300;

let folder: string;
let server: FakeServer;
let renewal: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "inis-lease-"));
  renewal = 200;
  server = await FakeServer.start((exchange) => answer(exchange));
  server.extensions = ["session.lease"];
  delete process.env.INIS_API_KEY;
  delete process.env.INIS_BASE_URL;
  process.env.INIS_ENGINE_DIR = folder;
  const text = JSON.stringify({ base_url: server.url, token: "sk_engine" });
  await writeFile(join(folder, "inis"), `#!/bin/sh\necho '${text}'\n`);
  await chmod(join(folder, "inis"), 0o755);
});

afterEach(async () => {
  delete process.env.INIS_ENGINE_DIR;
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

function answer(exchange: Exchange): void {
  const { method, url, body } = exchange.recorded;
  const code = renewal === 410 ? "session_ended" : "unavailable";
  const leased = url === "/v1/sessions" && body.includes("lease_ms") && { lease_ms: LEASE_MS };
  if (method === "DELETE") exchange.response.writeHead(204).end();
  else if (url.endsWith("/lease") && renewal !== 200) json(renewal, { error: "no", code })(exchange);
  else json(200, { session_id: "s1", state: "live", ...leased })(exchange);
}

const creates = (): Recorded[] => server.calls.filter(({ method, url }) => method === "POST" && url === "/v1/sessions");
const renewals = (): Recorded[] => server.calls.filter(({ url }) => url === "/v1/sessions/s1/lease");

test("a session of the embedded engine is leased, and renewed until it is destroyed", async () => {
  const client = new Client();
  const session = await client.sessions.create();
  assert.deepEqual(JSON.parse(creates()[0]!.body), { lease_ms: 60_000 });
  await eventually("it is renewed", () => renewals().length >= 3);
  assert.deepEqual([renewals()[0]!.method, renewals()[0]!.body], ["POST", "{}"]);
  await session.destroy();
  await sleep(50);
  const { length } = renewals();
  await sleep(3 * LEASE_MS);
  assert.equal(renewals().length, length);
});

test("a lease that the server ended is not renewed any more", async () => {
  const client = new Client();
  renewal = 410;
  await client.sessions.create();
  await eventually("it was tried", () => renewals().length === 1);
  await sleep(3 * LEASE_MS);
  assert.equal(renewals().length, 1);
  assert(client);
});

test("a renewal that fails for another reason is tried again", async () => {
  const client = new Client();
  renewal = 503;
  await client.sessions.create();
  await eventually("it goes on", () => renewals().length >= 3);
  await client.sessions.attach("s1").destroy();
});

test("sessions that something else ends, or that are to stay, have no lease", async () => {
  const client = new Client();
  await client.sessions.create({ maxLifetimeMs: 60_000 });
  await client.sessions.create({ lease: false });
  await server.client().sessions.create();
  server.extensions = [];
  await new Client().sessions.create();
  assert.deepEqual(
    creates().map(({ body }) => body),
    ['{"max_lifetime_ms":60000}', "{}", "{}", "{}"],
  );
  await sleep(2 * LEASE_MS);
  assert.equal(renewals().length, 0);
});

test("a lease does not keep its program alive", async () => {
  const sdk = new URL(import.meta.resolve("@inis-run/sdk"));
  const script = `const { Client } = await import(${JSON.stringify(sdk.href)});
    globalThis.kept = new Client();
    await globalThis.kept.sessions.create();`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
  const [code] = await once(child, "exit");
  assert.equal(code, 0);
  assert.equal(creates().length, 1);
});
