// SPDX-License-Identifier: Apache-2.0
// Types of command execution.

import type { SignalOptions } from "./call.js";

/** A command: an argument vector run as it is, or a string run by `bash -lc`. */
export type Command = string | readonly string[];

export interface ExecOptions extends SignalOptions {
  /** Directory to start in. Default `/workspace`. */
  cwd?: string;
  /** Milliseconds the command may run; then it is killed and the result has `timedOut`. */
  timeoutMs?: number;
  /** Environment for this command, on top of the session's. Needs extension `exec.env`. */
  env?: Record<string, string>;
  /** Bytes or text for the command's standard input, which is otherwise empty. Needs extension `exec.stdin`. */
  stdin?: string | Uint8Array;
  /** Name by which `cancelExec` can end this command while it runs. Needs extension `exec.id`. */
  execId?: string;
}

export interface ExecStreamOptions extends ExecOptions {
  /**
   * Milliseconds without a single byte, keep-alives included, after which the stream fails with
   * `stream_idle_timeout`. Default 60 000; 0 = never.
   */
  idleTimeoutMs?: number;
}

/** What a command has cost; members are absent where that is not known. Only from servers with extension `exec.usage`. */
export interface CommandUsage {
  /** Milliseconds of processor time of all its processes. */
  cpuMs?: number;
  /** Bytes: the largest resident set that one of its processes had. */
  peakMemoryBytes?: number;
  /** Bytes written to stdout, those that were cut off included. */
  stdoutBytes?: number;
  /** Bytes written to stderr, those that were cut off included. */
  stderrBytes?: number;
}

export interface ExecResult extends CommandUsage {
  /** Text; or base64 when `stdoutEncoding` says so, because the output was not valid UTF-8. */
  stdout: string;
  stderr: string;
  exitCode: number;
  durationMs: number;
  /** The command's `timeoutMs` ended it. */
  timedOut: boolean;
  /** A stream was longer than the capture cap of 4 MiB; its beginning was kept. */
  truncated: boolean;
  stdoutEncoding?: "base64";
  stderrEncoding?: "base64";
  /** Milliseconds the host needed to obtain the session before the command ran. */
  restoreMs?: number;
  /** One-shot execution only: milliseconds spent on installing dependencies. */
  installMs?: number;
  /** One-shot execution only: the phase that produced this result. */
  phase?: string;
  /** The memory limit killed something in this command. Only from servers with extension `exec.oom`. */
  oom?: boolean;
  /** One-shot execution only: the session that it was, for `audit()`. Only from servers with `session.audit`. */
  sessionId?: string;
}

/** One event of a running command. The last one is always `exit` or `error`; what it has cost is told with `exit`. */
export interface ExecStreamEvent extends CommandUsage {
  stream: "stdout" | "stderr" | "exit" | "error";
  /** Decoded text of `stdout` and `stderr`, the message of `error`, empty for `exit`. */
  data: string;
  /** Only on `exit`. */
  exitCode?: number;
  /** Only on `exit`. */
  timedOut?: boolean;
  /** Only on `exit`. */
  durationMs?: number;
  /** Only on `exit`: the memory limit killed something in this command. */
  oom?: boolean;
}

export interface CancelExecResult {
  execId: string;
  /** False when the command had ended by itself. */
  killed: boolean;
}

export interface BatchExecOptions extends SignalOptions {
  sessionIds: string[];
  command: Command;
  cwd?: string;
  /** Milliseconds the command may run in each session. */
  timeoutMs?: number;
  /** Environment for this command, on top of each session's. Needs extension `exec.env`. */
  env?: Record<string, string>;
}

/** The command's result in one session; `error` is set instead when that session could not be reached. */
export interface BatchExecResult extends CommandUsage {
  sessionId: string;
  stdout: string;
  stderr: string;
  exitCode: number;
  durationMs: number;
  timedOut: boolean;
  stdoutEncoding?: "base64";
  stderrEncoding?: "base64";
  /** A stream was longer than is kept of it. Only from servers with extension `exec.batch`. */
  truncated?: boolean;
  /** The memory limit killed something in it. */
  oom?: boolean;
  error?: string;
}
