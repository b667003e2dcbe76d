// SPDX-License-Identifier: Apache-2.0
// A WebSocket client that knows nothing but RFC 6455, and believes nothing: it fails on what a server must not send.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { eventually } from "./helpers.js";

export const Op = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface Frame {
  op: number;
  payload: Buffer;
}

/** One frame as a client sends it. */
export function clientFrame(op: number, payload: Buffer, { fin = true, mask = true, reserved = 0 } = {}): Buffer {
  const n = payload.length;
  const length = n < 126 ? 0 : n < 65536 ? 2 : 8;
  const head = Buffer.alloc(2 + length);
  head[0] = (fin ? 0x80 : 0) | (reserved << 4) | op;
  head[1] = (mask ? 0x80 : 0) | (length === 0 ? n : length === 2 ? 126 : 127);
  if (length === 2) head.writeUInt16BE(n, 2);
  if (length === 8) head.writeBigUInt64BE(BigInt(n), 2);
  if (!mask) return Buffer.concat([head, payload]);
  const key = randomBytes(4);
  const masked = Buffer.from(payload);
  for (let i = 0; i < n; i++) masked[i]! ^= key[i & 3]!;
  return Buffer.concat([head, key, masked]);
}

export interface Handshake {
  status: number;
  headers: Record<string, string>;
  /** The body of a refusal. */
  body: Buffer;
}

export interface WebSocketOptions {
  token?: string | null;
  /** Sent as they are, in place of the usual ones when of the same name. */
  headers?: Record<string, string | undefined>;
  /** Sent right behind the handshake, in the same packet. */
  early?: Buffer;
}

export class RawWebSocket {
  readonly pings: Frame[] = [];
  /** Status of the server's close frame. */
  closeStatus?: number;
  closeReason?: string;
  /** The connection is over. */
  ended = false;
  handshake!: Handshake;
  private input = Buffer.alloc(0);
  private pieces?: Frame;
  private broken?: Error;

  private constructor(
    readonly socket: Socket,
    private readonly receive: (frame: Frame) => void,
  ) {}

  /** Opens, or comes back with the refusal in `handshake`. `receive` is called for each whole message. */
  static async open(
    url: URL,
    options: WebSocketOptions = {},
    receive: (frame: Frame) => void = () => {},
  ): Promise<RawWebSocket> {
    const socket = connect(Number(url.port), url.hostname);
    const ws = new RawWebSocket(socket, receive);
    const key = randomBytes(16).toString("base64");
    const headers: Record<string, string | undefined> = {
      Host: url.host,
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": key,
      Authorization: options.token === null ? undefined : `Bearer ${options.token}`,
      ...options.headers,
    };
    const lines = Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}: ${value}`],
    );
    const head = `GET ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
    socket.on("error", () => {});
    socket.on("close", () => {
      ws.ended = true;
    });
    socket.on("data", (chunk) => ws.take(chunk));
    socket.write(Buffer.concat([Buffer.from(head), options.early ?? Buffer.alloc(0)]));
    await eventually("the handshake is answered", () => {
      if (ws.broken) throw ws.broken;
      return ws.handshake !== undefined || ws.ended;
    });
    assert(ws.handshake, "the connection ended without an answer");
    if (ws.handshake.status === 101) {
      const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
      assert.equal(ws.handshake.headers["sec-websocket-accept"], accept);
      assert.equal(ws.handshake.headers["sec-websocket-extensions"], undefined);
      assert.equal(ws.handshake.headers["sec-websocket-protocol"], undefined);
    }
    return ws;
  }

  send(op: number, payload: Buffer, options?: Parameters<typeof clientFrame>[2]): boolean {
    return this.socket.write(clientFrame(op, payload, options));
  }

  /** Throws what the server did wrong, if it did. */
  check(): void {
    if (this.broken) throw this.broken;
  }

  /** Waits for the end of the connection. */
  async over(): Promise<void> {
    this.socket.resume();
    await eventually("the connection ends", () => {
      this.check();
      return this.ended;
    });
  }

  private take(chunk: Buffer): void {
    this.input = Buffer.concat([this.input, chunk]);
    try {
      if (!this.handshake && !this.takeHandshake()) return;
      if (this.handshake.status === 101) while (this.takeFrame());
    } catch (error) {
      this.broken ??= error as Error;
      this.socket.destroy();
    }
  }

  private takeHandshake(): boolean {
    const end = this.input.indexOf("\r\n\r\n");
    if (end < 0) return false;
    const [first, ...lines] = this.input.toString("latin1", 0, end).split("\r\n");
    const headers: Record<string, string> = {};
    for (const line of lines)
      headers[line.slice(0, line.indexOf(":")).toLowerCase()] = line.slice(line.indexOf(":") + 2);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first!)?.[1]);
    const length = status === 101 ? 0 : Number(headers["content-length"]);
    assert(Number.isInteger(length), "a refusal has a length");
    if (this.input.length < end + 4 + length) return false;
    const body = this.input.subarray(end + 4, end + 4 + length);
    this.handshake = { status, headers, body: Buffer.from(body) };
    this.input = this.input.subarray(end + 4 + length);
    return true;
  }

  private takeFrame(): boolean {
    const { input } = this;
    if (input.length < 2) return false;
    assert.equal(input[0]! & 0x70, 0, "no reserved bits");
    assert.equal(input[1]! & 0x80, 0, "a server does not mask");
    const short = input[1]! & 0x7f;
    const start = 2 + (short === 126 ? 2 : short === 127 ? 8 : 0);
    if (input.length < start) return false;
    const n = short === 126 ? input.readUInt16BE(2) : short === 127 ? Number(input.readBigUInt64BE(2)) : short;
    if (input.length < start + n) return false;
    const payload = Buffer.from(input.subarray(start, start + n));
    this.input = input.subarray(start + n);
    this.onFrame(input[0]! & 0xf, (input[0]! & 0x80) !== 0, payload);
    return true;
  }

  private onFrame(op: number, fin: boolean, payload: Buffer): void {
    assert.equal(this.closeStatus, undefined, "nothing follows a close frame");
    if (op >= 8) {
      assert(fin && payload.length <= 125, "a control frame is short and whole");
      this.onControl(op, payload);
      return;
    }
    assert.equal(op === Op.continuation, this.pieces !== undefined, "pieces in order");
    const message = this.pieces
      ? { op: this.pieces.op, payload: Buffer.concat([this.pieces.payload, payload]) }
      : { op, payload };
    this.pieces = fin ? undefined : message;
    if (fin) this.receive(message);
  }

  private onControl(op: number, payload: Buffer): void {
    assert([Op.close, Op.ping, Op.pong].includes(op as never), `opcode ${op}`);
    if (op === Op.ping) this.send(Op.pong, payload);
    if (op === Op.close) {
      this.closeStatus = payload.length === 0 ? 1005 : payload.readUInt16BE(0);
      this.closeReason = payload.toString("utf8", 2);
    } else this.pings.push({ op, payload });
  }
}
