// SPDX-License-Identifier: Apache-2.0
// The contract document is sound, and the server's routes and extensions are those of the document.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { operations } from "../support/contract.js";
import { repository } from "../support/paths.js";
import { suite } from "../support/suite.js";

const t = suite();

test("the_contract_is_valid_and_keeps_its_own_rules", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(repository, "api/lint.mjs")]);
  assert.match(stdout, / 0 problems$/m);
});

/** What clients call, as they call it; a contract without one of these is broken. */
const PROTOCOL = `
POST GET /v1/sessions
GET DELETE /v1/sessions/{}
POST /v1/sessions/{}/pause
POST /v1/sessions/{}/resume
POST /v1/sessions/{}/fork
POST /v1/sessions/{}/archive/retry
GET /v1/sessions/{}/usage
POST /v1/sessions/{}/exec
POST /v1/sessions/batch/exec
POST /v1/sessions/exec
POST GET /v1/sessions/{}/checkpoints
POST /v1/sessions/{}/restore
GET DELETE /v1/checkpoints/{}
POST /v1/checkpoints/{}/sessions
POST /v1/sessions/{}/templates
GET POST /v1/templates
DELETE /v1/templates/{}
POST GET /v1/sessions/{}/artifacts
GET DELETE /v1/artifacts/{}
POST /v1/artifacts/{}/extend
POST /v1/sessions/{}/expose
POST /v1/sessions/{}/unexpose
GET POST /v1/sessions/{}/egress
GET POST /v1/sessions/{}/connections
PUT DELETE /v1/sessions/{}/connections/{}
GET PUT POST DELETE /v1/sessions/{}/files
PUT /v1/sessions/{}/files/batch
POST /v1/sessions/{}/files/mkdir
POST /v1/sessions/{}/files/rename
PUT GET /v1/sessions/{}/files/stream
POST GET /v1/sessions/{}/processes
GET DELETE /v1/sessions/{}/processes/{}
GET /v1/sessions/{}/processes/{}/logs
GET /v1/sessions/{}/pty
GET POST /v1/registry-credentials
DELETE /v1/registry-credentials/{}
GET POST /v1/connectors
DELETE /v1/connectors/{}
GET /v1/org
GET POST /v1/org/webhooks
DELETE /v1/org/webhooks/{}
POST /v1/org/webhooks/{}/test
GET /v1/org/webhooks/{}/deliveries
GET POST /v1/org/domains
DELETE /v1/org/domains/{}
POST /v1/org/domains/{}/verify
PUT DELETE /v1/org/domains/{}/route
POST GET /v1/volumes
GET PATCH DELETE /v1/volumes/{}
GET /v1/usage
GET /v1/events
GET /v1/healthz
POST GET /v1/sessions/{}/tokens
DELETE /v1/sessions/{}/tokens/{}`;

test("the_contract_covers_the_whole_protocol", () => {
  const covered = new Set(operations.map(({ method, path }) => `${method} ${path.replace(/\{[^}]+\}/g, "{}")}`));
  for (const line of PROTOCOL.trim().split("\n")) {
    const words = line.split(" ");
    for (const method of words.slice(0, -1))
      assert(covered.has(`${method} ${words.at(-1)}`), `${method} ${words.at(-1)}`);
  }
});

test("the_server_offers_exactly_the_extensions_of_the_contract", async () => {
  const text = readFileSync(join(repository, "api/openapi.yaml"), "utf8");
  const marked = new Set([...text.matchAll(/x-inis-extension: ([a-z.]+)/g)].map((match) => match[1]!));
  const { json } = await t.client.expect(200, "GET", "/v1/healthz");
  assert.deepEqual([...(json.extensions as string[])].sort(), [...marked].sort());
});

test("each_built_operation_is_answered_by_the_server", async () => {
  for (const operation of operations.filter(({ status }) => status === "built")) {
    const path = operation.path.replace("{id}", "a".repeat(21)).replace(/\{[^}]+\}/g, "none");
    const reply = await t.client.send(operation.method, path, { query: { path: "x", op: "read" } });
    assert.notEqual(reply.status, 501, operation.operationId);
    assert.notEqual(reply.status, 405, operation.operationId);
  }
});
