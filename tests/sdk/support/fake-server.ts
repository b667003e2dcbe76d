// SPDX-License-Identifier: Apache-2.0
// A server that records every request as it came and plays the answers that a test scripts. It exists where the SDK's
// own behaviour on the wire is the point, broken servers included.

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { Client, type ClientOptions } from "@inis-run/sdk";

export interface Recorded {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
  bytes: Buffer;
}

export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  recorded: Recorded;
}

export type Handler = (exchange: Exchange) => void | Promise<void>;

export const TOKEN = "sk_test";

export class FakeServer {
  readonly requests: Recorded[] = [];
  /** What /v1/healthz lists. */
  extensions: string[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(handler: Handler): Promise<FakeServer> {
    const server = createServer();
    const fake = new FakeServer(server);
    server.on("request", (request, response) => void fake.#serve(handler, request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The requests, without the question for extensions. */
  get calls(): Recorded[] {
    return this.requests.filter((request) => request.url !== "/v1/healthz");
  }

  get server(): Server {
    return this.#server;
  }

  client(options: ClientOptions = {}): Client {
    return new Client({ token: TOKEN, baseUrl: this.url, ...options });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(handler: Handler, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    try {
      for await (const piece of request) pieces.push(piece);
    } catch {
      return;
    }
    const bytes = Buffer.concat(pieces);
    const { method = "", url = "", headers } = request;
    const recorded = { method, url, headers, bytes, body: bytes.toString() };
    this.requests.push(recorded);
    if (url === "/v1/healthz") {
      return json(200, { status: "ok", version: "0.1.0", extensions: this.extensions })({
        request,
        response,
        recorded,
      });
    }
    await handler({ request, response, recorded });
  }
}

/** Answers with JSON. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}) {
  return ({ response }: Pick<Exchange, "response"> & Partial<Exchange>): void => {
    response.writeHead(status, { "Content-Type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
}

/** One event as it stands on the wire. */
export function frame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

/** Bytes of output as they stand in an event. */
export function base64(data: string | Uint8Array): string {
  return Buffer.from(data as Uint8Array).toString("base64");
}

/** Begins an event stream and writes these pieces, each in a write of its own. */
export async function sse(response: ServerResponse, pieces: Iterable<string | Uint8Array>): Promise<void> {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.flushHeaders();
  for (const piece of pieces) await new Promise((resolve) => response.write(piece, resolve));
}

/** Everything an async iterable gives. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
