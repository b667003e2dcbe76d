// SPDX-License-Identifier: Apache-2.0
// Types of background processes.

import type { CallOptions, SignalOptions } from "./call.js";
import type { CommandUsage } from "./exec.js";

export interface StartProcessOptions extends SignalOptions {
  /** Directory to start in. Default `/workspace`. */
  cwd?: string;
  /** Keeps the session from going idle while the process runs. */
  keepAlive?: boolean;
  /** Environment for this process, on top of the session's. Needs extension `process.env`. */
  env?: Record<string, string>;
  /** Keeps the process's standard input open for `writeStdin`. Needs extension `process.stdin`. */
  stdin?: boolean;
  /** Milliseconds the process may run before the server kills it. Needs extension `process.timeout`. */
  timeoutMs?: number;
}

/** What it has cost is known when it has exited. */
export interface ProcessInfo extends CommandUsage {
  name: string;
  state: "running" | "exited";
  pid?: number;
  command?: string[];
  /** Present, 0 included, once the process has exited; 128 + n when a signal ended it. */
  exitCode?: number;
  keepAlive?: boolean;
  startedAt?: string;
  endedAt?: string;
  /** The process's `timeoutMs` ended it. */
  timedOut?: boolean;
  /** The memory limit killed something in it. */
  oom?: boolean;
  /** A kill request ended it, or the end of its session. In the answer of `killProcess`: whether this very call did. */
  killed?: boolean;
  /** Number of the signal it died by. */
  signal?: number;
  /** Its standard input is open. */
  hasStdin?: boolean;
}

export interface KillProcessOptions extends CallOptions {
  /** Milliseconds between SIGTERM and SIGKILL. Server's default 5 000. Needs extension `process.kill`. */
  graceMs?: number;
}

export interface EndedOption {
  /**
   * Answers for a session that has ended too, from what the server has kept of it. Without it, or some time later, the
   * session is `not_found` or `session_ended`. Needs extension `process.ended`.
   */
  ended?: boolean;
}

export interface ReadProcessOptions extends CallOptions, EndedOption {}

export interface ProcessLogsOptions extends CallOptions, EndedOption {
  /** Byte offset in stdout to start at. Needs extension `process.logs.from`. */
  from?: number;
  /** Byte offset in stderr to start at. Needs extension `process.logs.from`. */
  fromStderr?: number;
}

export interface ProcessLogs {
  name: string;
  /** Text; or base64 when `stdoutEncoding` says so, because the output was not valid UTF-8. */
  stdout: string;
  stderr: string;
  /** More was captured than one read returns; the end was kept. */
  truncated: boolean;
  stdoutEncoding?: "base64";
  stderrEncoding?: "base64";
  /** Offset of the first byte of `stdout`. Only from servers with extension `process.logs.from`. */
  stdoutOffset?: number;
  /** Offset of the first byte of `stderr`. Only from servers with extension `process.logs.from`. */
  stderrOffset?: number;
}

export interface StreamLogsOptions extends SignalOptions, EndedOption {
  /** Byte offset in stdout to start at. Default 0. Needs extension `process.logs.from`. */
  from?: number;
  /** Byte offset in stderr to start at. Default 0. Needs extension `process.logs.from`. */
  fromStderr?: number;
  /** Asks for `position` on each event. Needs extension `process.logs.from`. */
  positions?: boolean;
  /**
   * Milliseconds without a single byte, keep-alives included, after which the stream fails with
   * `stream_idle_timeout`. Default 60 000; 0 = never.
   */
  idleTimeoutMs?: number;
}

/** One event of a process's log. The last one is always `eof` or `error`. */
export interface ProcessLogEvent {
  event: "stdout" | "stderr" | "eof" | "error";
  /** Decoded text of `stdout` and `stderr`, the message of `error`, empty for `eof`. */
  data: string;
  /** Offsets after this event; pass them as `from` and `fromStderr` to go on from here. Only with `positions`. */
  position?: { stdout: number; stderr: number };
}

export interface WriteStdinOptions extends CallOptions {
  /** Closes standard input after the data. */
  eof?: boolean;
}

export interface WriteStdinResult {
  name: string;
  /** How many bytes the process's pipe was given. */
  bytes: number;
}
