// SPDX-License-Identifier: Apache-2.0
// The judges of the other tests refuse what they must refuse.
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { checkAnswer, eventRules, findOperation, operation, operations } from "./contract.js";
import { EventStream } from "./sse.js";
import { wrongTexts, wrongValues } from "./wrong.js";

const headers = { "content-type": "application/json", "x-inis-request-id": "req_abc123" };
const health = { status: "ok", version: "0.1.0", extensions: [] };
const answer = (status: number, json: unknown, more: Record<string, string> = {}) => ({
  status,
  headers: { ...headers, ...more },
  body: Buffer.from(JSON.stringify(json)),
});
const getHealth = operation("getHealth");

test("a_good_answer_passes", () => {
  assert.deepEqual(checkAnswer(getHealth, answer(200, { ...health, unknown_member: 1 })), {
    ...health,
    unknown_member: 1,
  });
});

test("wrong_answers_are_refused", () => {
  const wrong: [string, Parameters<typeof checkAnswer>[1]][] = [
    ["a member is missing", answer(200, { status: "ok", version: "0.1.0" })],
    ["a member has the wrong type", answer(200, { ...health, extensions: "none" })],
    ["the status is not listed", answer(206, health)],
    ["the content type is another", answer(200, health, { "content-type": "text/plain" })],
    [
      "there is no request id",
      { status: 200, headers: { "content-type": "application/json" }, body: Buffer.from(JSON.stringify(health)) },
    ],
    ["the body is not UTF-8", { status: 200, headers, body: Buffer.from([0x22, 0xff, 0x22]) }],
    ["the error has no code", answer(405, { error: "x" })],
    ["the code is unknown", answer(405, { error: "x", code: "surprise" })],
    ["the code belongs to another status", answer(405, { error: "x", code: "not_found" })],
    ["429 without Retry-After", answer(429, { error: "x", code: "rate_limited" })],
    ["the text does not name the field", answer(400, { error: "x", code: "bad_request", field: "name" })],
  ];
  for (const [what, bad] of wrong) assert.throws(() => checkAnswer(getHealth, bad), Error, what);
});

test("a_body_where_there_must_be_none_is_refused", () => {
  assert.throws(() => checkAnswer(operation("deleteSession"), answer(204, {})));
});

test("conditional_members_are_judged", () => {
  const base = { name: "p", command: ["x"], keep_alive: false, started_at: "2026-01-01T00:00:00Z" };
  const get = operation("getProcess");
  checkAnswer(get, answer(200, { ...base, state: "running", pid: 7 }));
  checkAnswer(get, answer(200, { ...base, state: "exited", exit_code: 0, ended_at: "2026-01-01T00:00:01Z" }));
  assert.throws(() => checkAnswer(get, answer(200, { ...base, state: "exited", ended_at: "2026-01-01T00:00:01Z" })));
  assert.throws(() => checkAnswer(get, answer(200, { ...base, state: "running", pid: 7, exit_code: 0 })));
  assert.throws(() => checkAnswer(get, answer(200, { ...base, state: "running", pid: 7, started_at: "yesterday" })));
});

test("literal_paths_win_over_names", () => {
  assert.equal(findOperation("POST", "/v1/sessions/exec")?.operationId, "execOnce");
  assert.equal(findOperation("POST", "/v1/sessions/batch/exec")?.operationId, "batchExec");
  assert.equal(findOperation("POST", `/v1/sessions/${"a".repeat(21)}/exec`)?.operationId, "execCommand");
  assert.equal(findOperation("GET", "/v1/nope"), undefined);
});

test("every_field_of_every_built_body_has_wrong_values", () => {
  for (const { body, parameters, status } of operations) {
    if (status !== "built") continue;
    for (const rule of Object.values((body?.properties ?? {}) as Record<string, object>))
      assert(wrongValues(rule as never).length > 5);
    for (const parameter of parameters.filter((one) => one.in === "query"))
      assert(wrongTexts(parameter.schema).length > 0, parameter.name);
  }
});

async function streamOf(text: string, ids = false): Promise<EventStream> {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(text, () => server.close());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const response = await new Promise<IncomingMessage>((resolve) => request({ port, agent: false }, resolve).end());
  return new EventStream(response, eventRules(operation("execCommand")), ids);
}

const EXIT = 'event: exit\ndata: {"exit_code":0,"timed_out":false,"duration_ms":1}\n\n';

test("a_good_stream_is_read", async () => {
  const stream = await streamOf(`: ping\n\nevent: stdout\r\ndata: aGk=\r\n\r\n${EXIT}`);
  const { stdout, terminal } = await stream.collect();
  assert.deepEqual([stdout.toString(), terminal?.event, stream.comments], ["hi", "exit", 1]);
});

test("streams_that_break_a_rule_are_refused", async () => {
  const bad: Record<string, string> = {
    "two data lines": "event: stdout\ndata: aGk=\ndata: aGk=\n\n",
    "data before event": "data: aGk=\nevent: stdout\n\n",
    "empty output": "event: stdout\ndata: \n\n",
    "not base64": "event: stdout\ndata: hi!\n\n",
    "unknown event": "event: progress\ndata: x\n\n",
    "no data": "event: exit\n\n",
    "bad exit": 'event: exit\ndata: {"exit_code":0}\n\n',
    "after the end": `${EXIT}event: stdout\ndata: aGk=\n\n`,
    "two ends": EXIT + EXIT,
    "unasked id": "event: stdout\nid: 1,2\ndata: aGk=\n\n",
    "other fields": "event: stdout\nretry: 5\ndata: aGk=\n\n",
  };
  for (const [what, text] of Object.entries(bad)) await assert.rejects((await streamOf(text)).collect(), Error, what);
});
