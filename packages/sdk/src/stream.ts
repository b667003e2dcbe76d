// SPDX-License-Identifier: Apache-2.0
// Event streams of running commands and process logs: opening, reading with an idle limit, decoding, leaving.

import { decodeBase64 } from "./base64.js";
import { InisError } from "./errors.js";
import { CallScope, clampDelay } from "./scope.js";
import { type Frame, SseParser } from "./sse.js";
import type { Call, Transport } from "./transport.js";

const DEFAULT_IDLE_MS = 60_000;

export interface StreamCall extends Call {
  options?: { signal?: AbortSignal; idleTimeoutMs?: number };
}

/** A frame of output, decoded from its base64, or any other frame. */
export type OutputFrame =
  | { event: "stdout" | "stderr"; bytes: Uint8Array; id?: string }
  | { event: string; data: string; bytes?: undefined; id?: string };

/**
 * The frames of a stream up to and including the first one of a terminal type. A stream that ends before that fails
 * with `stream_interrupted`. Whatever ends the iteration, the connection is closed.
 */
export async function* readStream(
  transport: Transport,
  call: StreamCall,
  terminal: readonly string[],
  scope: CallScope,
): AsyncGenerator<OutputFrame, void, undefined> {
  const idleMs = call.options?.idleTimeoutMs ?? DEFAULT_IDLE_MS;
  const headMs = idleMs && Math.max(idleMs, transport.timeoutMs);
  const opening = transport.open({ ...call, options: { signal: scope.signal, timeoutMs: 0 } });
  const answer = await withIdleLimit(opening, headMs, scope);
  const reader = answer.response.body?.getReader();
  try {
    const parser = new SseParser();
    for (;;) {
      const piece = await nextPiece(reader, idleMs, scope);
      if (!piece) throw new InisError(INTERRUPTED, { code: "stream_interrupted" });
      for (const frame of parser.push(piece)) {
        yield decodeFrame(frame);
        if (terminal.includes(frame.event)) return;
      }
    }
  } finally {
    reader?.cancel().catch(() => {});
    scope.abort(new InisError("the stream was left", { code: "stream_interrupted" }));
    answer.scope.dispose();
  }
}

const INTERRUPTED = "the stream ended before its last event; what it reported on may still be going on";

async function nextPiece(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  idleMs: number,
  scope: CallScope,
): Promise<Uint8Array | undefined> {
  if (!reader) return undefined;
  try {
    return (await withIdleLimit(reader.read(), idleMs, scope)).value;
  } catch (cause) {
    if (scope.signal.aborted) throw cause;
    throw new InisError(INTERRUPTED, { code: "stream_interrupted", cause });
  }
}

/** Ends the scope when the promise does not settle in time. */
async function withIdleLimit<T>(promise: Promise<T>, idleMs: number, scope: CallScope): Promise<T> {
  const expire = (): void =>
    scope.abort(
      new InisError(`the stream was silent for ${idleMs} ms, without even a keep-alive`, {
        code: "stream_idle_timeout",
        retryable: true,
      }),
    );
  const timer = idleMs ? setTimeout(expire, clampDelay(idleMs)) : undefined;
  try {
    return await scope.race(promise);
  } finally {
    clearTimeout(timer);
  }
}

function decodeFrame(frame: Frame): OutputFrame {
  const { event, data, id } = frame;
  if (event === "stdout" || event === "stderr") return { event, bytes: decodeBase64(data), id };
  return { event, data, id };
}

type OutputName = "stdout" | "stderr";

/** Text of a stream whose pieces may end inside a character: one decoder for stdout, one for stderr. */
export class OutputDecoder {
  readonly #streams = { stdout: new TextStream(), stderr: new TextStream() };

  decode(stream: OutputName, bytes: Uint8Array): string {
    return this.#streams[stream].decode(bytes);
  }

  /** Bytes that were taken in but not given out yet: the beginning of a character. */
  held(stream: OutputName): number {
    return this.#streams[stream].tail.length;
  }

  /** What is left when no more bytes will come: a character that was cut off. */
  *flush(): Generator<{ stream: OutputName; text: string }> {
    for (const stream of ["stdout", "stderr"] as const) {
      const text = this.#streams[stream].end();
      if (text !== "") yield { stream, text };
    }
  }
}

class TextStream {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** The character that is not complete yet. */
  tail: Uint8Array = new Uint8Array(0);

  decode(bytes: Uint8Array): string {
    this.tail = incompleteTail(bytes.length < 3 ? Uint8Array.of(...this.tail, ...bytes) : bytes.subarray(-3));
    return this.#decoder.decode(bytes, { stream: true });
  }

  end(): string {
    this.tail = new Uint8Array(0);
    return this.#decoder.decode();
  }
}

/** The beginning of a UTF-8 character at the end of the bytes, which are the last three or more of a stream. */
function incompleteTail(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    const length = byte >= 0xf5 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : byte >= 0x80 ? 0 : 1;
    if (length > 0) return length > back ? bytes.slice(-back) : new Uint8Array(0);
  }
  return new Uint8Array(0);
}

/**
 * A generator that can be left while it waits: `return` closes the connection at once, where a plain async generator
 * would first wait for the next event.
 */
export function leavable<T>(
  signal: AbortSignal | undefined,
  start: (scope: CallScope) => AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  let running: { scope: CallScope; inner: AsyncGenerator<T, void, undefined> } | undefined;
  let left = false;
  const begin = (): AsyncGenerator<T, void, undefined> => {
    if (!running) {
      const scope = new CallScope(signal);
      running = { scope, inner: start(scope) };
    }
    return running.inner;
  };
  const leave = async (): Promise<void> => {
    left = true;
    running?.scope.abort(new InisError("the stream was left", { code: "stream_interrupted" }));
    running?.scope.dispose();
    await running?.inner.return();
  };
  const outer: AsyncGenerator<T, void, undefined> = {
    async next() {
      if (left) return { done: true, value: undefined };
      try {
        const result = await begin().next();
        if (result.done) running?.scope.dispose();
        return result;
      } catch (error) {
        running?.scope.dispose();
        if (left) return { done: true, value: undefined };
        throw error;
      }
    },
    async return() {
      await leave();
      return { done: true, value: undefined };
    },
    async throw(error) {
      await leave();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return outer;
    },
    async [Symbol.asyncDispose]() {
      await outer.return();
    },
  };
  return outer;
}
