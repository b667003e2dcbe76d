// SPDX-License-Identifier: Apache-2.0
// PTY: an open terminal. Output waits here until it is read; when much of it waits, the server is made to wait.

/// <reference lib="esnext.disposable" preserve="true" />
import "../dispose.js";
import { InisError } from "../errors.js";
import type { SocketHandlers, WebSocketConnection } from "../websocket/connection.js";
import { dataMessages, parseMessage, resizeMessage, signalMessage } from "./messages.js";

/** Unread output above which the connection is no longer read from. */
const HIGH_WATER = 4 * 1024 * 1024;

type Connect = (handlers: SocketHandlers) => Promise<WebSocketConnection>;

/**
 * An open terminal, made by `session.pty()`. Iterating gives its output as bytes, until the program exits or the
 * connection is lost; `exitCode` tells which. Leaving a loop keeps the terminal open; a new loop goes on.
 *
 * @example
 * const pty = await session.pty({ command: ["python3"] });
 * pty.write("print(6 * 7)\nexit()\n");
 * for await (const bytes of pty) process.stdout.write(bytes);
 * console.log("exit code", pty.exitCode);
 */
export class PTY implements AsyncIterable<Uint8Array> {
  #socket: WebSocketConnection | undefined;
  #unread: Uint8Array[] = [];
  #unreadBytes = 0;
  #exitCode: number | null = null;
  #ended = false;
  #error: InisError | undefined;
  #wake: (() => void)[] = [];

  private constructor() {}

  /** @internal */
  static async _open(connect: Connect): Promise<PTY> {
    const pty = new PTY();
    pty.#socket = await connect({
      message: (bytes) => pty.#receive(bytes),
      closed: (error) => pty.#end(error && new InisError(`pty connection failed: ${error.message}`, { cause: error })),
    });
    if (pty.#ended) await pty.#socket.close();
    else pty.#throttle();
    return pty;
  }

  /** The program's exit code; null until it has exited. */
  get exitCode(): number | null {
    return this.#exitCode;
  }

  /** Types into the terminal. Text is sent as UTF-8. */
  write(data: string | Uint8Array): void {
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
    const socket = this.#open();
    for (const message of dataMessages(bytes)) socket.send(message);
  }

  resize(cols: number, rows: number): void {
    this.#open().send(resizeMessage(cols, rows));
  }

  /** Sends a signal, by number, to what runs in the foreground. */
  sendSignal(signal: number): void {
    this.#open().send(signalMessage(signal));
  }

  /** Kills what runs in the foreground. The terminal stays open until its exit is told. */
  kill(): void {
    this.sendSignal(9);
  }

  /** Closes the connection, which hangs up on the program. Closing again is fine. */
  async close(): Promise<void> {
    this.#end();
    await this.#socket?.close();
  }

  /** Closes the connection, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    return { next: () => this.#next() };
  }

  #open(): WebSocketConnection {
    if (this.#ended || !this.#socket?.open) throw new InisError("pty is closed");
    return this.#socket;
  }

  async #next(): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      const bytes = this.#unread.shift();
      if (bytes) {
        this.#unreadBytes -= bytes.length;
        this.#throttle();
        return { done: false, value: bytes };
      }
      if (this.#error) throw this.#error;
      if (this.#ended) return { done: true, value: undefined };
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  #throttle(): void {
    if (this.#unreadBytes > HIGH_WATER) this.#socket?.pause();
    else this.#socket?.resume();
  }

  #receive(bytes: Uint8Array): void {
    const message = parseMessage(bytes);
    if (this.#ended || !message) return;
    if (message.type === "data") {
      this.#unread.push(message.bytes);
      this.#unreadBytes += message.bytes.length;
      this.#throttle();
      this.#wakeReaders();
      return;
    }
    if (message.type === "exit") this.#exitCode = message.exitCode;
    this.#end(message.type === "error" ? new InisError(message.text) : undefined);
    void this.#socket?.close();
  }

  #end(error?: InisError): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#wakeReaders();
  }

  #wakeReaders(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
