// SPDX-License-Identifier: Apache-2.0
// Bulk upload: many small files travel together, a big one on its own.
//
// Nothing is rolled back: after an error or an abort, files that were written stay.

import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Session } from "@inis-run/sdk";
import { capabilitiesOf } from "./capabilities.js";
import { aborted, invalidArgument, isInisError, unsupported, writeFailed } from "./errors.js";

/** What one batch request may carry. */
const MAX_BATCH_FILES = 64;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
const MAX_MODE = 0o777;

export interface SandboxFile {
  path: string;
  content: string | Buffer;
  /** Permission bits. Default: the server's, 0644. */
  mode?: number;
}

interface FileFailure {
  path: string;
  message: string;
}

/** @throws one error that names every file that could not be written. */
export async function writeFiles(session: Session, files: readonly SandboxFile[], signal?: AbortSignal): Promise<void> {
  for (const file of files) checkMode(file);
  if (files.some((file) => file.mode !== undefined) && !(await capabilitiesOf(session)).fileModes) {
    throw unsupported("this server cannot set the mode of a file (extension files.mode)");
  }
  const failures: FileFailure[] = [];
  for (const batch of inBatches(files)) {
    if (signal?.aborted) throw aborted("writeFiles", signal.reason);
    try {
      failures.push(...(await writeBatch(session, batch, signal)));
    } catch (error) {
      throw signal?.aborted ? aborted("writeFiles", signal.reason) : error;
    }
  }
  if (failures.length > 0) throw writeFailed(failures, files.length);
}

function checkMode({ path, mode }: SandboxFile): void {
  if (mode === undefined || (Number.isInteger(mode) && mode >= 1 && mode <= MAX_MODE)) return;
  throw invalidArgument(`mode of ${path} must be an integer from 0o001 to 0o777, not ${mode}`);
}

function sizeOf({ content }: SandboxFile): number {
  return Buffer.byteLength(content);
}

/** In order, as many as fit. A file that fits into no batch comes alone. */
function* inBatches(files: readonly SandboxFile[]): Generator<SandboxFile[]> {
  let batch: SandboxFile[] = [];
  let bytes = 0;
  for (const file of files) {
    const size = sizeOf(file);
    if (batch.length === MAX_BATCH_FILES || (batch.length > 0 && bytes + size > MAX_BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(file);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

async function writeBatch(
  session: Session,
  batch: readonly SandboxFile[],
  signal?: AbortSignal,
): Promise<FileFailure[]> {
  const [first] = batch;
  if (batch.length === 1 && first && sizeOf(first) > MAX_BATCH_BYTES) return uploadOne(session, first, signal);
  const results = await session.writeFiles(
    batch.map(({ path, content, mode }) => ({ path, content, mode })),
    { signal },
  );
  return results.filter((result) => !result.ok).map(({ path, error }) => ({ path, message: error ?? "unknown error" }));
}

/** Streamed from a private temporary file. What is wrong with this file must not stop the others. */
async function uploadOne(session: Session, file: SandboxFile, signal?: AbortSignal): Promise<FileFailure[]> {
  const local = join(tmpdir(), `inis-upload-${randomUUID()}`);
  try {
    await writeFile(local, file.content, { mode: 0o600, flag: "wx", signal });
    await session.uploadFile(local, file.path, { mode: file.mode, signal });
    return [];
  } catch (error) {
    if (isInisError(error) && error.status === 400) return [{ path: file.path, message: error.message }];
    throw error;
  } finally {
    await rm(local, { force: true });
  }
}
