// SPDX-License-Identifier: Apache-2.0
// A terminal as the contract describes it: typed binary messages over a WebSocket.
import assert from "node:assert/strict";
import { checkAnswer, findOperation, type JsonObject } from "./contract.js";
import { eventually } from "./helpers.js";
import type { TestSession } from "./session.js";
import { Op, RawWebSocket, type WebSocketOptions } from "./websocket.js";

export const Type = { data: 1, resize: 2, signal: 3, exit: 5, error: 6, size: 7 } as const;

/** Flags of SIZE. */
export const Size = { begin: 1, truncated: 2, live: 4, started: 8 } as const;

export interface SizeMessage {
  rows: number;
  cols: number;
  flags: number;
}

export interface TerminalQuery {
  name?: string;
  rows?: number | string;
  cols?: number | string;
  term?: string;
  colorterm?: string;
  cmd?: string[];
  cwd?: string;
}

function target(session: TestSession, query: TerminalQuery): URL {
  const url = new URL(session.path("/pty"), session.client.baseUrl);
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(one));
  }
  return url;
}

export class Terminal {
  /** All output. */
  readonly output: Buffer[] = [];
  /** Output and, of a named terminal, sizes in their order. */
  readonly shown: (Buffer | SizeMessage)[] = [];
  exitCode?: number;
  error?: string;
  private ws!: RawWebSocket;

  private constructor(private readonly named: boolean) {}

  static async open(
    session: TestSession,
    query: TerminalQuery = {},
    options: WebSocketOptions = {},
  ): Promise<Terminal> {
    const terminal = new Terminal(query.name !== undefined);
    terminal.ws = await RawWebSocket.open(
      target(session, query),
      { token: session.client.token, ...options },
      ({ op, payload }) => terminal.receive(op, payload),
    );
    assert.equal(terminal.ws.handshake.status, 101, terminal.ws.handshake.body.toString());
    if (terminal.named) await terminal.begun();
    return terminal;
  }

  /** A handshake that must be refused: the checked error. */
  static async refused(
    session: TestSession,
    query: TerminalQuery,
    options: WebSocketOptions = {},
  ): Promise<JsonObject> {
    const url = target(session, query);
    const ws = await RawWebSocket.open(url, { token: session.client.token, ...options });
    const { status, headers, body } = ws.handshake;
    ws.socket.destroy();
    assert.notEqual(status, 101, "the terminal opened");
    return { status, ...(checkAnswer(findOperation("GET", url.pathname), { status, headers, body }) as JsonObject) };
  }

  get socket(): RawWebSocket {
    return this.ws;
  }

  get text(): string {
    return Buffer.concat(this.output).toString();
  }

  get sizes(): SizeMessage[] {
    return this.shown.filter((one): one is SizeMessage => !Buffer.isBuffer(one));
  }

  get begin(): SizeMessage | undefined {
    return this.sizes[0];
  }

  /** The first message may come behind the handshake, in a packet of its own. */
  private async begun(): Promise<void> {
    await eventually("the first message comes", () => {
      this.ws.check();
      return this.begin !== undefined || this.error !== undefined || this.ws.ended;
    });
  }

  /** Waits until the replay of a named terminal is over. */
  async live(): Promise<this> {
    await eventually("the replay ends", () => {
      this.ws.check();
      assert(!this.ws.ended, `ended (${this.exitCode ?? this.error ?? this.ws.closeStatus})`);
      return this.sizes.some(({ flags }) => flags & Size.live);
    });
    return this;
  }

  get bytes(): number {
    return this.output.reduce((sum, piece) => sum + piece.length, 0);
  }

  send(type: number, payload: Buffer): void {
    this.ws.send(Op.binary, Buffer.concat([Buffer.of(type), payload]));
  }

  type(text: string | Buffer): void {
    this.send(Type.data, Buffer.from(text as string));
  }

  resize(rows: number, cols: number): void {
    const payload = Buffer.alloc(4);
    payload.writeUInt16BE(rows, 0);
    payload.writeUInt16BE(cols, 2);
    this.send(Type.resize, payload);
  }

  signal(number: number): void {
    this.send(Type.signal, Buffer.of(number));
  }

  /** Waits until the output holds it. */
  async shows(what: string | RegExp): Promise<string> {
    await eventually(`the terminal shows ${what}`, () => {
      this.ws.check();
      const text = this.text;
      if (typeof what === "string" ? text.includes(what) : what.test(text)) return true;
      assert(
        !this.ws.ended,
        `ended (${this.exitCode ?? this.error}) without ${what}: ${JSON.stringify(text.slice(-500))}`,
      );
      return false;
    });
    return this.text;
  }

  /** Waits for EXIT, the close frame and the end of the connection. */
  async exited(): Promise<number> {
    await this.ws.over();
    assert(this.exitCode !== undefined, `no EXIT but ${this.error ?? "the end"}: ${this.text.slice(-500)}`);
    assert.equal(this.ws.closeStatus, 1000);
    return this.exitCode;
  }

  /** Waits for ERROR and the end of the connection. */
  async failed(): Promise<string> {
    await this.ws.over();
    assert(this.error !== undefined, `no ERROR but ${this.exitCode ?? "the end"}`);
    return this.error;
  }

  /** Waits until another client has it. */
  async takenOver(): Promise<void> {
    await this.ws.over();
    assert.deepEqual([this.exitCode, this.error], [undefined, undefined]);
    assert.deepEqual([this.ws.closeStatus, this.ws.closeReason], [4001, "taken over by another client"]);
  }

  /** Says goodbye as a client does. */
  async close(): Promise<void> {
    this.ws.send(Op.close, Buffer.of(0x03, 0xe8));
    await this.ws.over();
  }

  /** Cuts the connection without a word, also when what was sent is still on its way. */
  reset(): void {
    this.ws.socket.resetAndDestroy();
  }

  /** Closes the connection without a goodbye. */
  cut(): void {
    this.ws.socket.destroy();
  }

  private receive(op: number, message: Buffer): void {
    assert.equal(op, Op.binary, "messages are binary");
    assert(this.exitCode === undefined && this.error === undefined, "nothing follows EXIT or ERROR");
    const payload = message.subarray(1);
    assert(payload.length <= 1 << 20, "payloads are at most 1 MiB");
    switch (message[0]) {
      case Type.data:
        assert(payload.length > 0, "no empty DATA");
        assert(!this.named || this.begin, "SIZE comes first");
        this.output.push(payload);
        this.shown.push(payload);
        return;
      case Type.exit:
        assert.equal(payload.length, 4);
        this.exitCode = payload.readInt32BE(0);
        return;
      case Type.error:
        this.error = new TextDecoder("utf-8", { fatal: true }).decode(payload);
        return;
      case Type.size:
        this.receiveSize(payload);
        return;
      default:
        assert.fail(`message of type ${message[0]}`);
    }
  }

  private receiveSize(payload: Buffer): void {
    assert(this.named, "SIZE is only for who knows it");
    assert.equal(payload.length, 5);
    const size = { rows: payload.readUInt16BE(0), cols: payload.readUInt16BE(2), flags: payload[4]! };
    assert(size.rows > 0 && size.cols > 0 && size.flags < 16);
    assert.equal((size.flags & Size.begin) !== 0, this.begin === undefined, "BEGIN is the first and only the first");
    assert((size.flags & Size.begin) !== 0 || (size.flags & ~Size.live) === 0);
    this.shown.push(size);
  }
}
