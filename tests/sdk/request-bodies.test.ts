// SPDX-License-Identifier: Apache-2.0
// What each call puts on the wire: method, path, query, body, and nothing that the caller did not set.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Client, Session } from "@inis-run/sdk";
import { FakeServer, json, TOKEN } from "./support/fake-server.js";

const ANSWER = { session_id: "abc", state: "live", content: "", encoding: "base64" };

type Case = [
  name: string,
  call: (session: Session, client: Client) => Promise<unknown>,
  method: string,
  url: string,
  body?: unknown,
];

const S = "/v1/sessions/abc";

const connection = {
  origin: "https://api.example.com",
  authentication: { type: "header", secret: "s", headerName: "X-Key" },
  allow: { methods: ["GET"], paths: ["/v1/*"] },
  ttlSeconds: 60,
} as const;
const wireConnection = {
  origin: "https://api.example.com",
  authentication: { type: "header", secret: "s", header_name: "X-Key" },
  allow: { methods: ["GET"], paths: ["/v1/*"] },
  ttl_seconds: 60,
};
const shell = (text: string): string[] => ["bash", "-lc", text];

const cases: Case[] = [
  ["create with nothing", (_, c) => c.sessions.create(), "POST", "/v1/sessions", {}],
  [
    "create with values that mean nothing",
    (_, c) =>
      c.sessions.create({
        name: "",
        maxLifetimeMs: 0,
        idleTimeoutMs: 0,
        noSudo: false,
        wakeOnHttp: true,
        destroyOnCompletion: false,
        events: false,
      }),
    "POST",
    "/v1/sessions",
    {},
  ],
  [
    "create with a policy of no mode",
    (_, c) => c.sessions.create({ egress: {} }),
    "POST",
    "/v1/sessions",
    { egress: { mode: "allow" } },
  ],
  [
    "create with a paused TTL of 0",
    (_, c) => c.sessions.create({ pausedTtlMs: 0 }),
    "POST",
    "/v1/sessions",
    { paused_ttl_ms: 0 },
  ],
  [
    "create with everything",
    (_, c) =>
      c.sessions.create({
        name: "n",
        labels: { team_a: "b" },
        externalId: "e",
        volumeId: "v",
        maxLifetimeMs: 1,
        idleTimeoutMs: 2,
        idleMode: "activity",
        egress: { mode: "deny", allow: ["example.com"] },
        template: "python",
        size: "large",
        noSudo: true,
        wakeOnHttp: false,
        onPtyDetach: "destroy",
        pausedTtlMs: -1,
        destroyOnCompletion: true,
        commandCapture: "full",
        env: { A_B: "1" },
        secrets: { S_T: "2" },
        connectors: ["c"],
        connections: [{ name: "k", ...connection, allow: { methods: ["GET"], paths: ["/v1/*"] } }],
        events: true,
        onStatus: () => {},
        wait: true,
        timeoutMs: 5000,
      }),
    "POST",
    "/v1/sessions",
    {
      name: "n",
      labels: { team_a: "b" },
      external_id: "e",
      volume_id: "v",
      max_lifetime_ms: 1,
      idle_timeout_ms: 2,
      idle_mode: "activity",
      egress: { mode: "deny", allow: ["example.com"] },
      template: "python",
      size: "large",
      no_sudo: true,
      wake_on_http: false,
      on_pty_detach: "destroy",
      paused_ttl_ms: -1,
      destroy_on_completion: true,
      command_capture: "full",
      env: { A_B: "1" },
      secrets: { S_T: "2" },
      connectors: ["c"],
      connections: [{ name: "k", ...wireConnection }],
      events: true,
    },
  ],
  ["list", (_, c) => c.sessions.list(), "GET", "/v1/sessions"],
  [
    "list with everything",
    (_, c) => c.sessions.list({ state: "ended", limit: 5, cursor: "a=b", externalId: "x y" }),
    "GET",
    "/v1/sessions?state=ended&limit=5&cursor=a%3Db&external_id=x+y",
  ],
  ["get", (s) => s.get(), "GET", S],
  ["usage of a session", (s) => s.usage(), "GET", `${S}/usage`],
  ["pause", (s) => s.pause(), "POST", `${S}/pause`, {}],
  ["resume", (_, c) => c.sessions.resume("abc"), "POST", `${S}/resume`, {}],
  ["fork", (s) => s.fork(3), "POST", `${S}/fork`, { count: 3 }],
  ["archiveRetry", (s) => s.archiveRetry(), "POST", `${S}/archive/retry`, {}],
  ["destroy", (s) => s.destroy(), "DELETE", S],
  ["destroy with a reason", (s) => s.destroy({ reason: "shell_exit" }), "DELETE", `${S}?reason=shell_exit`],

  ["exec of a string", (s) => s.exec("ls | wc"), "POST", `${S}/exec`, { command: shell("ls | wc") }],
  [
    "exec of an array",
    (s) => s.exec(["ls", "-l"], { cwd: "/tmp", timeoutMs: 9 }),
    "POST",
    `${S}/exec`,
    { command: ["ls", "-l"], cwd: "/tmp", timeout_ms: 9 },
  ],
  ["exec with no time limit", (s) => s.exec("x", { timeoutMs: 0 }), "POST", `${S}/exec`, { command: shell("x") }],
  [
    "batchExec",
    (_, c) => c.sessions.batchExec({ sessionIds: ["a", "b"], command: "x" }),
    "POST",
    "/v1/sessions/batch/exec",
    { session_ids: ["a", "b"], command: shell("x") },
  ],
  [
    "batchExec with everything",
    (_, c) => c.sessions.batchExec({ sessionIds: ["a"], command: ["x"], cwd: "/tmp", timeoutMs: 5 }),
    "POST",
    "/v1/sessions/batch/exec",
    { session_ids: ["a"], command: ["x"], cwd: "/tmp", timeout_ms: 5 },
  ],
  [
    "execute",
    (_, c) => c.execute({ language: "python", code: "1" }),
    "POST",
    "/v1/sessions/exec",
    { language: "python", code: "1" },
  ],
  [
    "execute with everything",
    (_, c) =>
      c.execute({
        language: "node",
        code: "1",
        dependencies: ["x"],
        volumeId: "v",
        timeoutMs: 1,
        size: "small",
        template: "t",
        noSudo: true,
        commandCapture: "hash",
      }),
    "POST",
    "/v1/sessions/exec",
    {
      language: "node",
      code: "1",
      dependencies: ["x"],
      volume_id: "v",
      timeout_ms: 1,
      size: "small",
      template: "t",
      no_sudo: true,
      command_capture: "hash",
    },
  ],

  ["checkpoint", (s) => s.checkpoint(), "POST", `${S}/checkpoints`, {}],
  [
    "checkpoint with a name",
    (s) => s.checkpoint({ name: "n", labels: { a: "b" } }),
    "POST",
    `${S}/checkpoints`,
    { name: "n", labels: { a: "b" } },
  ],
  ["checkpoints", (s) => s.checkpoints(), "GET", `${S}/checkpoints`],
  ["restore", (s) => s.restore("chk_1"), "POST", `${S}/restore`, { checkpoint_id: "chk_1" }],
  ["checkpoints.get", (_, c) => c.checkpoints.get("chk_1"), "GET", "/v1/checkpoints/chk_1"],
  ["checkpoints.delete", (_, c) => c.checkpoints.delete("chk_1"), "DELETE", "/v1/checkpoints/chk_1"],
  [
    "checkpoints.createSession",
    (_, c) => c.checkpoints.createSession("chk_1", { name: "n", idleTimeoutMs: 5 }),
    "POST",
    "/v1/checkpoints/chk_1/sessions",
    { name: "n", idle_timeout_ms: 5 },
  ],
  ["saveAsTemplate", (s) => s.saveAsTemplate("t"), "POST", `${S}/templates`, { name: "t" }],
  ["templates.list", (_, c) => c.templates.list(), "GET", "/v1/templates"],
  [
    "templates.import",
    (_, c) => c.templates.import("python:3", "t", { description: "d" }),
    "POST",
    "/v1/templates",
    { from_image: "python:3", name: "t", description: "d" },
  ],
  ["templates.delete", (_, c) => c.templates.delete("a/b"), "DELETE", "/v1/templates/a%2Fb"],
  [
    "captureArtifacts",
    (s) => s.captureArtifacts(["/workspace/*"]),
    "POST",
    `${S}/artifacts`,
    { paths: ["/workspace/*"] },
  ],
  [
    "captureArtifacts to a bucket",
    (s) => s.captureArtifacts(["a"], { destination: { type: "s3", bucket: "b" } }),
    "POST",
    `${S}/artifacts`,
    { paths: ["a"], destination: { type: "s3", bucket: "b" } },
  ],
  ["artifacts", (s) => s.artifacts(), "GET", `${S}/artifacts`],
  ["artifacts.get", (_, c) => c.artifacts.get("art_1"), "GET", "/v1/artifacts/art_1"],
  ["artifacts.extend", (_, c) => c.artifacts.extend("art_1", 3), "POST", "/v1/artifacts/art_1/extend", { ttl_days: 3 }],
  ["artifacts.delete", (_, c) => c.artifacts.delete("art_1"), "DELETE", "/v1/artifacts/art_1"],

  ["expose", (s) => s.expose(80), "POST", `${S}/expose`, { port: 80, visibility: "token" }],
  ["expose by a word", (s) => s.expose(80, "public"), "POST", `${S}/expose`, { port: 80, visibility: "public" }],
  [
    "expose with a bearer",
    (s) => s.expose(80, { auth: "bearer" }),
    "POST",
    `${S}/expose`,
    { port: 80, visibility: "token", auth: "bearer" },
  ],
  ["unexpose", (s) => s.unexpose(80), "POST", `${S}/unexpose`, { port: 80 }],
  ["getEgress", (s) => s.getEgress(), "GET", `${S}/egress`],
  ["setEgress", (s) => s.setEgress({}), "POST", `${S}/egress`, { mode: "deny", allow: [] }],
  [
    "rotateConnection",
    (s) => s.rotateConnection("a b", { ...connection, allow: { methods: ["GET"], paths: ["/v1/*"] } }),
    "PUT",
    `${S}/connections/a%20b`,
    wireConnection,
  ],
  ["revokeConnection", (s) => s.revokeConnection("k"), "DELETE", `${S}/connections/k`],

  ["readFile", (s) => s.readFile("a b/c"), "GET", `${S}/files?path=a+b%2Fc&op=read`],
  ["readFile as bytes", (s) => s.readFile("a", "base64"), "GET", `${S}/files?path=a&op=read&encoding=base64`],
  ["listFiles", (s) => s.listFiles("/workspace"), "GET", `${S}/files?path=%2Fworkspace&op=list`],
  ["findFiles", (s) => s.findFiles("*.py"), "GET", `${S}/files?path=%2Fworkspace&op=find&pattern=*.py`],
  [
    "findFiles with everything",
    (s) => s.findFiles("*", { path: "/workspace/a", maxResults: 2 }),
    "GET",
    `${S}/files?path=%2Fworkspace%2Fa&op=find&pattern=*&max_results=2`,
  ],
  [
    "grepFiles",
    (s) => s.grepFiles("x", { caseSensitive: false }),
    "GET",
    `${S}/files?path=%2Fworkspace&op=grep&pattern=x`,
  ],
  [
    "grepFiles with everything",
    (s) =>
      s.grepFiles("x", {
        path: "p",
        filePattern: "*.c",
        caseSensitive: true,
        contextLines: 1,
        maxResults: 2,
        excludeDirs: ["a", "b"],
      }),
    "GET",
    `${S}/files?path=p&op=grep&pattern=x&file_pattern=*.c&case_sensitive=true&context_lines=1&max_results=2&exclude_dirs=a%2Cb`,
  ],
  ["writeFile", (s) => s.writeFile("a", ""), "PUT", `${S}/files`, { path: "a", content: "" }],
  [
    "writeFile of bytes",
    (s) => s.writeFile("a", Uint8Array.of(0, 255)),
    "PUT",
    `${S}/files`,
    { path: "a", content: "AP8=", encoding: "base64" },
  ],
  [
    "writeFile of encoded text",
    (s) => s.writeFile("a", "AP8=", "base64"),
    "PUT",
    `${S}/files`,
    { path: "a", content: "AP8=", encoding: "base64" },
  ],
  [
    "writeFiles",
    (_, c) =>
      c.sessions.writeFiles("abc", [
        { path: "a", content: "x" },
        { path: "b", content: Uint8Array.of(1) },
      ]),
    "PUT",
    `${S}/files/batch`,
    {
      files: [
        { path: "a", content: "x" },
        { path: "b", content: "AQ==", encoding: "base64" },
      ],
    },
  ],
  ["mkdir", (s) => s.mkdir("d"), "POST", `${S}/files/mkdir`, { path: "d" }],
  ["remove", (s) => s.remove("d"), "DELETE", `${S}/files?path=d`],
  [
    "remove with all that is in it",
    (s) => s.remove("d", { recursive: true }),
    "DELETE",
    `${S}/files?path=d&recursive=true`,
  ],
  ["rename", (s) => s.rename("a", "b"), "POST", `${S}/files/rename`, { path: "a", dest_path: "b" }],
  ["files.read", (s) => s.files.read("a"), "POST", `${S}/files`, { op: "read", path: "a" }],
  [
    "files.write",
    (s) => s.files.write("a", "x", { timeoutMs: 3 }),
    "POST",
    `${S}/files`,
    { op: "write", path: "a", content: "x", timeout_ms: 3 },
  ],
  ["files.list", (s) => s.files.list(), "POST", `${S}/files`, { op: "list", path: "/workspace" }],

  [
    "startProcess",
    (s) => s.startProcess("p", "x"),
    "POST",
    `${S}/processes`,
    { name: "p", command: shell("x"), keep_alive: false },
  ],
  [
    "startProcess with everything published",
    (s) => s.startProcess("p", ["x"], { cwd: "/c", keepAlive: true, stdin: false }),
    "POST",
    `${S}/processes`,
    { name: "p", command: ["x"], keep_alive: true, cwd: "/c" },
  ],
  ["listProcesses", (s) => s.listProcesses(), "GET", `${S}/processes`],
  ["getProcess", (s) => s.getProcess("a b%"), "GET", `${S}/processes/a%20b%25`],
  ["killProcess", (s) => s.killProcess("p"), "DELETE", `${S}/processes/p`],
  ["getProcessLogs", (s) => s.getProcessLogs("p"), "GET", `${S}/processes/p/logs`],

  ["capacity", (_, c) => c.capacity(), "GET", "/v1/org"],
  ["usage", (_, c) => c.usage({ since: "s", groupBy: "label:a" }), "GET", "/v1/usage?since=s&group_by=label%3Aa"],
  ["registries.list", (_, c) => c.registries.list(), "GET", "/v1/registry-credentials"],
  [
    "registries.add",
    (_, c) => c.registries.add("r", { registryHost: "h", username: "u", secret: "s" }),
    "POST",
    "/v1/registry-credentials",
    { name: "r", registry_host: "h", username: "u", secret: "s" },
  ],
  ["registries.delete", (_, c) => c.registries.delete("r"), "DELETE", "/v1/registry-credentials/r"],
  ["connectors.list", (_, c) => c.connectors.list(), "GET", "/v1/connectors"],
  [
    "connectors.add",
    (_, c) => c.connectors.add("k", { targetBaseUrl: "https://x", secret: "s" }),
    "POST",
    "/v1/connectors",
    { name: "k", target_base_url: "https://x", auth_shape: "bearer", secret: "s" },
  ],
  ["connectors.delete", (_, c) => c.connectors.delete("k"), "DELETE", "/v1/connectors/k"],
  ["webhooks.list", (_, c) => c.webhooks.list(), "GET", "/v1/org/webhooks"],
  ["webhooks.add", (_, c) => c.webhooks.add("https://x"), "POST", "/v1/org/webhooks", { url: "https://x" }],
  [
    "webhooks.add for types",
    (_, c) => c.webhooks.add("u", { eventTypes: ["a"] }),
    "POST",
    "/v1/org/webhooks",
    { url: "u", event_types: ["a"] },
  ],
  ["webhooks.delete", (_, c) => c.webhooks.delete("w"), "DELETE", "/v1/org/webhooks/w"],
  ["webhooks.test", (_, c) => c.webhooks.test("w"), "POST", "/v1/org/webhooks/w/test"],
  ["webhooks.deliveries", (_, c) => c.webhooks.deliveries("w", 5), "GET", "/v1/org/webhooks/w/deliveries?limit=5"],
  ["domains.list", (_, c) => c.domains.list(), "GET", "/v1/org/domains"],
  ["domains.add", (_, c) => c.domains.add("x.example"), "POST", "/v1/org/domains", { domain: "x.example" }],
  ["domains.delete", (_, c) => c.domains.delete("d"), "DELETE", "/v1/org/domains/d"],
  ["domains.verify", (_, c) => c.domains.verify("d"), "POST", "/v1/org/domains/d/verify"],
  [
    "domains.route",
    (_, c) => c.domains.route("d", "abc", 80),
    "PUT",
    "/v1/org/domains/d/route",
    { session_id: "abc", port: 80 },
  ],
  ["domains.unroute", (_, c) => c.domains.unroute("d"), "DELETE", "/v1/org/domains/d/route"],
  ["volumes.create", (_, c) => c.volumes.create(), "POST", "/v1/volumes", {}],
  ["volumes.create with a size", (_, c) => c.volumes.create({ sizeGb: 2 }), "POST", "/v1/volumes", { size_gb: 2 }],
  ["volumes.list", (_, c) => c.volumes.list(), "GET", "/v1/volumes"],
  ["volumes.get", (_, c) => c.volumes.get("v"), "GET", "/v1/volumes/v"],
  ["volumes.resize", (_, c) => c.volumes.resize("v", 5), "PATCH", "/v1/volumes/v", { size_gb: 5 }],
  ["volumes.delete", (_, c) => c.volumes.delete("v"), "DELETE", "/v1/volumes/v"],
];

