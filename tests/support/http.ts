// SPDX-License-Identifier: Apache-2.0
// A plain HTTP/1.1 client that knows no SDK and believes nothing: every answer is checked against the contract.
import assert from "node:assert/strict";
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import type { Readable } from "node:stream";
import { checkAnswer, eventRules, findOperation, type Json, type JsonObject } from "./contract.js";
import { EventStream } from "./sse.js";

export interface RequestOptions {
  query?: Record<string, string | number | boolean>;
  json?: Json;
  /** Raw body; a stream is sent chunked. */
  body?: Buffer | string | Readable;
  headers?: Record<string, string>;
  /** Null sends no Authorization header. */
  token?: string | null;
  signal?: AbortSignal;
}

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The body when it is JSON. */
  json: JsonObject;
}

export class RawClient {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 256 });

  constructor(
    readonly baseUrl: string,
    readonly token: string,
  ) {}

  close(): void {
    this.agent.destroy();
  }

  /** Sends a request and returns the answer's head; the body is the caller's. */
  async open(method: string, path: string, options: RequestOptions = {}): Promise<IncomingMessage> {
    const url = new URL(path, this.baseUrl);
    for (const [key, value] of Object.entries(options.query ?? {})) url.searchParams.append(key, String(value));
    const headers: Record<string, string> = { ...options.headers };
    const token = options.token === undefined ? this.token : options.token;
    if (token !== null) headers.authorization ??= `Bearer ${token}`;
    let body = options.body;
    if (options.json !== undefined) {
      headers["content-type"] ??= "application/json";
      body = JSON.stringify(options.json);
    }
    if (typeof body === "string" || Buffer.isBuffer(body))
      headers["content-length"] ??= String(Buffer.byteLength(body));
    const { promise, resolve, reject } = deferred<IncomingMessage>();
    const outgoing = request(url, { method, headers, agent: this.agent, signal: options.signal }, resolve);
    outgoing.on("error", reject);
    if (body === undefined) outgoing.end();
    else if (typeof body === "string" || Buffer.isBuffer(body)) outgoing.end(body);
    else body.on("error", (error) => outgoing.destroy(error)).pipe(outgoing);
    return promise;
  }

  /** One request, its whole answer, checked. Any status is returned. */
  async send(method: string, path: string, options: RequestOptions = {}): Promise<Reply> {
    const response = await this.open(method, path, options);
    return this.finish(method, path, options, response);
  }

  private async finish(method: string, path: string, options: RequestOptions, response: IncomingMessage) {
    const body = await readAll(response);
    const answer = { status: response.statusCode!, headers: response.headers, body };
    const { pathname, searchParams } = new URL(path, this.baseUrl);
    const op = searchParams.get("op") ?? options.query?.op ?? (options.json as JsonObject | undefined)?.op;
    const found = findOperation(method, pathname);
    const json = within(`${method} ${path}`, () => checkAnswer(found, answer, op as string | undefined));
    return { ...answer, json: json as JsonObject };
  }

  /** As send(), but anything else than the expected status fails. */
  async expect(status: number, method: string, path: string, options: RequestOptions = {}): Promise<Reply> {
    const reply = await this.send(method, path, options);
    const text = reply.body.toString("utf8", 0, 600);
    assert.equal(reply.status, status, `${method} ${path}: ${reply.status} ${text}`);
    return reply;
  }

  /** Opens an event stream. An answer that is none is checked and becomes a failed assertion. */
  async events(method: string, path: string, options: RequestOptions = {}): Promise<EventStream> {
    const response = await this.open(method, path, options);
    const type = response.headers["content-type"]?.split(";")[0];
    if (response.statusCode !== 200 || type !== "text/event-stream") {
      const reply = await this.finish(method, path, options, response);
      assert.fail(`${method} ${path}: no event stream but ${reply.status} ${reply.body.toString("utf8", 0, 600)}`);
    }
    const found = findOperation(method, new URL(path, this.baseUrl).pathname);
    assert(found);
    checkAnswer(found, { status: 200, headers: response.headers, body: Buffer.alloc(0) });
    return new EventStream(response, eventRules(found), Number(options.query?.positions ?? 0) === 1);
  }
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function within<T>(where: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof Error) error.message = `${where}: ${error.message}`;
    throw error;
  }
}

function deferred<T>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
