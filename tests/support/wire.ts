// SPDX-License-Identifier: Apache-2.0
// Bytes on a socket, for what no HTTP client would ever send.
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { checkAnswer, type JsonObject } from "./contract.js";
import { PATIENCE_MS, withinMs } from "./helpers.js";
import type { Server } from "./server.js";

export interface WireAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

export class Wire {
  private received = Buffer.alloc(0);
  private wake = () => {};
  closed = false;

  private constructor(private readonly socket: Socket) {
    socket.on("data", (chunk) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.wake();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      this.closed = true;
      this.wake();
    });
  }

  static async open(server: Server): Promise<Wire> {
    const { hostname, port } = new URL(server.baseUrl);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new Wire(socket);
  }

  send(bytes: string | Buffer): void {
    this.socket.write(bytes);
  }

  /** Ends our direction. */
  finish(): void {
    this.socket.end();
  }

  close(): void {
    this.socket.destroy();
  }

  private async until(done: () => boolean, what: string): Promise<void> {
    await withinMs(
      what,
      PATIENCE_MS * 3,
      (async () => {
        while (!done()) await new Promise<void>((resolve) => (this.wake = resolve));
      })(),
    );
  }

  /** The next answer on the connection; fails when it closes before. Answers here always have a length. */
  async answer(): Promise<WireAnswer> {
    const headEnd = () => this.received.indexOf("\r\n\r\n");
    await this.until(() => headEnd() >= 0 || this.closed, "an answer");
    assert(headEnd() >= 0, "the connection was closed without an answer");
    const [line, ...lines] = this.received.toString("latin1", 0, headEnd()).split("\r\n");
    const headers = Object.fromEntries(
      lines.map((text) => [text.split(":")[0]!.toLowerCase(), text.slice(text.indexOf(":") + 1).trim()]),
    );
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line!)?.[1]);
    const start = headEnd() + 4;
    const length = status === 204 || status < 200 ? 0 : Number(headers["content-length"]);
    assert(length >= 0, `an answer of a known length: ${line}`);
    await this.until(() => this.received.length >= start + length || this.closed, "the body");
    const body = this.received.subarray(start, start + length);
    this.received = this.received.subarray(start + length);
    return { status, headers, body };
  }

  /** The next answer, which must be this error, checked like any other. */
  async refusal(status: number, code: string): Promise<JsonObject> {
    const answer = await this.answer();
    assert.equal(answer.status, status, `${answer.status} ${answer.body}`);
    const json = checkAnswer(undefined, answer) as JsonObject;
    assert.equal(json.code, code);
    return json;
  }

  async untilClosed(): Promise<void> {
    await this.until(() => this.closed, "the close");
  }
}

/** A request head with the right host and key; `lines` are added to it. */
export function head(server: Server, method: string, path: string, ...lines: string[]): string {
  const { host } = new URL(server.baseUrl);
  return [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${server.token}`,
    ...lines,
    "",
    "",
  ].join("\r\n");
}
