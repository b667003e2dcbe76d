// SPDX-License-Identifier: Apache-2.0
// How answers become errors.

import assert from "node:assert/strict";
import { test } from "node:test";
import { InisError } from "@inis-run/sdk";
import { FakeServer, json } from "./support/fake-server.js";

/** code → HTTP status, retryable. */
const table: [code: string, status: number, retryable: boolean][] = [
  ["validation", 400, false],
  ["bad_request", 400, false],
  ["payload_too_large", 400, false],
  ["unauthenticated", 401, false],
  ["unauthorized", 401, false],
  ["payment_required", 402, false],
  ["forbidden", 403, false],
  ["not_found", 404, false],
  ["method_not_allowed", 405, false],
  ["conflict", 409, false],
  ["idempotency_key_in_progress", 409, true],
  ["session_not_live", 409, true],
  ["session_ended", 410, false],
  ["session_node_lost", 410, false],
  ["rate_limited", 429, true],
  ["concurrency_limit_exceeded", 429, true],
  ["rate_limit_exceeded", 429, true],
  ["account_concurrency_exceeded", 429, true],
  ["key_concurrency_exceeded", 429, true],
  ["internal", 500, false],
  ["internal_error", 500, false],
  ["not_implemented", 501, false],
  ["bad_gateway", 502, true],
  ["unavailable", 503, true],
  ["service_unavailable", 502, true],
  ["session_unavailable", 503, true],
  ["session_node_unavailable", 503, true],
  ["template_version_unavailable", 503, true],
  ["archive_unavailable", 503, false],
  ["size_unavailable", 503, false],
  ["org_has_other_members", 409, false],
  ["something_new", 418, false],
];

async function refusal(status: number, body: string, headers: Record<string, string> = {}): Promise<InisError> {
  await using server = await FakeServer.start(({ response }) => {
    response.writeHead(status, headers).end(body);
  });
  const error = await server
    .client()
    .sessions.get("abc")
    .then(
      () => undefined,
      (reason: unknown) => reason,
    );
  assert.ok(error instanceof InisError && error instanceof Error);
  return error;
}

for (const [code, status, retryable] of table) {
  test(`the code ${code} arrives as it was sent and is ${retryable ? "" : "not "}retryable`, async () => {
    const body = { error: "some text", code, field: "x" };
    const error = await refusal(status, JSON.stringify(body), { "X-Inis-Request-Id": "req_abc123" });
    const { name, message, requestId, response } = error;
    assert.deepEqual(
      { name, message, requestId, response, code: error.code, status: error.status, retryable: error.retryable },
      {
        name: "InisError",
        message: `${status}: some text`,
        requestId: "req_abc123",
        response: body,
        code,
        status,
        retryable,
      },
    );
    assert.equal(error.retryAfter, undefined);
  });
}

test("Retry-After makes any error retryable, in seconds or as a date", async () => {
  const seconds = await refusal(503, '{"error":"e","code":"archive_unavailable"}', { "Retry-After": "7" });
  assert.deepEqual([seconds.retryable, seconds.retryAfter], [true, 7]);
  const date = await refusal(500, "{}", { "Retry-After": new Date(Date.now() + 60_000).toUTCString() });
  assert.equal(date.retryable, true);
  assert.ok(date.retryAfter !== undefined && date.retryAfter > 30 && date.retryAfter <= 61);
  const past = await refusal(500, "{}", { "Retry-After": new Date(0).toUTCString() });
  assert.deepEqual([past.retryable, past.retryAfter], [true, 0]);
  const nonsense = await refusal(500, "{}", { "Retry-After": "soon" });
  assert.deepEqual([nonsense.retryable, nonsense.retryAfter], [false, undefined]);
});

const texts: [body: string, message: string][] = [
  ["", "502: HTTP 502"],
  ["upstream is gone\n", "502: upstream is gone"],
  ['{"code":"x"}', '502: {"code":"x"}'],
  ['["a"]', '502: ["a"]'],
  ['{"error":5}', '502: {"error":5}'],
];
for (const [body, message] of texts) {
  test(`an answer of ${JSON.stringify(body)} has the message ${JSON.stringify(message)}`, async () => {
    const error = await refusal(502, body);
    assert.equal(error.message, message);
    assert.equal(error.code, body === '{"code":"x"}' ? "x" : "error");
  });
}

test("a redirect is an error and the key is not sent after it", async () => {
  await using other = await FakeServer.start(json(200, {}));
  const error = await refusal(302, "", { Location: other.url });
  assert.deepEqual([error.status, error.message], [302, "302: HTTP 302"]);
  assert.equal(other.requests.length, 0);
});

test("success without a body, with 204 or with an empty one, is fine anywhere", async () => {
  for (const status of [200, 201, 204]) {
    await using server = await FakeServer.start(({ response }) => void response.writeHead(status).end());
    const client = server.client();
    const session = client.sessions.attach("abc");
    await session.destroy();
    await session.writeFile("a", "b");
    assert.deepEqual(await session.listFiles("."), []);
    assert.equal((await session.exec("x")).exitCode, 0);
    assert.deepEqual((await client.sessions.list()).sessions, []);
  }
});

test("success that is not JSON is an error of its own", async () => {
  const error = await refusal(200, "<html>", { "X-Inis-Request-Id": "req_1" });
  assert.deepEqual([error.code, error.status, error.requestId], ["invalid_response", 200, "req_1"]);
  assert.ok(error.cause instanceof SyntaxError);
});

test("a network failure is the platform's own error", async () => {
  const server = await FakeServer.start(json(200, {}));
  const client = server.client();
  await server[Symbol.asyncDispose]();
  await assert.rejects(
    client.sessions.get("abc"),
    (error) => error instanceof TypeError && !(error instanceof InisError),
  );
});

test("an InisError made by hand has the documented defaults", () => {
  const error = new InisError("text");
  assert.deepEqual([error.name, error.message, error.code, error.retryable], ["InisError", "text", "error", false]);
  assert.deepEqual(
    [error.status, error.retryAfter, error.requestId, error.response],
    [undefined, undefined, undefined, undefined],
  );
  const cause = new Error("why");
  assert.equal(new InisError("text", { cause, code: "c", retryable: true }).cause, cause);
});
