// SPDX-License-Identifier: Apache-2.0
// Types of terminals.

import type { CallOptions, SignalOptions } from "./call.js";
import type { Command } from "./exec.js";

export interface PTYOptions extends SignalOptions {
  /**
   * Names the terminal: it goes on when this client is gone, and opening the same name again attaches to it, taking it
   * over from whoever has it. `command`, `cwd`, `term` and `colorterm` then only count when it is started. Needs
   * extension `pty.name`.
   */
  name?: string;
  /** Default 80; a named terminal that runs keeps its size when neither `cols` nor `rows` is given. */
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

/** The size that the output of a named terminal from here on was written for. */
export interface PTYSize {
  cols: number;
  rows: number;
  /** The first event: what follows makes the screen as it is, in a fresh emulator of this size. */
  begin: boolean;
  /** With `begin`: earlier output is not kept any more. The program is made to paint its screen again. */
  truncated: boolean;
  /** The replay is over. What an emulator has answered to the output until here must not be typed. */
  live: boolean;
  /** With `begin`: this call started the terminal. */
  started: boolean;
}

/** What comes from a terminal, in order. Sizes only come from named ones. */
export type PTYEvent = { type: "data"; bytes: Uint8Array } | ({ type: "size" } & PTYSize);

/** A named terminal that runs. */
export interface PTYInfo {
  name: string;
  /** Of its program, as the guest sees it. */
  pid: number;
  rows: number;
  cols: number;
  /** Whether a client has it. */
  attached: boolean;
  startedAt: string;
  /** Absent for a login shell. */
  command?: string[];
}

export interface KillPTYOptions extends CallOptions {
  /** Milliseconds between SIGHUP and SIGKILL. Server's default 1 000. */
  graceMs?: number;
}
