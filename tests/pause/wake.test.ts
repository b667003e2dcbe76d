// SPDX-License-Identifier: Apache-2.0
// Which operations wake a paused session, and which leave it alone.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../support/contract.js";
import { eventually, parallel, sleep } from "../support/helpers.js";
import { scaled } from "../support/paths.js";
import { Server } from "../support/server.js";
import { sh, TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite();

type Call = [method: string, rest: string, options?: { query?: Record<string, string | boolean>; json?: JsonObject }];

const WAKING: Call[] = [
  ["POST", "/exec", { json: { command: ["true"] } }],
  ["POST", "/exec", { query: { stream: true }, json: { command: ["true"] } }],
  ["GET", "/files", { query: { op: "read", path: "f" } }],
  ["GET", "/files", { query: { op: "list", path: "/workspace" } }],
  ["GET", "/files", { query: { op: "stat", path: "f" } }],
  ["PUT", "/files", { json: { path: "g", content: "x" } }],
  ["POST", "/files", { json: { op: "read", path: "f" } }],
  ["PUT", "/files/batch", { json: { files: [{ path: "h", content: "x" }] } }],
  ["POST", "/files/mkdir", { json: { path: "d" } }],
  ["POST", "/files/rename", { json: { path: "g", dest_path: "i" } }],
  ["GET", "/files/stream", { query: { path: "f" } }],
  ["DELETE", "/files", { query: { path: "i" } }],
  ["GET", "/processes"],
  ["GET", "/processes/p"],
  ["GET", "/processes/p/logs"],
  ["POST", "/processes", { json: { name: "q", command: ["true"], keep_alive: false } }],
  ["DELETE", "/processes/p"],
];

test("operations_on_the_guest_wake_a_paused_session", async () => {
  const session = await TestSession.create(t.client);
  await session.write("f", "content");
  await session.start("p", ["sleep", "600"]);
  for (const [method, rest, options] of WAKING) {
    await session.pause();
    const response = await t.client.open(method, session.path(rest), options);
    for await (const _ of response);
    assert([200, 204].includes(response.statusCode!), `${method} ${rest}: ${response.statusCode}`);
    assert.equal(await session.state(), "live", `${method} ${rest}`);
  }
  await session.pause();
  assert.equal((await session.send("GET", "/processes/none")).status, 404);
  assert.equal(await session.state(), "live", "also what then fails");
  await session.destroy();
});

test("looking_at_a_paused_session_does_not_wake_it", async () => {
  const session = await TestSession.create(t.client, { external_id: "asleep", lease_ms: 600_000 });
  const paused = await session.pause();
  await session.get();
  const queries: Record<string, string>[] = [{ external_id: "asleep" }, { state: "paused" }];
  for (const query of queries) {
    const { json } = await t.client.expect(200, "GET", "/v1/sessions", { query });
    const rows = json.sessions as JsonObject[];
    assert(rows.some((row) => row.session_id === session.id));
  }
  await session.expect(200, "GET", "/egress");
  await session.expect(200, "POST", "/lease");
  const { json } = await t.client.expect(200, "GET", "/v1/org");
  assert.equal((json.capacity as JsonObject).warm, 1);
  await session.expect(400, "POST", "/exec", { json: {} });
  assert.deepEqual(await session.get(), paused);
  await session.destroy();
});

test("a_paused_session_can_be_destroyed", async () => {
  const session = await TestSession.create(t.client, { external_id: "never woken" });
  await session.start("p", ["sleep", "600"]);
  await session.pause();
  await session.destroy();
  await session.expect(404, "POST", "/resume");
  await session.expect(404, "POST", "/pause");
  const { json } = await t.client.expect(200, "GET", "/v1/sessions", {
    query: { state: "ended", external_id: "never woken" },
  });
  assert.equal((json.sessions as JsonObject[])[0]?.end_reason, "client_destroy");
});

test("an_exec_at_the_very_moment_of_an_idle_pause_runs_or_says_try_again", async () => {
  const session = await TestSession.create(t.client, { idle_timeout_ms: 1000 });
  await session.output(": >ran");
  let ran = 0;
  for (let i = 0; i < scaled(60, 8); i++) {
    await sleep(975 + (i % 10) * 5);
    const reply = await session.send("POST", "/exec", { json: { command: sh("echo x >>ran; echo ok") } });
    if (reply.status === 409) assert.equal(reply.json.code, "session_not_live");
    else assert.deepEqual([reply.status, reply.json.stdout], [200, "ok\n"]);
    ran += reply.status === 200 ? 1 : 0;
  }
  assert.equal(await session.output("wc -l <ran"), `${ran}\n`, "none was lost, none ran twice");
  await session.destroy();
});

test("many_operations_at_once_wake_a_session_once", async () => {
  const session = await TestSession.create(t.client);
  await session.pause();
  const outputs = await parallel(20, 20, () => session.output("echo hello"));
  assert(outputs.every((output) => output === "hello\n"));
  assert.equal((await session.output("cat /run/inis/generation")).split("\n")[0], "1");
  await session.destroy();
});

test("a_resume_beyond_the_limit_of_running_sessions_is_429_and_leaves_it_paused", async () => {
  const server = await Server.start({ sessions_max: 1 });
  const client = server.client();
  const first = await TestSession.create(client);
  await first.pause();
  const second = await TestSession.create(client);
  const calls: Call[] = [
    ["POST", "/resume", { json: {} }],
    ["POST", "/exec", { json: { command: ["true"] } }],
  ];
  for (const call of calls) assert.equal((await first.expect(429, ...call)).json.code, "rate_limited");
  assert.equal(await first.state(), "paused");
  await second.destroy();
  await eventually("there is room again", async () => (await first.send("POST", "/resume")).status === 200);
  await first.destroy();
  await server.stop();
});
