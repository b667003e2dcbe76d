// SPDX-License-Identifier: Apache-2.0
// An HTTP proxy in front of the tests' server. It can hide the server's extensions, so that the real server looks
// like one that has none, note what is asked, cut streams and answer nothing.
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Client } from "@inis-run/sdk";
import { server } from "./sandbox.js";

export interface SeenRequest {
  method: string;
  path: string;
  body: string;
}

export interface GatewayOptions {
  /** Answers of /v1/healthz name no extension. */
  plain?: boolean;
}

export interface CannedAnswer {
  status: number;
  headers?: Record<string, string>;
  body: string;
}

export class Gateway {
  readonly requests: SeenRequest[] = [];
  readonly #options: GatewayOptions;
  readonly #http: Server;
  readonly #sockets = new Set<Socket>();
  readonly #streams = new Set<ServerResponse>();
  #stalled = false;
  #canned: (CannedAnswer & { path: RegExp }) | undefined;

  private constructor(options: GatewayOptions) {
    this.#options = options;
    this.#http = createServer((incoming, outgoing) => this.#forward(incoming, outgoing));
    this.#http.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  static async open(options: GatewayOptions = {}): Promise<Gateway> {
    const gateway = new Gateway(options);
    gateway.#http.listen(0, "127.0.0.1");
    await once(gateway.#http, "listening");
    return gateway;
  }

  client(): Client {
    const { port } = this.#http.address() as AddressInfo;
    return new Client({ baseUrl: `http://127.0.0.1:${port}`, token: server().token });
  }

  /** From now on requests whose path matches get this answer instead of the server's; undefined ends that. */
  answer(path: RegExp, canned: CannedAnswer | undefined): void {
    this.#canned = canned && { path, ...canned };
  }

  /** From now on requests are accepted and not answered. */
  stall(): void {
    this.#stalled = true;
  }

  unstall(): void {
    this.#stalled = false;
  }

  /** Breaks every event stream that is open. Returns how many. */
  cutStreams(): number {
    const streams = [...this.#streams];
    for (const stream of streams) stream.destroy();
    return streams.length;
  }

  async close(): Promise<void> {
    this.#http.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method = "GET", url: path = "/", headers } = incoming;
    const seen: SeenRequest = { method, path, body: "" };
    this.requests.push(seen);
    if (this.#stalled) return;
    if (this.#canned?.path.test(path)) {
      const { status, headers: more, body } = this.#canned;
      incoming.resume();
      outgoing.writeHead(status, more).end(body);
      return;
    }
    const upstream = request(new URL(path, server().baseUrl), { method, headers, agent: false }, (answer) => {
      if (this.#options.plain && path === "/v1/healthz") return void this.#sendPlainHealth(answer, outgoing);
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      if (answer.headers["content-type"]?.startsWith("text/event-stream")) this.#streams.add(outgoing);
      answer.pipe(outgoing);
    });
    upstream.on("error", () => outgoing.destroy());
    outgoing.once("close", () => {
      this.#streams.delete(outgoing);
      upstream.destroy();
    });
    incoming.on("data", (piece) => {
      seen.body += piece;
    });
    incoming.pipe(upstream);
  }

  async #sendPlainHealth(answer: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    let text = "";
    for await (const piece of answer) text += piece;
    const { extensions, ...health } = JSON.parse(text);
    outgoing.writeHead(200, { "content-type": "application/json" });
    outgoing.end(JSON.stringify(health));
  }
}
