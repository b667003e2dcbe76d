// SPDX-License-Identifier: Apache-2.0
// HTTP itself: routes, verbs, keys, malformed and slow clients.
import assert from "node:assert/strict";
import { test } from "node:test";
import { operations } from "../support/contract.js";
import { role } from "../support/footprint.js";
import { eventually, parallel } from "../support/helpers.js";
import { suite } from "../support/suite.js";
import { head, Wire } from "../support/wire.js";

const t = suite();

const fill = (path: string) => path.replace("{id}", t.session.id).replace(/\{[^}]+\}/g, "some-name");

test("health_needs_no_key_and_names_the_extensions", async () => {
  const { json } = await t.client.expect(200, "GET", "/v1/healthz", { token: null });
  assert.equal(json.version, t.server.version);
  for (const name of [
    "exec.env",
    "exec.stdin",
    "exec.id",
    "exec.oom",
    "process.env",
    "process.stdin",
    "process.timeout",
    "process.kill",
    "process.logs.from",
    "files.mode",
    "files.stat",
    "files.range",
  ])
    assert((json.extensions as string[]).includes(name), name);
});

test("routes_that_are_planned_are_501_never_404", async () => {
  for (const operation of operations.filter(({ status }) => status === "planned")) {
    const path = fill(operation.path);
    for (const session of [path, path.replace(t.session.id, "a".repeat(21))]) {
      const json = ["GET", "DELETE"].includes(operation.method) ? undefined : {};
      const reply = await t.client.send(operation.method, session, { json });
      assert.deepEqual([reply.status, reply.json.code], [501, "not_implemented"], `${operation.method} ${session}`);
    }
  }
});

test("unknown_routes_are_404", async () => {
  for (const path of [
    "/",
    "/v1",
    "/v1/",
    "/v1/nope",
    "/v2/sessions",
    "/v1/sessions/x/y/z",
    "/v1//sessions",
    "/V1/sessions",
    "/v1/sessions/",
    "/v1/healthz/x",
  ]) {
    for (const method of ["GET", "POST", "DELETE"]) {
      const reply = await t.client.send(method, path);
      assert.deepEqual([reply.status, reply.json.code], [404, "not_found"], `${method} ${path}`);
    }
  }
});

test("known_routes_with_another_verb_are_405", async () => {
  const paths = new Set(operations.map(({ path }) => path));
  for (const path of paths) {
    const known = operations.filter((operation) => operation.path === path).map(({ method }) => method);
    const literal = /^\/v1\/sessions\/(exec|batch\/exec)$/.test(path);
    for (const method of ["GET", "PUT", "POST", "PATCH", "DELETE", "OPTIONS"].filter((verb) => !known.includes(verb))) {
      if (literal && path === "/v1/sessions/exec" && ["GET", "DELETE"].includes(method)) continue;
      const reply = await t.client.send(method, fill(path));
      assert.deepEqual([reply.status, reply.json.code], [405, "method_not_allowed"], `${method} ${path}`);
    }
  }
});

test("every_route_but_health_wants_a_good_key", async () => {
  const good = t.server.token;
  const bad = [
    null,
    "",
    "x",
    good.slice(0, -1),
    `${good}x`,
    good.toUpperCase(),
    `sk_${"A".repeat(43)}`,
    "x".repeat(5000),
  ];
  for (const operation of operations.filter(({ operationId }) => operationId !== "getHealth")) {
    const reply = await t.client.send(operation.method, fill(operation.path), { token: null });
    assert.deepEqual(
      [reply.status, reply.json.code],
      [401, "unauthenticated"],
      `${operation.method} ${operation.path}`,
    );
  }
  for (const token of bad) {
    const reply = await t.client.send("GET", "/v1/sessions", { token });
    assert.deepEqual([reply.status, reply.json.code], [401, "unauthenticated"], String(token).slice(0, 60));
  }
  for (const authorization of [`Basic ${good}`, good, `Bearer${good}`, `Token ${good}`, `Bearer ${good} ${good}`]) {
    const reply = await t.client.send("GET", "/v1/sessions", { token: null, headers: { authorization } });
    assert.equal(reply.status, 401, authorization.slice(0, 12));
  }
});

test("a_request_without_a_key_creates_nothing_and_its_body_is_not_waited_for", async () => {
  const wire = await Wire.open(t.server);
  wire.send(`POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 60000000\r\n\r\n{`);
  await wire.refusal(401, "unauthenticated");
  wire.close();
});

