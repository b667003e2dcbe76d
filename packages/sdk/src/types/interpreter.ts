// SPDX-License-Identifier: Apache-2.0
// Types of the code interpreter.

import type { SignalOptions } from "./call.js";

export interface RunCodeOptions extends SignalOptions {
  /** Milliseconds to wait for the code. Default 30 000. The interpreter goes on when they are over. */
  timeoutMs?: number;
}

/** One thing a piece of code produced; which members are set depends on `type`. */
export interface InterpreterResult {
  type: "text" | "image" | "table" | "json" | "error";
  /** `text`: where it was written; `result` is the value of the last expression. */
  stream?: "stdout" | "stderr" | "result";
  /** `text`. */
  text?: string;
  /** `image`. */
  format?: "png";
  /** `image`: where it lies in the session. */
  path?: string;
  /** `image`: bytes. */
  size?: number;
  /** `image`: its content. */
  data?: Uint8Array;
  /** `table`. */
  columns?: string[];
  /** `table`: the first 1000 records. */
  rows?: Record<string, unknown>[];
  /** `table`: how many there are in all. */
  rowCount?: number;
  /** `table`. */
  truncated?: boolean;
  /** `json`. */
  json?: unknown;
  /** `error`: class of the exception. */
  ename?: string;
  /** `error`: its message. */
  evalue?: string;
  /** `error`. */
  traceback?: string;
}
