// SPDX-License-Identifier: Apache-2.0
// Each error code that a request can reach: its status, its spelling, and whether a client may try again.
import assert from "node:assert/strict";
import { totalmem } from "node:os";
import { test } from "node:test";
import { operations, statusOfCode } from "../support/contract.js";
import { guestInit } from "../support/footprint.js";
import { eventually, parallel, randomBytes } from "../support/helpers.js";
import { Server } from "../support/server.js";
import { failure, type InisError } from "./clients/answers.js";
import { exchange } from "./clients/socket.js";
import { players } from "./clients/suite.js";

const play = players();
const MIB = 1 << 20;

interface Asked {
  token?: string;
  json?: unknown;
  headers?: [string, string][];
}

/** The failure that a request ends in, with nothing read into it; undefined when it is none. */
async function ask(server: Server, method: string, target: string, asked: Asked = {}): Promise<InisError | undefined> {
  const body = Buffer.from(asked.json === undefined ? "" : JSON.stringify(asked.json));
  const headers: [string, string][] = [
    ["Authorization", `Bearer ${asked.token ?? server.token}`],
    ["Content-Length", String(body.length)],
    ...(asked.headers ?? []),
  ];
  const answer = await exchange(server.baseUrl, { method, target, headers, body });
  if (answer.status >= 400) return failure(answer);
  await answer.body();
  return undefined;
}

const session = async (options = {}) => (await play.typescript.create(options)).session_id as string;
const ofSession = async (method: string, rest: string, json?: unknown) =>
  ask(play.server, method, `/v1/sessions/${await session()}${rest}`, { json });

async function ended(): Promise<InisError | undefined> {
  const id = await session({ maxLifetimeMs: 1000 });
  await eventually("its life is over", async () => (await play.python.get(id)).state === "ended");
  return ask(play.server, "POST", `/v1/sessions/${id}/exec`, { json: { command: ["true"] } });
}

async function nameTaken(): Promise<InisError | undefined> {
  const name = randomBytes(8).toString("hex");
  await session({ name });
  return ask(play.server, "POST", "/v1/sessions", { json: { name } });
}

async function locked(): Promise<InisError | undefined> {
  const id = await session();
  await play.python.exec(id, "mkdir locked && chmod 000 locked && sudo chown root locked");
  return ask(play.server, "GET", `/v1/sessions/${id}/files?op=read&path=locked/x`);
}

async function sameKeyAtOnce(): Promise<InisError | undefined> {
  return eventually("two requests with one key overlap", async () => {
    const headers: [string, string][] = [["Idempotency-Key", randomBytes(8).toString("hex")]];
    const replies = await parallel(6, 6, () => ask(play.server, "POST", "/v1/sessions", { json: {}, headers }));
    await play.server.destroySessions();
    return replies.find((reply) => reply !== undefined) ?? false;
  });
}

async function beyondTheCap(): Promise<InisError | undefined> {
  const server = await Server.start({ sessions_max: 1 });
  try {
    assert.equal(await ask(server, "POST", "/v1/sessions", { json: {} }), undefined);
    return await ask(server, "POST", "/v1/sessions", { json: {} });
  } finally {
    await server.stop();
  }
}

/** A guest that stands still: the call ends without it, and works again once it goes on. */
async function guestStandsStill(): Promise<InisError | undefined> {
  const id = await session();
  await play.python.start(id, "marker", ["sleep", "54321"]);
  const init = guestInit(play.server, "54321");
  const list = () => ask(play.server, "GET", `/v1/sessions/${id}/files?op=list&path=.`);
  process.kill(init, "SIGSTOP");
  const error = await list().finally(() => process.kill(init, "SIGCONT"));
  await eventually("the same call works again", async () => (await list()) === undefined);
  return error;
}

interface Row {
  code: string;
  status: number;
  retryable?: boolean;
  reach: () => Promise<InisError | undefined>;
  /** Why it cannot be reached on this machine. */
  skip?: string;
}

const big = { path: "x", content: "x".repeat(8 * MIB + 1) };
const enough = totalmem() / MIB >= 16_384 ? "this machine fits every size" : undefined;

