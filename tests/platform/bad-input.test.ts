// SPDX-License-Identifier: Apache-2.0
// Every field of every request, wrong in every way that its schema knows: 400 naming the field, and nothing was done.
import assert from "node:assert/strict";
import { test } from "node:test";
import { deref, type JsonObject, type Operation, operations, type Schema } from "../support/contract.js";
import { role } from "../support/footprint.js";
import type { Reply } from "../support/http.js";
import { suite } from "../support/suite.js";
import { wrongTexts, wrongValues } from "../support/wrong.js";

let front: number;

const t = suite({}, async () => {
  await t.session.write("resident", "x");
  await t.session.start("resident", ["sleep", "3600"]);
  front = role(t.server, "front");
});

/** A good body for each operation that takes JSON. */
const GOOD: Record<string, JsonObject> = {
  createSession: {},
  execCommand: { command: ["true"] },
  startProcess: { name: "bad-input", command: ["sleep", "600"], keep_alive: false },
  writeFile: { path: "bad-input", content: "eA==", encoding: "base64" },
  legacyFiles: { op: "write", path: "bad-input", content: "x" },
  writeFiles: { files: [{ path: "bad-input", content: "x" }] },
  makeDirectory: { path: "bad-input" },
  renameFile: { path: "bad-input", dest_path: "bad-input-2" },
};
const GOOD_QUERY: Record<string, Record<string, string>> = {
  readFiles: { path: "resident", op: "read" },
  removeFile: { path: "resident" },
  uploadFile: { path: "bad-input" },
  downloadFile: { path: "resident" },
};
/** Parameters that count for a search only. */
const SEARCHING = ["pattern", "max_results", "file_pattern", "case_sensitive", "context_lines", "exclude_dirs"].concat([
  "no_hidden",
  "details",
  "max_depth",
]);
const goodQuery = (operationId: string, parameter: string): Record<string, string> =>
  operationId === "readFiles" && SEARCHING.includes(parameter)
    ? { path: ".", op: "grep", pattern: "x" }
    : (GOOD_QUERY[operationId] ?? {});

/** An upgrade, with tests of its own. */
const built = operations.filter(({ status, operationId }) => status === "built" && operationId !== "openPty");
const withBody = built.filter((operation) => operation.body && Object.keys(GOOD).includes(operation.operationId));

const pathOf = (operation: Operation) =>
  operation.path.replace("{id}", t.session.id).replace("{name}", "resident").replace("{exec_id}", "none");

/** Everything that a request could have made. */
async function world(): Promise<string> {
  const { json } = await t.client.expect(200, "GET", "/v1/sessions");
  const sessions = (json.sessions as { session_id: string }[]).map((row) => row.session_id);
  const { json: listed } = await t.session.expect(200, "GET", "/processes");
  const processes = (listed.processes as { name: string; state: string }[]).map((row) => [row.name, row.state]);
  return JSON.stringify({ sessions, processes, files: await t.session.list("/workspace") });
}

/** A test after which everything must be as it was before. */
function testWithoutEffect(name: string, body: () => Promise<void>): void {
  test(name, async () => {
    const before = await world();
    await body();
    assert.equal(await world(), before, "nothing was made or changed");
  });
}

function assertNames(reply: Reply, field: string, what: string): void {
  assert.equal(reply.status, 400, `${what}: ${reply.status} ${reply.body}`);
  assert.match(reply.json.code as string, /^(bad_request|payload_too_large|invalid_path)$/, what);
  const named = String(reply.json.field ?? "");
  assert(
    named === field || named.startsWith(`${field}.`) || named.startsWith(`${field}[`),
    `${what}: names ${named || "nothing"}`,
  );
}

const sendText = (operation: Operation, body: string | Buffer) =>
  t.client.send(operation.method, pathOf(operation), { body, headers: { "content-type": "application/json" } });

/** The good body as JSON text with one member replaced by the given text. */
function replaced(good: JsonObject, field: string, text: string): string {
  const { [field]: _, ...rest } = good;
  const members = Object.entries(rest).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  return `{${[...members, `${JSON.stringify(field)}:${text}`].join(",")}}`;
}