const host = () => `Host: ${new URL(t.server.baseUrl).host}`;
const auth = () => `Authorization: Bearer ${t.server.token}`;
const MALFORMED: Record<string, () => string> = {
  garbage: () => "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
  no_version: () => `GET /v1/healthz\r\n${host()}\r\n\r\n`,
  bad_version: () => `GET /v1/healthz HTTP/9.9\r\n${host()}\r\n\r\n`,
  unknown_method: () => `BREW /v1/healthz HTTP/1.1\r\n${host()}\r\n\r\n`,
  no_host: () => "GET /v1/healthz HTTP/1.1\r\n\r\n",
  two_hosts: () => `GET /v1/healthz HTTP/1.1\r\n${host()}\r\n${host()}\r\n\r\n`,
  two_keys: () => `GET /v1/org HTTP/1.1\r\n${host()}\r\n${auth()}\r\nAuthorization: Bearer other\r\n\r\n`,
  two_types: () =>
    `POST /v1/sessions HTTP/1.1\r\n${host()}\r\n${auth()}\r\nContent-Type: a/b\r\nContent-Type: c/d\r\n\r\n`,
  two_idempotency_keys: () =>
    `POST /v1/sessions HTTP/1.1\r\n${host()}\r\n${auth()}\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\n\r\n`,
  content_coding: () => `POST /v1/sessions HTTP/1.1\r\n${host()}\r\n${auth()}\r\nContent-Encoding: gzip\r\n\r\n`,
  folded_header: () => `GET /v1/healthz HTTP/1.1\r\n${host()}\r\nX-A: b\r\n c\r\n\r\n`,
  space_before_colon: () => `GET /v1/healthz HTTP/1.1\r\n${host()}\r\nX-A : b\r\n\r\n`,
  nul_in_header: () => `GET /v1/healthz HTTP/1.1\r\n${host()}\r\nX-A: b\0c\r\n\r\n`,
  bare_cr: () => `GET /v1/healthz HTTP/1.1\r\n${host()}\r\nX-A: b\rX-B: c\r\n\r\n`,
  bare_lf: () => `GET /v1/healthz HTTP/1.1\n${host()}\n\n`,
  length_and_chunked: () =>
    `POST /v1/sessions HTTP/1.1\r\n${host()}\r\n${auth()}\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  two_lengths: () =>
    `POST /v1/sessions HTTP/1.1\r\n${host()}\r\n${auth()}\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
  negative_length: () => `POST /v1/sessions HTTP/1.1\r\n${host()}\r\n${auth()}\r\nContent-Length: -1\r\n\r\n`,
  text_length: () => `POST /v1/sessions HTTP/1.1\r\n${host()}\r\n${auth()}\r\nContent-Length: two\r\n\r\n`,
  endless_length: () =>
    `POST /v1/sessions HTTP/1.1\r\n${host()}\r\n${auth()}\r\nContent-Length: 99999999999999999999\r\n\r\n`,
  unknown_coding: () => `POST /v1/sessions HTTP/1.1\r\n${host()}\r\n${auth()}\r\nTransfer-Encoding: gzip\r\n\r\n`,
  bad_chunk_size: () =>
    `POST /v1/sessions HTTP/1.1\r\n${host()}\r\n${auth()}\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n0\r\n\r\n`,
  huge_chunk_size: () =>
    `POST /v1/sessions HTTP/1.1\r\n${host()}\r\n${auth()}\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}\r\n0\r\n\r\n`,
  chunk_without_end: () =>
    `POST /v1/sessions HTTP/1.1\r\n${host()}\r\n${auth()}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}xx0\r\n\r\n`,
  absolute_other: () => `CONNECT example.com:443 HTTP/1.1\r\n${host()}\r\n\r\n`,
  long_line: () => `GET /v1/${"x".repeat(200_000)} HTTP/1.1\r\n${host()}\r\n\r\n`,
  long_header: () => `GET /v1/healthz HTTP/1.1\r\n${host()}\r\nX-A: ${"x".repeat(200_000)}\r\n\r\n`,
  many_headers: () => `GET /v1/healthz HTTP/1.1\r\n${host()}\r\n${"X-A: b\r\n".repeat(20_000)}\r\n`,
};

/** Requests, and what came in place of one, that the log says were refused with 400. */
const logged = () => t.server.logs().split('"status":"400"').length - 1;

for (const [name, bytes] of Object.entries(MALFORMED)) {
  test(`malformed_http_is_400_and_a_close (${name})`, async () => {
    const front = role(t.server, "front");
    const before = logged();
    const wire = await Wire.open(t.server);
    wire.send(Buffer.from(bytes(), "latin1"));
    await wire.refusal(400, "bad_request");
    await wire.untilClosed();
    await eventually("the log tells of it", () => logged() === before + 1);
    assert.equal(role(t.server, "front"), front);
    await t.client.expect(200, "GET", "/v1/healthz");
  });
}

test("heads_in_single_bytes_and_pipelined_requests_are_understood", async () => {
  const wire = await Wire.open(t.server);
  for (const byte of head(t.server, "GET", "/v1/healthz")) wire.send(byte);
  assert.equal((await wire.answer()).status, 200);
  wire.send(
    head(t.server, "GET", "/v1/org") + head(t.server, "GET", "/v1/nope") + head(t.server, "GET", "/v1/healthz"),
  );
  assert.deepEqual(
    [(await wire.answer()).status, (await wire.answer()).status, (await wire.answer()).status],
    [200, 404, 200],
  );
  wire.send(head(t.server, "GET", "/v1/healthz", "Connection: close"));
  assert.equal((await wire.answer()).status, 200);
  await wire.untilClosed();
});

test("every_request_has_an_id_of_its_own", async () => {
  const ids = await parallel(
    8,
    50,
    async () => (await t.client.send("GET", "/v1/healthz")).headers["x-inis-request-id"],
  );
  assert.equal(new Set(ids).size, 50);
});

test("expect_100_continue_is_answered", async () => {
  const wire = await Wire.open(t.server);
  const path = `/v1/sessions/${t.session.id}/files/stream?path=continued`;
  wire.send(head(t.server, "PUT", path, "Content-Length: 3", "Expect: 100-continue"));
  assert.equal((await wire.answer()).status, 100);
  wire.send("abc");
  assert.equal((await wire.answer()).status, 200);
  wire.close();
  assert.equal((await t.session.read("continued")).toString(), "abc");
});

test("many_connections_that_do_nothing_are_survived", async () => {
  const idle = await parallel(50, 300, () => Wire.open(t.server).catch(() => undefined));
  assert.equal(await t.session.output("echo served"), "served\n");
  for (const wire of idle) wire?.close();
});