const ROWS: Row[] = [
  { code: "bad_request", status: 400, reach: () => ofSession("POST", "/exec", { command: 7 }) },
  { code: "payload_too_large", status: 400, reach: () => ofSession("PUT", "/files", big) },
  { code: "invalid_path", status: 400, reach: () => ofSession("GET", "/files?op=read&path=/etc/passwd") },
  { code: "is_directory", status: 400, reach: () => ofSession("GET", "/files?op=read&path=.") },
  { code: "permission_denied", status: 400, reach: locked },
  { code: "unauthenticated", status: 401, reach: () => ask(play.server, "GET", "/v1/org", { token: "sk_wrong" }) },
  { code: "forbidden", status: 403, reach: () => ask(play.server, "DELETE", "/v1/templates/host") },
  { code: "not_found", status: 404, reach: () => ask(play.server, "GET", `/v1/sessions/${"a".repeat(21)}`) },
  { code: "method_not_allowed", status: 405, reach: () => ask(play.server, "PATCH", "/v1/sessions") },
  { code: "conflict", status: 409, reach: nameTaken },
  { code: "idempotency_key_in_progress", status: 409, retryable: true, reach: sameKeyAtOnce },
  { code: "session_ended", status: 410, reach: ended },
  { code: "rate_limited", status: 429, retryable: true, reach: beyondTheCap },
  { code: "not_implemented", status: 501, reach: () => ask(play.server, "GET", "/v1/usage") },
  { code: "session_unavailable", status: 503, retryable: true, reach: guestStandsStill },
  {
    code: "template_version_unavailable",
    status: 503,
    retryable: true,
    reach: () => ask(play.server, "POST", "/v1/sessions", { json: { template: "host@2000.01.01" } }),
  },
  {
    code: "size_unavailable",
    status: 503,
    reach: () => ask(play.server, "POST", "/v1/sessions", { json: { size: "xlarge" } }),
    skip: enough,
  },
];

for (const { code, status, retryable = false, reach, skip } of ROWS) {
  test(`L8_${code}_is_${status}${retryable ? "_and_says_when_to_try_again" : ""}`, { skip }, async () => {
    const error = await reach();
    assert(error, "the request succeeded");
    assert.deepEqual([error.code, error.status, error.retryable], [code, status, retryable], error.message);
    assert.equal(error.retryAfter !== undefined, retryable, "Retry-After on what may be tried again, and only there");
    assert.match(error.requestId ?? "", /^req_/);
    assert(error.message.length > "404: ".length, "it says something");
    assert.equal(statusOfCode.get(code), status, "as the contract has it");
  });
}

/** A request for each operation that the contract has and the server has not yet. */
const PLANNED = operations.filter(({ status }) => status === "planned");

test("L8_what_is_not_built_says_so_and_is_not_to_be_tried_again", async () => {
  const id = await session();
  for (const { method, path, operationId } of PLANNED) {
    const target = path.replace("{id}", id).replace(/\{[^}]+\}/g, "name");
    const json = method === "GET" || method === "DELETE" ? undefined : {};
    const error = await ask(play.server, method, target, { json });
    assert.deepEqual([error?.status, error?.code, error?.retryable], [501, "not_implemented", false], operationId);
  }
});

/** Codes of the contract that no single request leads to, and what they wait for. */
const OTHERS: Record<string, string> = {
  session_not_live: "a wake that loses a race, or a session that is not ready for a minute",
  unavailable: "a machine without room or memory",
  internal: "a failure of the server",
  payment_required: "accounts that pay",
  connector_not_enabled: "connectors",
  session_node_lost: "more than one machine",
  session_node_unavailable: "more than one machine",
  bad_gateway: "more than one machine",
  archive_unavailable: "durable copies",
};

test("L8_every_code_of_the_contract_is_reached_or_known_to_need_more", () => {
  const known = [...ROWS.map(({ code }) => code), ...Object.keys(OTHERS)];
  assert.deepEqual(known.sort(), [...statusOfCode.keys()].sort());
});
