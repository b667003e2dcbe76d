// SPDX-License-Identifier: Apache-2.0
// Creating sessions: waiting until they are ready, and giving back those that will not be.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeServer, json } from "./support/fake-server.js";

/** A server whose new session goes through these states, the last one for good. */
function creating(...states: Record<string, unknown>[]): Promise<FakeServer> {
  let asked = 0;
  return FakeServer.start((exchange) => {
    if (exchange.recorded.method === "DELETE") return json(200, {})(exchange);
    const state = states[Math.min(asked++, states.length - 1)];
    return json(202, { session_id: "abc", ...state })(exchange);
  });
}

function summary(server: FakeServer): string[] {
  return server.calls.map(({ method, url }) => `${method} ${url}`);
}

test("a session that is live at once needs one request", async () => {
  await using server = await creating({ state: "live" });
  const session = await server.client().sessions.create();
  assert.equal(session.sessionId, "abc");
  assert.deepEqual(summary(server), ["POST /v1/sessions"]);
});

test("a session that is being made is asked for until it is ready, and each detail is told", async () => {
  await using server = await creating(
    { state: "creating", status_detail: "preparing_template" },
    { state: "creating", status_detail: "starting" },
    { state: "creating", status_detail: "starting" },
    { state: "live" },
  );
  const details: string[] = [];
  await server.client().sessions.create({ onStatus: (detail) => details.push(detail) });
  assert.deepEqual(details, ["preparing_template", "starting", "starting"]);
  assert.deepEqual(summary(server), ["POST /v1/sessions", ...Array(3).fill("GET /v1/sessions/abc")]);
});

test("wait: false returns at the acknowledgement", async () => {
  await using server = await creating({ state: "creating" });
  await server.client().sessions.create({ wait: false });
  assert.deepEqual(summary(server), ["POST /v1/sessions"]);
});

test("K4_a_session_that_failed_is_given_back_and_its_reason_told", async () => {
  await using server = await creating({ state: "creating" }, { state: "failed", status_reason: "no such image" });
  await assert.rejects(server.client().sessions.create(), {
    name: "InisError",
    message: "no such image",
    code: "session_failed",
  });
  assert.equal(summary(server).at(-1), "DELETE /v1/sessions/abc");
});

test("a failed session without a reason has the default text", async () => {
  await using server = await creating({ state: "failed" });
  await assert.rejects(server.client().sessions.create(), { message: "provisioning failed" });
});

test("K4_a_session_that_was_not_waited_for_is_given_back", async () => {
  await using server = await creating({ state: "creating" });
  const controller = new AbortController();
  const create = server.client().sessions.create({ signal: controller.signal, onStatus: () => {} });
  while (server.calls.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
  controller.abort();
  await assert.rejects(create, { name: "AbortError" });
  assert.equal(summary(server).at(-1), "DELETE /v1/sessions/abc");
});

test("K4_a_session_whose_state_cannot_be_read_is_given_back", async () => {
  await using server = await FakeServer.start((exchange) => {
    if (exchange.recorded.method === "GET") return json(503, { error: "later", code: "unavailable" })(exchange);
    return json(202, { session_id: "abc", state: "creating" })(exchange);
  });
  await assert.rejects(server.client().sessions.create(), { code: "unavailable" });
  assert.equal(summary(server).at(-1), "DELETE /v1/sessions/abc");
});

test("a session made with an idempotency key is never given back", async () => {
  await using server = await creating({ state: "failed" });
  await assert.rejects(server.client().sessions.create({ idempotencyKey: "k" }), { code: "session_failed" });
  assert.deepEqual(summary(server), ["POST /v1/sessions"]);
});

test("an answer without an id is an error", async () => {
  await using server = await FakeServer.start(json(201, { state: "live" }));
  await assert.rejects(server.client().sessions.create(), { code: "invalid_response" });
});

test("attaching sends nothing, and a session made from a checkpoint is not waited for", async () => {
  await using server = await FakeServer.start(json(201, { session_id: "new", state: "creating" }));
  const client = server.client();
  assert.equal(client.sessions.attach("abc").sessionId, "abc");
  assert.equal(server.requests.length, 0);
  assert.equal((await client.checkpoints.createSession("chk_1")).sessionId, "new");
  assert.deepEqual(summary(server), ["POST /v1/checkpoints/chk_1/sessions"]);
});

test("await using destroys the session", async () => {
  await using server = await creating({ state: "live" });
  {
    await using session = await server.client().sessions.create();
    await session.exec("x");
  }
  assert.equal(summary(server).at(-1), "DELETE /v1/sessions/abc");
});
