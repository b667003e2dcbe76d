// SPDX-License-Identifier: Apache-2.0
// Turns refusals of file operations into the error classes of Mastra's file systems. `cause` is the original.

import type { InisError } from "@inis-run/sdk";
import * as mastra from "@mastra/core/workspace";
import { isInisError } from "./errors.js";

const {
  DirectoryNotEmptyError,
  DirectoryNotFoundError,
  FileExistsError,
  FileNotFoundError,
  FilesystemError,
  IsDirectoryError,
  NotDirectoryError,
  PermissionError,
} = mastra;

/** What only newer versions of @mastra/core export. */
const newer = mastra as unknown as {
  UnsupportedGrepPatternError?: new (pattern: string, reason?: string) => Error;
};

export interface FileOperation {
  name: string;
  path: string;
  /** What the path is expected to be. */
  expects?: "file" | "directory";
}

/** The refusal behind an error of the session, if it is one. */
export function refusalOf(error: unknown): InisError | undefined {
  if (isInisError(error)) return error;
  const cause = error instanceof Error ? error.cause : undefined;
  return isInisError(cause) ? cause : undefined;
}

/** The error of Mastra for it; anything that has none is returned untouched. */
export function toFileError(error: unknown, operation: FileOperation): unknown {
  const refusal = refusalOf(error);
  const mapped = refusal && fileError(refusal, operation);
  if (mapped) mapped.cause = refusal;
  return mapped ?? error;
}

function fileError({ code, message }: InisError, { name, path, expects }: FileOperation): Error | undefined {
  if (/directory not empty/i.test(message)) return new DirectoryNotEmptyError(path);
  if (/not a directory/i.test(message)) return new NotDirectoryError(path);
  if (code === "is_directory" || /is a directory/i.test(message)) return new IsDirectoryError(path);
  if (/no such file or directory/i.test(message)) {
    return expects === "directory" ? new DirectoryNotFoundError(path) : new FileNotFoundError(path);
  }
  if (/file exists/i.test(message)) return new FileExistsError(path);
  if (code === "permission_denied" || code === "invalid_path") return new PermissionError(path, name);
  return undefined;
}

export function isMissing(error: unknown): boolean {
  return error instanceof FileNotFoundError || error instanceof DirectoryNotFoundError;
}

export function copyFailed(path: string, reason: string): Error {
  return new FilesystemError(`Cannot copy ${path}: ${reason}`, "COPY_FAILED", path);
}

/** Tells Mastra to search by itself, file by file. */
export function unsupportedPattern(pattern: string, reason: string): Error {
  return newer.UnsupportedGrepPatternError
    ? new newer.UnsupportedGrepPatternError(pattern, reason)
    : new FilesystemError(`Unsupported pattern ${pattern}: ${reason}`, "UNSUPPORTED_PATTERN", pattern);
}
