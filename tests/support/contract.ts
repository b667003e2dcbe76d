// SPDX-License-Identifier: Apache-2.0
// api/openapi.yaml as a judge: finds the operation of a request and checks what the server answered.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { parse } from "yaml";
import { repository } from "./paths.js";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };
export type Schema = { [keyword: string]: unknown };

export interface EventRule {
  data: "base64" | "json" | "text" | "empty";
  terminal?: boolean;
  schema?: Schema;
}

interface MediaType {
  schema?: Schema;
  "x-inis-events"?: Record<string, EventRule>;
  "x-inis-by-op"?: Record<string, Schema>;
}

interface Response {
  content?: Record<string, MediaType>;
}

export interface Parameter {
  name: string;
  in: "query" | "path" | "header";
  required?: boolean;
  schema: Schema;
  "x-inis-status"?: string;
}

export interface Operation {
  operationId: string;
  method: string;
  path: string;
  status: "built" | "planned";
  parameters: Parameter[];
  /** The schema of a JSON request body, with references resolved at its top. */
  body?: Schema;
  rawBody: boolean;
  responses: Record<string, Response>;
}

interface Document {
  paths: Record<string, Record<string, Record<string, unknown>>>;
  components: { schemas: Record<string, Schema> };
}

const document = parse(readFileSync(join(repository, "api/openapi.yaml"), "utf8")) as Document;

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: "inis", components: { schemas: document.components.schemas } });
const compiled = new WeakMap<Schema, ValidateFunction>();

/** The object that a reference leads to; anything else as it is. */
export function deref<T>(node: T): T {
  const ref = (node as { $ref?: string } | undefined)?.$ref;
  if (ref === undefined) return node;
  const target = ref
    .slice(2)
    .split("/")
    .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document);
  return deref(target as T);
}

/** Undefined when the value fits, else what is wrong with it. */
export function mismatch(schema: Schema, value: unknown): string | undefined {
  let validate = compiled.get(schema);
  if (!validate) {
    validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"inis#/components')));
    compiled.set(schema, validate);
  }
  return validate(value) ? undefined : ajv.errorsText(validate.errors, { separator: "\n  " });
}

function operationOf(path: string, method: string, item: Record<string, unknown>): Operation {
  const raw = item[method] as Record<string, unknown>;
  const parameters = [...((item.parameters as Parameter[]) ?? []), ...((raw.parameters as Parameter[]) ?? [])];
  const body = deref(raw.requestBody as { content: Record<string, MediaType> } | undefined);
  const schema = body?.content["application/json"]?.schema;
  return {
    operationId: raw.operationId as string,
    method: method.toUpperCase(),
    path,
    status: raw["x-inis-status"] as "built" | "planned",
    parameters: parameters.map(deref),
    body: schema && deref(schema),
    rawBody: body?.content["application/octet-stream"] !== undefined,
    responses: raw.responses as Record<string, Response>,
  };
}

export const operations: Operation[] = Object.entries(document.paths).flatMap(([path, item]) =>
  ["get", "put", "post", "patch", "delete"]
    .filter((method) => item[method] !== undefined)
    .map((method) => operationOf(path, method, item)),
);

const literals = (path: string) => path.split("/").filter((part) => part && !part.startsWith("{")).length;
const byPrecision = [...operations].sort((a, b) => literals(b.path) - literals(a.path));

function pathMatches(template: string, path: string): boolean {
  const wanted = template.split("/");
  const given = path.split("/");
  return wanted.length === given.length && wanted.every((part, i) => part.startsWith("{") || part === given[i]);
}

/** The operation for a request; undefined for an unknown path or verb. Literal segments win over names. */
export function findOperation(method: string, path: string): Operation | undefined {
  const best = byPrecision.find((operation) => pathMatches(operation.path, path));
  return best && byPrecision.find((operation) => operation.path === best.path && operation.method === method);
}

export function operation(operationId: string): Operation {
  const found = operations.find((candidate) => candidate.operationId === operationId);
  assert(found, `no operation ${operationId}`);
  return found;
}

const codes = (document.components.schemas.ErrorCode as { "x-inis-codes": Record<string, { status: number }> })[
  "x-inis-codes"
];
export const statusOfCode = new Map(Object.entries(codes).map(([code, row]) => [code, row.status]));

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Empty for an event stream, whose frames are checked as they come. */
  body: Buffer;
}

function decodeJson(answer: Answer): unknown {
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(answer.body);
  return JSON.parse(text);
}

function checkError(answer: Answer): JsonObject {
  assert.equal(mediaTypeOf(answer), "application/json", "an error must be JSON");
  const body = decodeJson(answer) as JsonObject;
  const wrong = mismatch({ $ref: "#/components/schemas/Error" }, body);
  assert.equal(wrong, undefined, `error body: ${wrong}`);
  assert.equal(statusOfCode.get(body.code as string), answer.status, `code ${body.code} with status ${answer.status}`);
  const retryAfter = answer.headers["retry-after"];
  if (retryAfter !== undefined) assert.match(retryAfter, /^\d+$/, "Retry-After");
  if (answer.status === 429) assert(retryAfter, "429 without Retry-After");
  if (body.field !== undefined) assert((body.error as string).includes(body.field as string), "error text names field");
  return body;
}

function mediaTypeOf(answer: Answer): string | undefined {
  return answer.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
}

function responseOf(found: Operation, status: number): Response {
  const key = [String(status), `${String(status)[0]}XX`].find((candidate) => candidate in found.responses);
  assert(key, `status ${status} is not in the contract of ${found.operationId}`);
  return deref(found.responses[key]!);
}

function checkMedia(found: Operation, media: Record<string, MediaType>, answer: Answer, op?: string): Json | undefined {
  const type = mediaTypeOf(answer);
  const rule = type === undefined ? undefined : media[type];
  assert(rule, `content type ${type} is not in the contract of ${found.operationId}`);
  if (type !== "application/json") return undefined;
  const value = decodeJson(answer) as Json;
  const schema = (op && rule["x-inis-by-op"]?.[op]) || rule.schema!;
  const wrong = mismatch(schema, value);
  assert.equal(wrong, undefined, `${found.operationId} ${answer.status} does not fit:\n  ${wrong}\n${show(answer)}`);
  return value;
}

function show(answer: Answer): string {
  return answer.body.toString("utf8", 0, 1500);
}

/** Checks one answer against the contract and returns its JSON, if it is JSON. */
export function checkAnswer(found: Operation | undefined, answer: Answer, op?: string): Json | undefined {
  assert.match(String(answer.headers["x-inis-request-id"]), /^req_[A-Za-z0-9]+$/, "X-Inis-Request-Id");
  if (found && found.status === "built") responseOf(found, answer.status);
  if (answer.status >= 400) return checkError(answer);
  assert(found, `status ${answer.status} for a request that is not in the contract`);
  const { content } = responseOf(found, answer.status);
  if (content) return checkMedia(found, content, answer, op);
  assert.equal(answer.body.length, 0, `${found.operationId} ${answer.status} must have no body`);
  return undefined;
}

/** The events that a streamed answer of the operation may hold. */
export function eventRules(found: Operation): Record<string, EventRule> {
  const media = deref(found.responses["200"])?.content?.["text/event-stream"];
  assert(media?.["x-inis-events"], `${found.operationId} streams no events`);
  return media["x-inis-events"];
}
