// SPDX-License-Identifier: Apache-2.0
// Every field of every request, wrong in every way that its schema knows: 400 naming the field, and nothing was done.
import assert from "node:assert/strict";
import { test } from "node:test";
import { deref, type Json, type JsonObject, type Operation, operations, type Schema } from "../support/contract.js";
import { type Footprint, role, settledFootprint } from "../support/footprint.js";
import type { Reply } from "../support/http.js";
import { scaled } from "../support/paths.js";
import { generator } from "../support/random.js";
import { TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";
import { head, Wire } from "../support/wire.js";
import { wrongTexts, wrongValues } from "../support/wrong.js";

let front: number;
let before: Partial<Footprint>;

const t = suite({}, async () => {
  await t.session.write("resident", "x");
  await t.session.start("resident", ["sleep", "3600"]);
  front = role(t.server, "front");
  before = await occupied();
});

/** What the machine holds of the server; not what idle connections of this test do. */
async function occupied(): Promise<Partial<Footprint>> {
  t.client.close();
  const { frontFiles: _, ...rest } = await settledFootprint(t.server);
  return rest;
}

/** A good body for each operation that takes JSON and reads something in it. */
const GOOD: Record<string, JsonObject> = {
  createSession: {},
  execCommand: { command: ["true"] },
  batchExec: { session_ids: ["a".repeat(21)], command: ["true"] },
  execOnce: { language: "python", code: "pass" },
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

const allBuilt = operations.filter(({ status }) => status === "built");
/** Without the upgrade, whose queries and handshakes are tried with the terminals. */
const built = allBuilt.filter(({ operationId }) => operationId !== "openPty");
const properties = (operation: Operation) => (operation.body?.properties ?? {}) as Record<string, Schema>;
const withBody = built.filter((operation) => Object.keys(properties(operation)).length > 0);

const pathOf = (operation: Operation) =>
  operation.path.replace("{id}", t.session.id).replace("{name}", "resident").replace("{exec_id}", "none");

test("every_operation_that_reads_a_body_is_tried", () => {
  assert.deepEqual(
    withBody.map(({ operationId }) => operationId).filter((name) => !(name in GOOD)),
    [],
  );
});

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

/** A good object inside of a body, by the member it is in. */
const GOOD_INNER: Record<string, JsonObject> = {
  egress: { mode: "deny" },
  files: { path: "bad-input", content: "x" },
};

const isList = (rule: Schema) => deref(rule).type === "array";

/** The members of the objects that a member holds; none for those that are not built. */
function innerProperties(rule: Schema): Record<string, Schema> {
  const own = deref(rule);
  if (own["x-inis-status"] === "planned") return {};
  if (own.type === "array") return innerProperties((own.items ?? {}) as Schema);
  const composed = ((own.allOf ?? []) as Schema[]).map(innerProperties);
  return Object.assign({}, own.properties, ...composed) as Record<string, Schema>;
}

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

  for (const [field, rule] of Object.entries(schema.properties)) {
    for (const [inner, innerRule] of Object.entries(innerProperties(rule))) {
      testWithoutEffect(`${operation.operationId}: a wrong ${inner} in ${field} is 400 naming it`, async () => {
        for (const wrong of wrongValues(innerRule)) {
          const member = replaced(GOOD_INNER[field]!, inner, wrong.text);
          const reply = await sendText(operation, replaced(good, field, isList(rule) ? `[${member}]` : member));
          if (wrong.unreadable && reply.status === 400) continue;
          assertNames(reply, field, `${field}.${inner} = ${wrong.name}`);
        }
      });
    }
  }

  testWithoutEffect(`${operation.operationId}: a member given twice is 400`, async () => {
    const text = JSON.stringify(good).slice(0, -1);
    for (const [name, value] of Object.entries(good)) {
      const reply = await sendText(operation, `${text},${JSON.stringify(name)}:${JSON.stringify(value)}}`);
      assert.deepEqual([reply.status, reply.json.code], [400, "bad_request"], name);
    }
  });

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
      const twice = new URLSearchParams([...Object.entries({ [name]: "1", ...good }), [name, "1"]]);
      const path = `${pathOf(operation)}?${twice}`;
      assertNames(await t.client.send(operation.method, path, { body }), name, `${name} twice`);
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

/** Names that nothing can have, or that must lead nowhere else. */
const BAD_SEGMENTS = ["%zz", "%ff", "%00", "a%00b", "a%2fb", "%c0%af", "%0a"].concat([
  "no-such-name",
  "'%20or%20''='",
  "%25s%25n",
  "{id}",
  "%e2%98%83",
  "%f0%9f%92%a9".repeat(20),
  "A".repeat(21),
  "a".repeat(20),
  "a".repeat(22),
  "0".repeat(6000),
  "-1",
  "null",
  "*",
]);

for (const operation of allBuilt.filter(({ path }) => path.includes("{"))) {
  testWithoutEffect(`${operation.operationId}: names that do not exist or decode are 404 or 400`, async () => {
    const parts = operation.path.split("/");
    for (const [i, part] of parts.entries()) {
      if (!part.startsWith("{")) continue;
      for (const bad of BAD_SEGMENTS) {
        const path = parts.map((each, j) => (i === j ? bad : pathOf({ ...operation, path: each }))).join("/");
        const json = GOOD[operation.operationId];
        const query = goodQuery(operation.operationId, "");
        const reply = await t.client.send(operation.method, path, { query, body: json && JSON.stringify(json) });
        assert([400, 404].includes(reply.status), `${part} = ${bad.slice(0, 40)}: ${reply.status} ${reply.body}`);
      }
    }
  });
}

/** Sent as they are: any client that knows URLs would have resolved them. */
testWithoutEffect("dots_in_a_path_are_names_and_lead_nowhere", async () => {
  for (const path of ["/v1/sessions/../org", "/v1/sessions/%2e%2e/org", "/v1/./org", "/v1/sessions/%2e", "//v1/org"]) {
    const wire = await Wire.open(t.server);
    wire.send(head(t.server, "GET", path));
    await wire.refusal(404, "not_found");
    wire.close();
  }
});

testWithoutEffect("an_idempotency_key_that_is_none_is_400_naming_it", async () => {
  for (const key of ["", "x".repeat(256), "\u00e9", "tab\there"]) {
    const headers = { "idempotency-key": key };
    const reply = await t.client.send("POST", "/v1/sessions", { json: {}, headers });
    assertNames(reply, "Idempotency-Key", JSON.stringify(key.slice(0, 20)));
  }
});

testWithoutEffect("bodies_where_none_belongs_and_unusual_headers_do_no_harm", async () => {
  const odd: Record<string, string>[] = [
    { "content-type": "application/x-www-form-urlencoded" },
    { "content-type": "multipart/form-data; boundary=x" },
    { "content-type": "\u00ff" },
    { accept: "text/html;q=0.1, */*;q=0" },
    { range: "bytes=5-1" },
    { "if-none-match": "*" },
    { "if-modified-since": "never" },
    { te: "trailers, deflate" },
    { "x-http-method-override": "DELETE" },
    { cookie: "a=b; c" },
    { origin: "null" },
    { expect: "200-maybe" },
    { upgrade: "h2c", connection: "upgrade, http2-settings", "http2-settings": "AAMAAABkAAQAAP__" },
  ];
  for (const headers of odd) {
    for (const operation of built.filter(({ method }) => method === "GET")) {
      const query = goodQuery(operation.operationId, "");
      const reply = await t.client.send("GET", pathOf(operation), { query, headers, body: "\0{]" });
      assert([200, 404].includes(reply.status), `${operation.operationId} ${JSON.stringify(headers)}: ${reply.status}`);
    }
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

type Dice = (sides: number) => number;

/** A value made up from what JSON has, with some of what the schemas expect. */
function anyValue(dice: Dice, depth = 0): Json {
  const words = [
    "",
    "true",
    "/workspace",
    "..",
    "a\u0000b",
    "\ud800",
    "é".repeat(50),
    "base64",
    "x".repeat(5000),
    "-1",
  ];
  const kind = dice(depth < 3 ? 8 : 6);
  if (kind === 0) return null;
  if (kind === 1) return dice(2) === 1;
  if (kind === 2) return dice(2 ** 31) * (dice(2) ? 1 : -1) * 10 ** dice(12);
  if (kind === 3) return dice(1000) / 7;
  if (kind < 6) return words[dice(words.length)]!;
  const values = Array.from({ length: dice(5) }, () => anyValue(dice, depth + 1));
  if (kind === 6) return values;
  return Object.fromEntries(values.map((value, i) => [words[dice(words.length)]! + i, value]));
}

/** The good body with members changed, dropped and added. */
function mutated(dice: Dice, operation: Operation): JsonObject {
  const names = Object.keys(properties(operation));
  const body: JsonObject = { ...GOOD[operation.operationId] };
  for (let i = dice(4); i >= 0; i--) {
    const name = names[dice(names.length)]!;
    if (dice(6) === 0) delete body[name];
    else body[name] = anyValue(dice);
  }
  return body;
}

test("L8_whatever_a_body_holds_the_answer_is_no_failure_of_the_server", async (context) => {
  const seed = Number(process.env.INIS_TEST_SEED ?? Date.now() % 1_000_000_007);
  context.diagnostic(`INIS_TEST_SEED=${seed}`);
  const dice = generator(seed);
  const scratch = await TestSession.create(t.client);
  GOOD.batchExec!.session_ids = [scratch.id];
  for (let i = 0; i < scaled(3000, 300); i++) {
    const operation = withBody[dice(withBody.length)]!;
    const json = mutated(dice, operation);
    const path = pathOf(operation).replace(t.session.id, scratch.id);
    // Checked against the contract too, whatever it is. A command may take as long as it likes.
    const signal = AbortSignal.timeout(60_000);
    const reply = await t.client.send(operation.method, path, { json, signal });
    const what = `${operation.operationId} ${JSON.stringify(json).slice(0, 300)}: ${reply.body}`;
    assert(reply.status < 500 || [501, 503].includes(reply.status), what);
    if (operation.operationId === "createSession" && reply.status < 300)
      await t.client.expect(204, "DELETE", `/v1/sessions/${reply.json.session_id}`);
  }
  await scratch.destroy();
});

test("none_of_it_left_anything_or_made_the_front_start_again", async () => {
  assert.equal(role(t.server, "front"), front);
  assert.deepEqual(await occupied(), before);
});
