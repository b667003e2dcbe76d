// SPDX-License-Identifier: Apache-2.0
// Whole files between this machine's disk and a session, streamed, of any size.
//
// The time limit is on progress, not on the whole: a transfer fails when nothing moves for that long.

import type { FileHandle } from "node:fs/promises";
import { InisError } from "../errors.js";
import { nodeModule } from "../node.js";
import { CallScope, clampDelay } from "../scope.js";
import type { Transport } from "../transport.js";
import type { CallOptions, DownloadResult, RangeOptions, UploadResult, WriteFileOptions } from "../types/index.js";
import { asObject } from "../wire.js";
import { filesPath, wantsRange } from "./files.js";

const PIECE_BYTES = 4 * 1024 * 1024;
const PURPOSE = "a transfer from or to the local disk";

/** Ends the scope when nothing moved for a while. */
class Progress {
  readonly scope: CallScope;
  readonly #limitMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(transport: Transport, options: CallOptions | undefined) {
    this.scope = new CallScope(options?.signal);
    this.#limitMs = options?.timeoutMs ?? transport.timeoutMs;
    this.made();
  }

  made(): void {
    clearTimeout(this.#timer);
    if (!this.#limitMs || this.scope.signal.aborted) return;
    const stalled = (): void =>
      this.scope.abort(new DOMException(`The transfer made no progress for ${this.#limitMs} ms`, "AbortError"));
    this.#timer = setTimeout(stalled, clampDelay(this.#limitMs));
  }

  /** Stops what still moves, as the rest of a body that the server did not want. */
  end(): void {
    clearTimeout(this.#timer);
    this.scope.abort(undefined);
    this.scope.dispose();
  }
}

export async function uploadFile(
  transport: Transport,
  sessionId: string,
  localPath: string,
  remotePath: string,
  options?: WriteFileOptions,
): Promise<UploadResult> {
  const mode = options?.mode;
  await transport.requireExtensions({ "files.mode": mode === undefined ? undefined : "mode of a file" }, options);
  const { open } = await nodeModule("node:fs/promises", PURPOSE);
  const { createHash } = await nodeModule("node:crypto", PURPOSE);
  const file = await open(localPath, "r");
  const progress = new Progress(transport, options);
  try {
    let hash = createHash("sha256");
    const answer = await transport.json({
      method: "PUT",
      path: `${filesPath(sessionId)}/stream`,
      query: { path: remotePath, mode: mode?.toString(8) },
      body: () => {
        hash = createHash("sha256");
        return fileBody(file, (piece) => {
          hash.update(piece);
          progress.made();
        });
      },
      options: { signal: progress.scope.signal, timeoutMs: 0 },
    });
    return checkedUpload(asObject(answer), remotePath, hash.digest("hex"));
  } finally {
    progress.end();
    await file.close();
  }
}

function fileBody(file: FileHandle, onPiece: (piece: Uint8Array) => void): ReadableStream<Uint8Array> {
  let position = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { bytesRead, buffer } = await file.read(new Uint8Array(PIECE_BYTES), 0, PIECE_BYTES, position);
        if (bytesRead === 0) return controller.close();
        position += bytesRead;
        const piece = buffer.subarray(0, bytesRead);
        onPiece(piece);
        controller.enqueue(piece);
      },
    },
    { highWaterMark: 0 },
  );
}

function checkedUpload(answer: Record<string, unknown>, path: string, sha256: string): UploadResult {
  if (typeof answer.sha256 === "string" && answer.sha256.toLowerCase() !== sha256) {
    throw new InisError(`${path}: the server received other bytes than were sent`, { code: "checksum_mismatch" });
  }
  return {
    path: typeof answer.path === "string" ? answer.path : path,
    bytes: typeof answer.bytes === "number" ? answer.bytes : 0,
    sha256,
    durationMs: typeof answer.duration_ms === "number" ? answer.duration_ms : 0,
  };
}

export async function downloadFile(
  transport: Transport,
  sessionId: string,
  remotePath: string,
  localPath: string,
  options?: RangeOptions,
): Promise<DownloadResult> {
  await transport.requireExtensions({ "files.range": wantsRange(options) }, options);
  const { open } = await nodeModule("node:fs/promises", PURPOSE);
  const progress = new Progress(transport, options);
  try {
    const { response, scope } = await transport.open({
      method: "GET",
      path: `${filesPath(sessionId)}/stream`,
      query: { path: remotePath, offset: options?.offset, length: options?.length },
      options: { signal: progress.scope.signal, timeoutMs: 0 },
    });
    try {
      const file = await open(localPath, "w");
      try {
        return { path: remotePath, localPath, ...(await receive(response, file, progress)) };
      } finally {
        await file.close();
      }
    } finally {
      scope.dispose();
    }
  } finally {
    progress.end();
  }
}

async function receive(
  response: Response,
  file: FileHandle,
  progress: Progress,
): Promise<{ bytes: number; sha256: string }> {
  const { createHash } = await nodeModule("node:crypto", PURPOSE);
  const hash = createHash("sha256");
  const reader = response.body?.getReader();
  let bytes = 0;
  while (reader) {
    const { done, value } = await progress.scope.race(reader.read());
    if (done) break;
    progress.made();
    hash.update(value);
    await writeAll(file, value);
    bytes += value.length;
  }
  return { bytes, sha256: hash.digest("hex") };
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  let at = 0;
  while (at < piece.length) at += (await file.write(piece, at)).bytesWritten;
}
