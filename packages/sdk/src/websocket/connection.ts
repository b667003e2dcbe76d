// SPDX-License-Identifier: Apache-2.0
// An open WebSocket over a Node socket: messages in and out, pings answered, an orderly close.

import type { Socket } from "node:net";
import { encodeFrame, FrameReader, type Message, Opcode, ProtocolError } from "./frames.js";

export interface SocketHandlers {
  /** A whole binary message. */
  message(payload: Uint8Array): void;
  /** The connection is over; called once. `error` when the server broke the protocol; `status` when it said one. */
  closed(error?: Error, status?: number): void;
}

/** How long the server may take to answer our close. */
const CLOSE_LIMIT_MS = 2_000;
const NORMAL = Uint8Array.of(1000 >> 8, 1000 & 0xff);

export class WebSocketConnection {
  readonly #socket: Socket;
  readonly #reader: FrameReader;
  readonly #handlers: SocketHandlers;
  readonly #gone: Promise<void>;
  #closing = false;
  #error: Error | undefined;
  #status: number | undefined;

  /** @param head bytes that came together with the end of the handshake */
  constructor(socket: Socket, head: Uint8Array, maxMessage: number, handlers: SocketHandlers) {
    this.#socket = socket;
    this.#reader = new FrameReader(maxMessage);
    this.#handlers = handlers;
    socket.setNoDelay(true);
    this.#gone = new Promise((resolve) => {
      socket.once("close", () => {
        this.#closing = true;
        handlers.closed(this.#error, this.#status);
        resolve();
      });
    });
    socket.on("error", () => socket.destroy());
    socket.on("end", () => socket.end());
    socket.on("data", (bytes: Uint8Array) => this.#receive(bytes));
    if (head.length > 0) this.#receive(head);
    socket.resume();
  }

  get open(): boolean {
    return !this.#closing;
  }

  send(payload: Uint8Array): void {
    this.#write(Opcode.binary, payload);
  }

  /** Stops reading, and so makes the server wait. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Resolves when the connection is gone. */
  close(): Promise<void> {
    this.#close(NORMAL);
    return this.#gone;
  }

  #write(opcode: Message["opcode"], payload: Uint8Array): void {
    if (this.#socket.writable) this.#socket.write(encodeFrame(opcode, payload));
  }

  #close(payload: Uint8Array): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#write(Opcode.close, payload);
    this.#socket.end();
    this.#socket.resume();
    const limit = setTimeout(() => this.#socket.destroy(), CLOSE_LIMIT_MS);
    this.#socket.once("close", () => clearTimeout(limit));
  }

  #receive(bytes: Uint8Array): void {
    if (this.#error) return;
    try {
      for (const message of this.#reader.push(bytes)) this.#dispatch(message);
    } catch (error) {
      this.#error = error as Error;
      const code = error instanceof ProtocolError ? error.closeCode : 1011;
      this.#close(Uint8Array.of(code >> 8, code & 0xff));
      this.#socket.destroySoon();
    }
  }

  #dispatch({ opcode, payload }: Message): void {
    if (opcode === Opcode.binary) {
      if (!this.#closing) this.#handlers.message(payload);
    } else if (opcode === Opcode.ping) this.#write(Opcode.pong, payload);
    else if (opcode === Opcode.close) {
      if (payload.length >= 2) this.#status = new DataView(payload.buffer, payload.byteOffset).getUint16(0);
      this.#close(payload.subarray(0, 2));
    }
  }
}
