// SPDX-License-Identifier: Apache-2.0
// The server's half of a WebSocket, byte by byte, so that tests can also do what no server may.

import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Client } from "@inis-run/sdk";

export interface ReceivedFrame {
  opcode: number;
  masked: boolean;
  payload: Buffer;
}

/** An unmasked frame. `first` overrides the first byte, for fragments and for nonsense. */
export function serverFrame(opcode: number, payload: Uint8Array, first = 0x80 | opcode): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65536 ? 4 : 10);
  head[0] = first;
  head[1] = length < 126 ? length : length < 65536 ? 126 : 127;
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

/** One connection as the server sees it. */
export class Peer {
  readonly frames: ReceivedFrame[] = [];
  readonly closed: Promise<void>;
  #buffer = Buffer.alloc(0);
  #wake: (() => void)[] = [];

  constructor(
    readonly socket: Socket,
    readonly request: IncomingMessage,
  ) {
    this.closed = new Promise((resolve) => void socket.once("close", () => resolve()));
    socket.on("error", () => {});
    socket.on("end", () => socket.end());
    socket.on("data", (bytes) => this.#receive(bytes));
  }

  send(...frames: Uint8Array[]): void {
    this.socket.write(Buffer.concat(frames));
  }

  /** A terminal message: type byte and payload in a binary frame. */
  message(type: number, payload: Uint8Array | string): void {
    this.send(serverFrame(2, Buffer.concat([Buffer.of(type), Buffer.from(payload as Uint8Array)])));
  }

  exit(code: number): void {
    const payload = Buffer.alloc(4);
    payload.writeInt32BE(code);
    this.message(5, payload);
  }

  /** The frame at this place, once it has come. */
  async frame(index: number): Promise<ReceivedFrame> {
    for (;;) {
      const frame = this.frames[index];
      if (frame) return frame;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  #receive(bytes: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, bytes]);
    for (let frame = this.#parse(); frame; frame = this.#parse()) this.frames.push(frame);
    for (const wake of this.#wake.splice(0)) wake();
  }

  #parse(): ReceivedFrame | undefined {
    const buffer = this.#buffer;
    if (buffer.length < 2) return undefined;
    const short = buffer.readUInt8(1) & 0x7f;
    const start = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (buffer.length < start + 4) return undefined;
    const length = short === 126 ? buffer.readUInt16BE(2) : short === 127 ? Number(buffer.readBigUInt64BE(2)) : short;
    const end = start + 4 + length;
    if (buffer.length < end) return undefined;
    const mask = buffer.subarray(start, start + 4);
    const payload = Buffer.from(buffer.subarray(start + 4, end).map((byte, i) => byte ^ (mask[i & 3] ?? 0)));
    this.#buffer = buffer.subarray(end);
    return { opcode: buffer.readUInt8(0) & 0x0f, masked: (buffer.readUInt8(1) & 0x80) !== 0, payload };
  }
}

/** A server that accepts every handshake, writes `greeting` together with it, and hands each connection over. */
export class WebSocketServer {
  readonly peers: Peer[] = [];
  /** What plain requests for the server's health are told. */
  extensions: string[] = [];
  readonly #server = createServer();
  readonly #sockets = new Set<Socket>();

  static async start(greeting: Uint8Array = Buffer.alloc(0), onPeer: (peer: Peer) => void = () => {}) {
    const it = new WebSocketServer();
    it.#server.on("connection", (socket) => void it.#sockets.add(socket));
    it.#server.on("request", (_, response) =>
      response.end(JSON.stringify({ status: "ok", extensions: it.extensions })),
    );
    it.#server.on("upgrade", (request: IncomingMessage, socket: Socket) => {
      const accept = createHash("sha1")
        .update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
        .digest("base64");
      const head = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
      socket.write(Buffer.concat([Buffer.from(head), greeting]));
      const peer = new Peer(socket, request);
      it.peers.push(peer);
      onPeer(peer);
    });
    await new Promise<void>((resolve) => it.#server.listen(0, "127.0.0.1", resolve));
    return it;
  }

  client(): Client {
    const { port } = this.#server.address() as AddressInfo;
    return new Client({ token: "sk_test", baseUrl: `http://127.0.0.1:${port}` });
  }

  get peer(): Peer {
    const peer = this.peers.at(-1);
    if (!peer) throw new Error("nobody is connected");
    return peer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
