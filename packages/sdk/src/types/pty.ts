// SPDX-License-Identifier: Apache-2.0
// Types of terminals.

import type { SignalOptions } from "./call.js";
import type { Command } from "./exec.js";

export interface PTYOptions extends SignalOptions {
  /** Default 80. */
  cols?: number;
  /** Default 24. */
  rows?: number;
  /** Default: the guest's login shell. */
  command?: Command;
  cwd?: string;
  /** `TERM` in the guest. Default `xterm-256color`. */
  term?: string;
  /** `COLORTERM` in the guest. Default `truecolor`. */
  colorterm?: string;
  /** Milliseconds the terminal may take to open. Default 30 000. */
  openTimeoutMs?: number;
}

export interface PTYExitInfo {
  exitCode: number;
}
