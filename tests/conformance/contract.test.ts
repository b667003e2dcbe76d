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

test("the_contract_covers_the_whole_protocol", () => {
  assert.equal(operations.length, 82);
  assert.equal(operations.filter(({ status }) => status === "built").length, 27);
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
