// SPDX-License-Identifier: Apache-2.0
// Types of a session's audit log.

import type { CallOptions } from "./call.js";

export interface AuditOptions extends CallOptions {
  /** Most entries to get; the server's default is 50, its maximum 200. */
  limit?: number;
  /** `nextCursor` of the page before. */
  cursor?: string;
}

/** One command that was run in a session, or that could not be started. */
export interface AuditEntry {
  /** Later entries have higher numbers. */
  seq: number;
  kind: "exec" | "batch_exec" | "one_shot" | "process" | "pty";
  /** Of the process or of the terminal. */
  name?: string;
  /** Which API key asked for it: the beginning of the key's SHA-256. */
  keyId?: string;
  /** Sessions with `commandCapture` `hash`: SHA-256 of the argv, a zero byte after each item. */
  commandSha256?: string;
  /** Sessions with `commandCapture` `executable`: the first item of the argv. */
  executable?: string;
  /** Sessions with `commandCapture` `full`: the argv. */
  command?: string[];
  /** `command` was longer than is kept. */
  commandTruncated?: boolean;
  startedAt: string;
  /** Absent while it runs, and when its end is not known. */
  endedAt?: string;
  exitCode?: number;
  timedOut?: boolean;
  durationMs?: number;
  cpuMs?: number;
  /** Code of the error for which it was not started, or not run to its end. */
  error?: string;
}

export interface AuditPage {
  /** The latest first. */
  entries: AuditEntry[];
  /** Absent on the last page. */
  nextCursor?: string;
}
