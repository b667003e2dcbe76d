// SPDX-License-Identifier: Apache-2.0
// Whole files between the disk and a session.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client } from "@inis-run/sdk";
import { FakeServer, json } from "./support/fake-server.js";

const content = randomBytes(9 * 1024 * 1024 + 17);
const sha256 = createHash("sha256").update(content).digest("hex");
let folder: string;
let local: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "inis-sdk-"));
  local = join(folder, "local");
  await writeFile(local, content);
});

after(() => rm(folder, { recursive: true }));

test("an upload is sent in chunks, raw, and its checksum compared", async () => {
  await using server = await FakeServer.start((exchange) => {
    const sum = createHash("sha256").update(exchange.recorded.bytes).digest("hex");
    json(200, { path: "/workspace/a b", bytes: exchange.recorded.bytes.length, sha256: sum, duration_ms: 4 })(exchange);
  });
  const result = await server.client().sessions.attach("abc").uploadFile(local, "a b");
  assert.deepEqual(result, { path: "/workspace/a b", bytes: content.length, sha256, durationMs: 4 });
  const [request] = server.requests;
  assert.equal(`${request?.method} ${request?.url}`, "PUT /v1/sessions/abc/files/stream?path=a+b");
  assert.equal(request?.headers["transfer-encoding"], "chunked");
  assert.equal(request?.headers["content-length"], undefined);
  assert.equal(request?.headers["content-type"], undefined);
  assert.ok(request?.bytes.equals(content));
});

test("an upload may set the mode, in octal", async () => {
  await using server = await FakeServer.start(json(200, { path: "a", bytes: 1 }));
  server.extensions = ["files.mode"];
  await server.client().sessions.attach("abc").uploadFile(local, "a", { mode: 0o755 });
  assert.equal(server.calls[0]?.url, "/v1/sessions/abc/files/stream?path=a&mode=755");
});

test("an empty file is uploaded", async () => {
  await using server = await FakeServer.start(json(200, { path: "a", bytes: 0 }));
  await writeFile(join(folder, "empty"), "");
  const { bytes } = await server.client().sessions.attach("abc").uploadFile(join(folder, "empty"), "a");
  assert.deepEqual([bytes, server.requests[0]?.bytes.length], [0, 0]);
});

test("an upload that arrived otherwise, was refused, or has no source is an error", async () => {
  await using wrong = await FakeServer.start(json(200, { path: "a", bytes: 1, sha256: "00" }));
  const session = wrong.client().sessions.attach("abc");
  await assert.rejects(session.uploadFile(local, "a"), { code: "checksum_mismatch" });
  await assert.rejects(session.uploadFile(join(folder, "missing"), "a"), { code: "ENOENT" });
  await using refuses = await FakeServer.start(json(400, { error: "permission denied", code: "permission_denied" }));
  await assert.rejects(refuses.client().sessions.attach("abc").uploadFile(local, "a"), {
    code: "permission_denied",
    status: 400,
  });
});

test("an upload that is refused before it was read has the server's error", async () => {
  const { createServer } = await import("node:http");
  const server = createServer((_, response) => {
    response.writeHead(400, { "Content-Type": "application/json" });
    response.end('{"error":"path must be under /workspace","code":"invalid_path"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const session = new Client({ token: "t", baseUrl: `http://127.0.0.1:${port}` }).sessions.attach("abc");
  await assert.rejects(session.uploadFile(local, "/etc/x"), { code: "invalid_path", status: 400 });
  server.closeAllConnections();
  server.close();
});

test("a download is written to the disk as it came", async () => {
  await using server = await FakeServer.start(({ response }) => void response.writeHead(200).end(content));
  const target = join(folder, "target");
  const result = await server.client().sessions.attach("abc").downloadFile("/workspace/a", target);
  assert.deepEqual(result, { path: "/workspace/a", localPath: target, bytes: content.length, sha256 });
  assert.ok((await readFile(target)).equals(content));
  assert.equal(server.requests[0]?.url, "/v1/sessions/abc/files/stream?path=%2Fworkspace%2Fa");
});

test("a refused download makes no file", async () => {
  await using server = await FakeServer.start(json(404, { error: "no such file or directory", code: "not_found" }));
  const target = join(folder, "none");
  await assert.rejects(server.client().sessions.attach("abc").downloadFile("a", target), { code: "not_found" });
  await assert.rejects(stat(target), { code: "ENOENT" });
});

test("a download that breaks off is an error", async () => {
  await using server = await FakeServer.start(({ response }) => {
    response.writeHead(200);
    response.write(content.subarray(0, 1000), () => response.socket?.resetAndDestroy());
  });
  await assert.rejects(server.client().sessions.attach("abc").downloadFile("a", join(folder, "broken")), TypeError);
});

test("a transfer may take longer than the time limit as long as it moves, and fails when it stands still", async () => {
  await using moves = await FakeServer.start(async ({ response }) => {
    response.writeHead(200);
    for (let i = 0; i < 8; i++) {
      response.write("x");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    response.end();
  });
  const session = moves.client({ timeoutMs: 600 }).sessions.attach("abc");
  assert.equal((await session.downloadFile("a", join(folder, "slow"))).bytes, 8);

  await using stands = await FakeServer.start(({ response }) => void response.writeHead(200).write("x"));
  const stuck = stands.client({ timeoutMs: 100 }).sessions.attach("abc");
  await assert.rejects(stuck.downloadFile("a", join(folder, "stuck")), { name: "AbortError", message: /no progress/ });
});

test("a signal ends a transfer both ways", async () => {
  await using server = await FakeServer.start(() => {});
  const session = server.client().sessions.attach("abc");
  const options = { signal: AbortSignal.timeout(100) };
  await assert.rejects(session.uploadFile(local, "a", options), { name: "TimeoutError" });
  await assert.rejects(session.downloadFile("a", join(folder, "x"), { signal: AbortSignal.timeout(100) }), {
    name: "TimeoutError",
  });
});