for (const operation of withBody) {
  const schema = operation.body as { properties: Record<string, Schema>; required?: string[] };
  const good = GOOD[operation.operationId]!;

  for (const [field, rule] of Object.entries(schema.properties)) {
    testWithoutEffect(`${operation.operationId}: a wrong ${field} is 400 naming it`, async () => {
      const planned = deref(rule)["x-inis-status"] === "planned";
      for (const wrong of wrongValues(rule)) {
        const reply = await sendText(operation, replaced(good, field, wrong.text));
        const what = `${field} = ${wrong.name}`;
        if (planned && [404, 501].includes(reply.status)) continue;
        if (wrong.unreadable && reply.status === 400) continue;
        assertNames(reply, field, what);
      }
    });
  }

  for (const field of schema.required ?? []) {
    testWithoutEffect(`${operation.operationId}: a missing ${field} is 400 naming it`, async () => {
      const { [field]: _, ...rest } = good;
      for (const body of [rest, { ...rest, [field]: null }])
        assertNames(await sendText(operation, JSON.stringify(body)), field, `without ${field}`);
    });
  }

  testWithoutEffect(`${operation.operationId}: a body that is not one JSON object is 400`, async () => {
    const text = JSON.stringify(good);
    const bodies: Record<string, string | Buffer> = {
      array: "[]",
      number: "1",
      string: '"x"',
      cut: text.slice(0, -1) || "{",
      trailing: `${text}x`,
      two: `${text}${text}`,
      comma: `${text.slice(0, -1)}${text === "{}" ? "" : ","},}`,
      comment: `/* x */${text}`,
      quotes: "{'a':1}",
      nan: '{"a":NaN}',
      deep: `{"a":${"[".repeat(40)}${"]".repeat(40)}}`,
      very_deep: `{"a":${"[".repeat(200_000)}`,
      duplicate: '{"a":1,"a":1}',
      latin1: Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xe9, 0x22, 0x7d]),
      overlong: Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xc0, 0xaf, 0x22, 0x7d]),
      utf16: Buffer.from(text, "utf16le"),
      raw_control: '{"a":"\n"}',
    };
    for (const [name, body] of Object.entries(bodies)) {
      const reply = await sendText(operation, body);
      assert.deepEqual([reply.status, reply.json.code], [400, "bad_request"], name);
    }
  });
}

for (const operation of built) {
  for (const parameter of operation.parameters.filter(({ in: place }) => place === "query")) {
    const { name, required } = parameter;
    testWithoutEffect(`${operation.operationId}: a wrong query parameter ${name} is 400 naming it`, async () => {
      const good = goodQuery(operation.operationId, name);
      const json = GOOD[operation.operationId];
      const body = json ? JSON.stringify(json) : operation.rawBody ? "x" : undefined;
      const send = (query: Record<string, string>) =>
        t.client.send(operation.method, pathOf(operation), { query, body });
      for (const text of wrongTexts(parameter.schema)) {
        const reply = await send({ ...good, [name]: text });
        if (parameter["x-inis-status"] === "planned" && reply.status !== 400) continue;
        assertNames(reply, name, `${name}=${JSON.stringify(text.slice(0, 40))}`);
      }
      if (required) {
        const { [name]: _, ...rest } = good;
        assertNames(await send(rest), name, `without ${name}`);
      }
    });
  }
}

testWithoutEffect("query_strings_that_do_not_decode_are_400", async () => {
  for (const query of [
    "path=%zz&op=list",
    "path=%ff%fe&op=list",
    "path=%&op=list",
    "path=a%00b&op=list",
    "path=%c0%af&op=list",
  ]) {
    const reply = await t.session.send("GET", `/files?${query}`);
    assert.equal(reply.status, 400, query);
  }
});

testWithoutEffect("path_segments_that_do_not_decode_are_refused", async () => {
  for (const segment of ["%zz", "%ff", "%00", "a%2fb", "%2e%2e"]) {
    const reply = await t.session.send("GET", `/processes/${segment}`);
    assert([400, 404].includes(reply.status), `${segment}: ${reply.status}`);
  }
});

testWithoutEffect("members_that_are_planned_are_refused_when_they_ask_for_something", async () => {
  const asks: JsonObject[] = [
    { volume_id: "vol_x" },
    { connectors: ["a"] },
    { from_checkpoint: "chk_x" },
    { events: true },
    { artifacts: { paths: ["/workspace/x"] } },
    {
      connections: [
        {
          name: "c",
          origin: "https://example.com",
          authentication: { type: "bearer", secret: "s" },
          allow: { methods: ["GET"], paths: ["/"] },
        },
      ],
    },
  ];
  for (const json of asks) {
    const reply = await t.client.send("POST", "/v1/sessions", { json });
    assert([404, 501].includes(reply.status), `${JSON.stringify(json)}: ${reply.status} ${reply.body}`);
  }
  const asNothing = { connectors: [], connections: [], events: false };
  const reply = await t.client.send("POST", "/v1/sessions", { json: asNothing });
  assert(reply.status < 300, `${reply.status} ${reply.body}`);
  await t.client.expect(204, "DELETE", `/v1/sessions/${reply.json.session_id}`);
});

testWithoutEffect("an_unknown_template_is_404_and_makes_nothing", async () => {
  const reply = await t.client.send("POST", "/v1/sessions", { json: { template: "no-such-template" } });
  assert.deepEqual([reply.status, reply.json.code], [404, "not_found"]);
});

testWithoutEffect("a_body_over_64_MiB_is_payload_too_large", async () => {
  const body = Buffer.alloc(64 * 1024 * 1024 + 1, " ");
  const reply = await t.client.send("POST", "/v1/sessions", { body }).catch((error: Error) => error);
  if (reply instanceof Error) assert.match(reply.message, /EPIPE|ECONNRESET|socket hang up/);
  else assert.deepEqual([reply.status, reply.json.code], [400, "payload_too_large"]);
});

test("none_of_it_made_the_front_start_again", () => {
  assert.equal(role(t.server, "front"), front);
});