test("L10_unset_options_stay_out_of_the_request", async (t) => {
  await using server = await FakeServer.start(json(200, ANSWER));
  const client = server.client();
  const session = client.sessions.attach("abc");
  for (const [name, call, method, url, body] of cases) {
    await t.test(name, async () => {
      server.requests.length = 0;
      await call(session, client);
      assert.equal(server.requests.length, 1, "one call is one request, and published fields need no question first");
      const [request] = server.requests;
      assert.equal(`${request?.method} ${request?.url}`, `${method} ${url}`);
      assert.equal(request?.headers.authorization, `Bearer ${TOKEN}`);
      assert.deepEqual(request?.body ? JSON.parse(request.body) : undefined, body);
      assert.equal(request?.headers["content-type"], body === undefined ? undefined : "application/json");
    });
  }
});

test("the idempotency key is a header and never in the body", async () => {
  await using server = await FakeServer.start(json(201, ANSWER));
  await server.client().sessions.create({ idempotencyKey: "key 1" });
  assert.equal(server.calls[0]?.headers["idempotency-key"], "key 1");
  assert.equal(server.calls[0]?.body, "{}");
});

test("ids go into the path as they are, and what would change the path is refused", async () => {
  await using server = await FakeServer.start(json(200, ANSWER));
  const client = server.client();
  await client.sessions.get("ses_A-1~x:y@z");
  assert.equal(server.calls[0]?.url, "/v1/sessions/ses_A-1~x:y@z");
  for (const id of ["", ".", "..", "a/b", "a?b", "a#b", "a%2fb", "a b"]) {
    await assert.rejects(client.sessions.get(id), { name: "InisError", code: "validation" });
  }
  for (const name of ["", ".", ".."]) {
    await assert.rejects(client.sessions.attach("abc").killProcess(name), { code: "validation" });
  }
  assert.equal(server.calls.length, 1);
});

test("one slash at the end of the base URL is taken away", async () => {
  await using server = await FakeServer.start(json(200, ANSWER));
  const client = server.client({ baseUrl: `${server.url}/` });
  assert.equal(client.baseUrl, server.url);
  await client.sessions.get("abc");
  assert.equal(server.calls[0]?.url, "/v1/sessions/abc");
});
