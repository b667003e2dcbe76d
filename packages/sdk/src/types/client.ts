// SPDX-License-Identifier: Apache-2.0
// Types of the client itself: how it is made and what it tells about the server.

import type { CallOptions, SignalOptions } from "./call.js";
import type { CommandCapture, SessionSize } from "./session.js";

/** How to reach a server. */
export interface ClientOptions {
  /** API key. Default: the environment's `INIS_API_KEY`. */
  token?: string;
  /** Server URL. Default: the environment's `INIS_BASE_URL`; with a key but no URL, `https://api.inis.run`. */
  baseUrl?: string;
  /** Milliseconds a call that does not stream may take. Default 120 000. */
  timeoutMs?: number;
}

/** What the server says about itself. */
export interface Health {
  status: string;
  version?: string;
  /** Names of the protocol extensions that this server has; empty for a server that has none. */
  extensions: string[];
}

export interface CapacityLimits {
  running: number;
  warm: number;
}

/** How many sessions the account has, and may have. */
export interface Capacity {
  running: number;
  warm: number;
  /** Absent when there is no cap. */
  limits?: CapacityLimits;
}

export interface UsageOptions extends CallOptions {
  /** RFC 3339. Default: the start of the current month. */
  since?: string;
  /** RFC 3339. Default: now. */
  until?: string;
  /** Splits the cost by a label, e.g. `label:team`. */
  groupBy?: string;
}

export interface UsageLabelCost {
  label: string;
  costCents: number;
}

/** What an account used in a period. Times are RFC 3339, money is in cents or thousandths of one. */
export interface UsageSummary {
  periodStart: string;
  since: string;
  until: string;
  executions: number;
  vmSeconds: number;
  vmMs: number;
  pausedStorageCents: number;
  volumeStorageCents: number;
  costToDateCents: number;
  pendingMillicents: number;
  computePendingMillicents: number;
  pausedPendingMillicents: number;
  volumePendingMillicents: number;
  balanceCents: number;
  labels?: UsageLabelCost[];
}

/** What one session used since it was made. */
export interface SessionUsage {
  sessionId: string;
  executions: number;
  vmSeconds: number;
  vmMs: number;
  pausedStorageCents: number;
  volumeStorageCents: number;
  costToDateCents: number;
}

/** One-shot execution: a throwaway session made, used and destroyed in one call. */
export interface ExecuteOptions extends SignalOptions {
  language: "python" | "node" | "bun";
  /** Source text. */
  code: string;
  /** Packages of that language, installed first. */
  dependencies?: string[];
  volumeId?: string;
  /** Milliseconds the code may run. */
  timeoutMs?: number;
  size?: SessionSize;
  template?: string;
  noSudo?: boolean;
  commandCapture?: CommandCapture;
}
