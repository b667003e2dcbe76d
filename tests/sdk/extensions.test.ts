// SPDX-License-Identifier: Apache-2.0
// Extensions of the protocol: their fields are sent only to a server that said it knows them.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Session } from "@inis-run/sdk";
import { FakeServer, json } from "./support/fake-server.js";

const ANSWER = { session_id: "abc", content: "", name: "p", bytes: 3, exec_id: "e", killed: true };

type Use = [extension: string, use: (session: Session) => Promise<unknown>, url: string, body: unknown];

const S = "/v1/sessions/abc";
const command = ["x"];

const uses: Use[] = [
  ["exec.env", (s) => s.exec(["x"], { env: { A_B: "1" } }), `POST ${S}/exec`, { command, env: { A_B: "1" } }],
  ["exec.stdin", (s) => s.exec(["x"], { stdin: "" }), `POST ${S}/exec`, { command, stdin: "" }],
  [
    "exec.stdin",
    (s) => s.exec(["x"], { stdin: Uint8Array.of(255) }),
    `POST ${S}/exec`,
    { command, stdin: "/w==", stdin_encoding: "base64" },
  ],
  ["exec.id", (s) => s.exec(["x"], { execId: "e" }), `POST ${S}/exec`, { command, exec_id: "e" }],
  ["exec.id", (s) => s.cancelExec("e"), `DELETE ${S}/execs/e`, undefined],
  [
    "process.env",
    (s) => s.startProcess("p", ["x"], { env: { A: "1" } }),
    `POST ${S}/processes`,
    { name: "p", command, keep_alive: false, env: { A: "1" } },
  ],
  [
    "process.stdin",
    (s) => s.startProcess("p", ["x"], { stdin: true }),
    `POST ${S}/processes`,
    { name: "p", command, keep_alive: false, stdin: true },
  ],
  [
    "process.timeout",
    (s) => s.startProcess("p", ["x"], { timeoutMs: 5 }),
    `POST ${S}/processes`,
    { name: "p", command, keep_alive: false, timeout_ms: 5 },
  ],
  ["process.kill", (s) => s.killProcess("p", { graceMs: 0 }), `DELETE ${S}/processes/p?grace_ms=0`, undefined],
  ["session.audit", (s) => s.audit(), `GET ${S}/audit`, undefined],
  ["session.audit", (s) => s.audit({ limit: 5, cursor: "17" }), `GET ${S}/audit?limit=5&cursor=17`, undefined],
  ["process.ended", (s) => s.listProcesses({ ended: true }), `GET ${S}/processes?ended=true`, undefined],
  ["process.ended", (s) => s.getProcess("p", { ended: true }), `GET ${S}/processes/p?ended=true`, undefined],
  ["process.ended", (s) => s.getProcessLogs("p", { ended: true }), `GET ${S}/processes/p/logs?ended=true`, undefined],
  [
    "process.logs.from",
    (s) => s.getProcessLogs("p", { from: 0, fromStderr: 7 }),
    `GET ${S}/processes/p/logs?from=0&from_stderr=7`,
    undefined,
  ],
  [
    "files.mode",
    (s) => s.writeFile("a", "b", undefined, { mode: 0o755 }),
    `PUT ${S}/files`,
    { path: "a", content: "b", mode: 493 },
  ],
  [
    "files.mode",
    (s) => s.writeFiles([{ path: "a", content: "b", mode: 0o600 }]),
    `PUT ${S}/files/batch`,
    { files: [{ path: "a", content: "b", mode: 384 }] },
  ],
  ["pty.name", (s) => s.listPtys(), `GET ${S}/ptys`, undefined],
  ["pty.name", (s) => s.killPty("p", { graceMs: 5 }), `DELETE ${S}/ptys/p?grace_ms=5`, undefined],
  ["files.stat", (s) => s.stat("a"), `GET ${S}/files?path=a&op=stat`, undefined],
  [
    "files.range",
    (s) => s.readFile("a", "text", { offset: 0, length: 5 }),
    `GET ${S}/files?path=a&op=read&offset=0&length=5`,
    undefined,
  ],
];

for (const [extension, use, url, body] of uses) {
  test(`${extension}: sent as ${url} where it is known, and not at all elsewhere`, async () => {
    await using knows = await FakeServer.start(json(200, ANSWER));
    knows.extensions = [extension];
    await use(knows.client().sessions.attach("abc"));
    assert.deepEqual(knows.requests.map((request) => request.url).slice(0, 1), ["/v1/healthz"]);
    const [call] = knows.calls;
    assert.equal(`${call?.method} ${call?.url}`, url);
    assert.deepEqual(call?.body ? JSON.parse(call.body) : undefined, body);

    await using knowsNot = await FakeServer.start(json(200, ANSWER));
    knowsNot.extensions = ["something.else"];
    await assert.rejects(use(knowsNot.client().sessions.attach("abc")), (error: Error & { code?: string }) => {
      assert.equal(error.name, "InisError");
      assert.equal(error.code, "unsupported_extension");
      assert.match(error.message, new RegExp(`extension ${extension}`));
      return true;
    });
    assert.equal(knowsNot.calls.length, 0);
  });
}

test("standard input of a process is written raw and closed", async () => {
  await using server = await FakeServer.start(json(200, { name: "p", bytes: 5 }));
  server.extensions = ["process.stdin"];
  const session = server.client().sessions.attach("abc");
  assert.deepEqual(await session.writeStdin("p", "日\n", { eof: false }), { name: "p", bytes: 5 });
  await session.writeStdin("p", Uint8Array.of(0, 255), { eof: true });
  await session.closeStdin("p");
  assert.deepEqual(
    server.calls.map(({ method, url, bytes }) => [method, url, bytes.toString("hex")]),
    [
      ["POST", `${S}/processes/p/stdin`, "e697a50a"],
      ["POST", `${S}/processes/p/stdin?eof=true`, "00ff"],
      ["POST", `${S}/processes/p/stdin?eof=true`, ""],
    ],
  );
});

test("a server is asked for its extensions once per client, also by many at once", async () => {
  await using server = await FakeServer.start(json(200, ANSWER));
  server.extensions = ["exec.env"];
  const client = server.client();
  const session = client.sessions.attach("abc");
  await Promise.all(Array.from({ length: 10 }, () => session.exec("x", { env: { A: "1" } })));
  assert.deepEqual([...(await client.extensions())], ["exec.env"]);
  assert.equal(server.requests.filter(({ url }) => url === "/v1/healthz").length, 1);
});

test("a server without a health answer has no extensions; one that failed is asked again", async () => {
  await using none = await FakeServer.start(json(200, {}));
  none.server.removeAllListeners("request");
  let status = 404;
  none.server.on("request", (_, response) =>
    response.writeHead(status).end('{"status":"ok","extensions":["exec.env"]}'),
  );
  assert.equal((await none.client().extensions()).size, 0);
  status = 503;
  const client = none.client();
  await assert.rejects(client.extensions(), { status: 503 });
  status = 200;
  assert.equal((await client.extensions()).has("exec.env"), true);
  assert.deepEqual(await client.health(), { status: "ok", extensions: ["exec.env"] });
});
