// SPDX-License-Identifier: Apache-2.0
// PTY: an open terminal. Output waits here until it is read; when much of it waits, the server is made to wait.

/// <reference lib="esnext.disposable" preserve="true" />
import "../dispose.js";
import { InisError } from "../errors.js";
import type { PTYEvent } from "../types/index.js";
import type { SocketHandlers, WebSocketConnection } from "../websocket/connection.js";
import { dataMessages, parseMessage, resizeMessage, signalMessage } from "./messages.js";

/** Unread output above which the connection is no longer read from. */
const HIGH_WATER = 4 * 1024 * 1024;

/** Status of the server's close when another client has taken the terminal over. */
const TAKEN_OVER = 4001;

type Connect = (handlers: SocketHandlers) => Promise<WebSocketConnection>;

/**
 * An open terminal, made by `session.pty()`. Iterating gives its output as bytes, until the program exits or the
 * connection is lost; `exitCode` tells which. Leaving a loop keeps the terminal open; a new loop goes on. When another
 * client takes a named terminal over, iterating rejects with code `taken_over`.
 *
 * @example
 * const pty = await session.pty({ command: ["python3"] });
 * pty.write("print(6 * 7)\nexit()\n");
 * for await (const bytes of pty) process.stdout.write(bytes);
 * console.log("exit code", pty.exitCode);
 */
export class PTY implements AsyncIterable<Uint8Array> {
  #socket: WebSocketConnection | undefined;
  #unread: PTYEvent[] = [];
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
      closed: (error, status) => pty.#end(closeError(error, status)),
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

  /**
   * Closes the connection, which hangs up on the program, but leaves a named terminal running. Closing again is fine.
   */
  async close(): Promise<void> {
    this.#end();
    await this.#socket?.close();
  }

  /** Closes the connection, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    return { next: () => this.#nextBytes() };
  }

  /**
   * What comes, with the sizes of a named terminal between the output that was written for them. Takes from the same
   * supply as iterating over the terminal itself.
   *
   * @example
   * const pty = await session.pty({ name: "main", cols: screen.cols, rows: screen.rows });
   * for await (const event of pty.events()) {
   *   if (event.type === "data") screen.write(event.bytes);
   *   else screen.resize(event.cols, event.rows);
   * }
   */
  events(): AsyncIterable<PTYEvent> {
    return { [Symbol.asyncIterator]: () => ({ next: () => this.#next() }) };
  }

  #open(): WebSocketConnection {
    if (this.#ended || !this.#socket?.open) throw new InisError("pty is closed");
    return this.#socket;
  }

  async #nextBytes(): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      const { done, value } = await this.#next();
      if (done) return { done, value };
      if (value.type === "data") return { done: false, value: value.bytes };
    }
  }

  async #next(): Promise<IteratorResult<PTYEvent, undefined>> {
    for (;;) {
      const event = this.#unread.shift();
      if (event) {
        this.#unreadBytes -= weight(event);
        this.#throttle();
        return { done: false, value: event };
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
    if (message.type === "data" || message.type === "size") {
      this.#unread.push(message);
      this.#unreadBytes += weight(message);
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

/** Bytes that an event which waits counts for. */
function weight(event: PTYEvent): number {
  return event.type === "data" ? event.bytes.length : 1;
}

function closeError(cause: Error | undefined, status: number | undefined): InisError | undefined {
  if (cause) return new InisError(`pty connection failed: ${cause.message}`, { cause });
  if (status !== TAKEN_OVER) return undefined;
  return new InisError("another client has taken the terminal over", { code: "taken_over" });
}
