// SPDX-License-Identifier: Apache-2.0
// A buffered command run on the stream: its output is collected here as the server would have.

import { encodeBase64 } from "../base64.js";
import { InisError } from "../errors.js";
import { CallScope } from "../scope.js";
import { readStream } from "../stream.js";
import type { Transport } from "../transport.js";
import type { ExecResult } from "../types/index.js";
import type { Wire } from "../wire.js";
import { toExit } from "./exec.js";

const CAPTURE_BYTES = 4 * 1024 * 1024;

export async function collectExec(
  transport: Transport,
  path: string,
  json: Wire,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<ExecResult> {
  const captures = { stdout: new Capture(), stderr: new Capture() };
  const scope = new CallScope(signal, timeoutMs);
  try {
    const call = { method: "POST", path, query: { stream: true }, json } as const;
    for await (const frame of readStream(transport, call, ["exit", "error"], scope)) {
      if (frame.bytes) captures[frame.event].add(frame.bytes);
      else if (frame.event === "error") throw new InisError(frame.data, { code: "internal" });
      else if (frame.event === "exit") return result(captures, toExit(frame.data));
    }
    throw new InisError("the stream ended before its last event", { code: "stream_interrupted" });
  } finally {
    scope.dispose();
  }
}

function result(captures: { stdout: Capture; stderr: Capture }, exit: ReturnType<typeof toExit>): ExecResult {
  const stdout = captures.stdout.finish();
  const stderr = captures.stderr.finish();
  return {
    ...exit,
    stdout: stdout.text,
    stderr: stderr.text,
    truncated: captures.stdout.truncated || captures.stderr.truncated,
    ...(stdout.binary && { stdoutEncoding: "base64" }),
    ...(stderr.binary && { stderrEncoding: "base64" }),
  };
}

/** The beginning of one output stream. */
class Capture {
  truncated = false;
  #pieces: Uint8Array[] = [];
  #length = 0;

  add(bytes: Uint8Array): void {
    const room = CAPTURE_BYTES - this.#length;
    if (bytes.length > room) this.truncated = true;
    const kept = bytes.subarray(0, room);
    this.#pieces.push(kept);
    this.#length += kept.length;
  }

  finish(): { text: string; binary: boolean } {
    const bytes = new Uint8Array(this.#length);
    let at = 0;
    for (const piece of this.#pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    try {
      // A cut may have gone through a character: `stream` leaves its beginning out instead of failing.
      return { text: decoder.decode(bytes, { stream: this.truncated }), binary: false };
    } catch {
      return { text: encodeBase64(bytes), binary: true };
    }
  }
}
