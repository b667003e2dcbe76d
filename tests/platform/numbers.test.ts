// SPDX-License-Identifier: Apache-2.0
// Numbers at and beyond every edge: refused by name, or meant as they are written; never wrapped to another one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@inis-run/sdk";
import { deref, mismatch, operations, type Schema } from "../support/contract.js";
import type { Reply } from "../support/http.js";
import { sh, TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite();

/** Texts of JSON values, so that numbers are among them that no double can hold. */
const NUMBERS = [
  "0",
  "-0",
  "-1",
  "1.5",
  "0.1",
  "1e0",
  "1e3",
  "1e30",
  "-1e30",
  "1e400",
  "2147483647",
  "2147483648",
  "-2147483649",
  "4294967295",
  "4294967296",
  "4294967297",
  "9007199254740991",
  "9007199254740992",
  "-9007199254740992",
  "9223372036854775807",
  "9223372036854775808",
  "-9223372036854775808",
  "-9223372036854775809",
  "18446744073709551616",
  "18446744073709551617",
];
const NOT_NUMBERS = ["true", '"0"', '"1e3"', '"NaN"', '""', '"five"', "[]", "[1000]", "{}", '{"ms":1000}'];
const NO_JSON = ["NaN", "Infinity", "-Infinity", "0x10", "010", "+1", ".5", "1.", "1_000"];

/** Whether the schema takes the number as it is written. */
function allowed(schema: Schema, text: string): boolean {
  return (
    /^-?(0|[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text)) && mismatch(schema, Number(text)) === undefined
  );
}

function assertRefused(reply: Reply, field: string, text: string): void {
  assert.deepEqual([reply.status, reply.json.code], [400, "bad_request"], `${field}=${text}: ${reply.body}`);
  // What is no number at all to the parser cannot be blamed on a field.
  if (reply.json.field !== undefined) assert.equal(reply.json.field, field, text);
  else assert(/e400$|^-?\d{19,}$/.test(text) || NO_JSON.includes(text), `${field}=${text} is not named`);
}

const create = operations.find(({ operationId }) => operationId === "createSession")!;
const createFields = Object.entries((create.body as { properties: Record<string, Schema> }).properties);
const numericFields = createFields.filter(([, schema]) => deref(schema).type === "integer");

test("the_numbers_of_a_create_are_known", () => {
  const names = numericFields.map(([name]) => name);
  for (const name of ["max_lifetime_ms", "idle_timeout_ms", "paused_ttl_ms", "idle_busy_cpu_threshold_pct"])
    assert(names.includes(name), name);
});

for (const [field, schema] of numericFields) {
  test(`X24_${field}_of_a_create_is_what_was_asked_for_or_400_naming_it`, async () => {
    for (const text of [...NUMBERS, ...NOT_NUMBERS, ...NO_JSON]) {
      const reply = await t.client.send("POST", "/v1/sessions", { body: `{"${field}": ${text}}` });
      if (!allowed(schema, text)) {
        assertRefused(reply, field, text);
        continue;
      }
      assert.equal(reply.status, 201, `${field}=${text}: ${reply.body}`);
      const id = reply.json.session_id as string;
      // It works, and goes on: no limit of it was cut to a small one.
      const run = { json: { command: sh("sleep 0.05; echo alive") } };
      const { json } = await t.client.expect(200, "POST", `/v1/sessions/${id}/exec`, run);
      assert.equal(json.stdout, "alive\n", `${field}=${text}`);
      const shown = (await t.client.expect(200, "GET", `/v1/sessions/${id}`)).json;
      assert.equal(shown.state, "live", `${field}=${text}`);
      if (shown[field] !== undefined) assert.equal(shown[field], Number(text) + 0, `${field}=${text}`);
      await t.client.expect(204, "DELETE", `/v1/sessions/${id}`);
    }
    const { json } = await t.client.expect(200, "GET", "/v1/sessions");
    assert.equal((json.sessions as unknown[]).length, 1, "nothing is left of what was refused");
  });
}

/** Larger than all that a timer can hold, and what they would wrap to; each leaves at least a second. */
const LIMITS = [
  "2147483647",
  "2147483648",
  "4294967296",
  "4294967297",
  "9007199254740991",
  "9007199254740992",
  "9223372036854775807",
  "9223372036854775808",
  "18446744073709551616",
  "18446744073709551617",
  "1e30",
];
const SLOW = JSON.stringify(sh("sleep 0.3; echo whole"));

interface LimitPath {
  /** `operationId.field` of the contract. */
  name: string;
  ask: (text: string) => Promise<Reply>;
  /** What an accepted one must have led to. */
  check: (reply: Reply, text: string) => Promise<void> | void;
}

const exec = (path: string, body: (text: string) => string) => (text: string) =>
  t.session.send("POST", path, { body: body(text) });
const whole = ({ status, json }: Reply, text: string) =>
  assert.deepEqual([status, json.stdout, json.timed_out], [200, "whole\n", false], text);

let processes = 0;

const LIMIT_PATHS: LimitPath[] = [
  {
    name: "execCommand.timeout_ms",
    ask: exec("/exec", (text) => `{"command": ${SLOW}, "timeout_ms": ${text}}`),
    check: whole,
  },
  {
    name: "startProcess.timeout_ms",
    ask: exec("/processes", (text) => `{"name": "p${++processes}", "command": ${SLOW}, "timeout_ms": ${text}}`),
    check: async (reply, text) => {
      assert.equal(reply.status, 200, text);
      const { exit_code, timed_out } = await t.session.exited(`p${processes}`);
      assert.deepEqual([exit_code, timed_out ?? false], [0, false], text);
    },
  },
  {
    name: "legacyFiles.timeout_ms",
    ask: exec("/files", (text) => `{"op": "list", "path": ".", "timeout_ms": ${text}}`),
    check: (reply, text) => assert.equal(reply.status, 200, text),
  },
  {
    name: "batchExec.timeout_ms",
    ask: (text) =>
      t.client.send("POST", "/v1/sessions/batch/exec", {
        body: `{"session_ids": ["${t.session.id}"], "command": ${SLOW}, "timeout_ms": ${text}}`,
      }),
    check: ({ status, json }, text) => {
      const [item] = json.results as { stdout: string }[];
      assert.deepEqual([status, item?.stdout], [200, "whole\n"], text);
    },
  },
  {
    name: "execOnce.timeout_ms",
    ask: (text) =>
      t.client.send("POST", "/v1/sessions/exec", {
        body: `{"language": "python", "code": "import time; time.sleep(0.3); print('whole')", "timeout_ms": ${text}}`,
      }),
    check: whole,
  },
];
/** Never more than a minute: the contract has a maximum below all of LIMITS. */
const GRACES: Record<string, (text: string) => Promise<Reply>> = {
  "killProcess.grace_ms": async (text) => {
    const { status } = await t.session.send("GET", "/processes/resident");
    if (status === 404) await t.session.start("resident", ["sleep", "3600"]);
    return t.session.send("DELETE", "/processes/resident", { query: { grace_ms: text } });
  },
  "killPty.grace_ms": (text) => t.session.send("DELETE", "/ptys/none", { query: { grace_ms: text } }),
};

for (const { name, ask, check } of LIMIT_PATHS) {
  const [operationId, field] = name.split(".") as [string, string];
  const built = operations.some((operation) => operation.operationId === operationId && operation.status === "built");
  test(`X25_${operationId}_never_wraps_${field}`, { skip: !built && "not built" }, async () => {
    for (const text of LIMITS) {
      const reply = await ask(text);
      if (reply.status === 400) assertRefused(reply, field, text);
      else await check(reply, text);
    }
    // Refusing all would be no limit at all.
    const usual = await ask("2147483648");
    assert.equal(usual.status, 200);
    await check(usual, "2147483648");
  });
}

for (const [name, ask] of Object.entries(GRACES)) {
  test(`X25_${name.replace(".", "_never_wraps_")}`, async () => {
    for (const text of LIMITS) assertRefused(await ask(text), "grace_ms", text);
    const { processes: rows } = (await t.session.expect(200, "GET", "/processes")).json;
    const resident = (rows as { name: string; state: string }[]).find((row) => row.name === "resident");
    assert.equal(resident?.state ?? "running", "running", "what was refused killed nothing");
  });
}

test("X25_a_streamed_command_never_wraps_its_limit", async () => {
  for (const text of LIMITS) {
    const body = `{"command": ${SLOW}, "timeout_ms": ${text}}`;
    const response = await t.client.open("POST", t.session.path("/exec"), { query: { stream: true }, body });
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const answer = Buffer.concat(chunks).toString();
    if (response.statusCode === 400) assert.match(answer, /timeout_ms|JSON/, text);
    else assert.match(answer, /event: exit\ndata: .*"timed_out":false/, text);
  }
});

test("X25_every_time_that_a_request_may_name_is_tried", () => {
  const tried = new Set([
    ...LIMIT_PATHS.map(({ name }) => name),
    ...Object.keys(GRACES),
    ...numericFields.map(([name]) => `createSession.${name}`),
  ]);
  const named = operations
    .filter(({ status }) => status === "built")
    .flatMap(({ operationId, body, parameters }) =>
      [
        ...Object.keys((body as { properties?: object } | undefined)?.properties ?? {}),
        ...parameters.filter(({ in: place }) => place === "query").map(({ name }) => name),
      ].map((field) => `${operationId}.${field}`),
    )
    .filter((name) => /_(ms|seconds|days)$/.test(name));
  assert.deepEqual(
    named.filter((name) => !tried.has(name)),
    [],
  );
});

test("X25_the_client_never_wraps_a_limit_of_its_own", async () => {
  for (const timeoutMs of [2 ** 31 - 1, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
    const client = new Client({ baseUrl: t.server.baseUrl, token: t.server.token, timeoutMs });
    const session = client.sessions.attach(t.session.id);
    assert.equal((await session.exec(sh("sleep 0.3; echo whole"))).stdout, "whole\n", `client: ${timeoutMs}`);
    const { stdout, timedOut } = await session.exec(sh("sleep 0.3; echo whole"), { timeoutMs });
    assert.deepEqual([stdout, timedOut], ["whole\n", false], `exec: ${timeoutMs}`);
  }
});

test("X24_a_session_of_the_smallest_numbers_works", async () => {
  const smallest = Object.fromEntries(
    numericFields
      .filter(([name]) => !/lifetime|lease|idle_timeout/.test(name))
      .map(([name, schema]) => [name, (deref(schema) as { minimum: number }).minimum]),
  );
  const session = await TestSession.create(t.client, smallest);
  assert.equal(await session.output("echo works"), "works\n");
  await session.destroy();
});
