// SPDX-License-Identifier: Apache-2.0
// Turns errors of the Inis service into the error classes Mastra callers already know.
//
// Every error made here has a `cause` (the original) and, when the server said so, `details` with `inisCode`,
// `status`, `retryable`, `retryAfter` and `requestId`, so that a caller can branch without reading messages.
// Classes that the older supported @mastra/core lacks are replaced by their base class with the same `code`.

import { InisError } from "@inis-run/sdk";
import * as mastra from "@mastra/core/workspace";

const { SandboxError, SandboxExecutionError, SandboxNotReadyError } = mastra;

type SandboxErrorInstance = InstanceType<typeof SandboxError>;

/** What only newer versions of @mastra/core export. */
const newer = mastra as unknown as {
  SandboxUnsupportedFeatureError?: new (message: string, details?: Record<string, unknown>) => SandboxErrorInstance;
  SandboxAbortError?: new (operation?: string, reason?: unknown) => SandboxErrorInstance;
  UnsupportedStdinCloseError?: new (message: string) => Error;
};

/** The facts about a failed request that survive the mapping, in `error.details`. */
export interface InisErrorDetails {
  inisCode: string;
  status?: number;
  retryable: boolean;
  retryAfter?: number;
  requestId?: string;
}

/** Codes that say for certain that a session is over. A plain 404 does not: see recovery. */
export const GONE_CODES: ReadonlySet<string> = new Set(["session_ended", "session_node_lost"]);

/** By name as well: a program may hold a second copy of the SDK, loaded in the other module format. */
export function isInisError(error: unknown): error is InisError {
  return error instanceof InisError || (error instanceof Error && error.name === "InisError" && "code" in error);
}

/** Maps an error of the service; anything else is returned untouched. */
export function toSandboxError(error: unknown): unknown {
  if (!isInisError(error)) return error;
  const message = describe(error);
  const details = detailsOf(error);
  if (GONE_CODES.has(error.code)) return withDetails(new SandboxNotReadyError(message), details, error);
  if (error.code === "not_implemented") return unsupported(message, details, error);
  return withDetails(new SandboxError(message, error.code), details, error);
}

/** The command was started, but nobody knows how it ended. Carries the output that did arrive. */
export function outcomeUnknown(cause: unknown, output: { stdout: string; stderr: string }): Error {
  const message = `the connection was lost while the command ran; it may or may not have finished: ${textOf(cause)}`;
  const error = new SandboxExecutionError(message, -1, output.stdout, output.stderr);
  return withDetails(error, isInisError(cause) ? detailsOf(cause) : {}, cause);
}

/** The session behind a sandbox is gone and may not, or could not, be replaced. */
export function sessionGone(sessionId: string, cause: unknown): Error {
  const error = new SandboxNotReadyError(`session ${sessionId} is gone: ${textOf(cause)}`);
  return withDetails(error, isInisError(cause) ? detailsOf(cause) : {}, cause);
}

/** The server, or this session, cannot do what was asked. */
export function unsupported(message: string, details: object = {}, cause?: unknown): Error {
  const error = newer.SandboxUnsupportedFeatureError
    ? new newer.SandboxUnsupportedFeatureError(message)
    : new SandboxError(message, "UNSUPPORTED_FEATURE");
  return withDetails(error, details, cause);
}

export function aborted(operation: string, reason: unknown): Error {
  const error = newer.SandboxAbortError
    ? new newer.SandboxAbortError(operation, reason)
    : new SandboxError(`${operation} was aborted`, "ABORTED");
  return withDetails(error, {}, reason);
}

/** Some files of a bulk write were refused; the others are written. */
export function writeFailed(failures: readonly { path: string; message: string }[], total: number): Error {
  const list = failures.map(({ path, message }) => `${path}: ${message}`).join("; ");
  return new SandboxError(`${failures.length}/${total} files could not be written: ${list}`, "WRITE_FAILED", {
    failures,
  });
}

export function invalidArgument(message: string): Error {
  return new SandboxError(message, "INVALID_ARGUMENT");
}

/** Mastra treats this class as "finish the stream anyway"; the older core has no such notion. */
export function stdinCloseUnsupported(message: string): Error {
  return newer.UnsupportedStdinCloseError ? new newer.UnsupportedStdinCloseError(message) : unsupported(message);
}

/** The wording is part of the published adapter's behaviour; logs are searched for it. */
function describe(error: InisError): string {
  return `inis error [${error.code}] (status=${error.status}, retryable=${error.retryable}): ${error.message}`;
}

function detailsOf(error: InisError): InisErrorDetails {
  const { code: inisCode, status, retryable, retryAfter, requestId } = error;
  return { inisCode, status, retryable, retryAfter, requestId };
}

function withDetails(error: SandboxErrorInstance, details: object, cause: unknown): Error {
  Object.assign(error, { details: { ...error.details, ...details } });
  if (cause !== undefined) error.cause = cause;
  return error;
}

function textOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
