// SPDX-License-Identifier: Apache-2.0
// Types of sessions: how one is made, what the server tells about it.

import type { CallOptions } from "./call.js";
import type { ConnectionCreate, ConnectionStatus, EgressPolicy, ExposedPreview } from "./network.js";

export type SessionState = "creating" | "live" | "paused" | "lifetime_expired" | "failed" | "ended";
/** What a session in state `creating` waits for. */
export type SessionStatusDetail = "waiting_for_capacity" | "preparing_template" | "starting";
export type SessionSize = "small" | "medium" | "large" | "xlarge";
/** What happens when the last terminal's client goes away. */
export type OnPtyDetach = "keep_live" | "pause" | "destroy";
/** What counts as activity: API operations only, or a busy guest too. */
export type IdleMode = "ops" | "activity";
export type EndReason =
  | "client_destroy"
  | "shell_exit"
  | "on_detach_destroy"
  | "max_lifetime"
  | "paused_ttl"
  | "error"
  | "lease_expired";
/** How much of each command the audit log keeps. */
export type CommandCapture = "hash" | "executable" | "full";

export interface CreateSessionOptions extends CallOptions {
  /** Unique among the account's sessions. */
  name?: string;
  labels?: Record<string, string>;
  /** Your own key for this session; `sessions.list({externalId})` finds it again. Not unique. */
  externalId?: string;
  volumeId?: string;
  /** Milliseconds the session may exist; no cap by default. */
  maxLifetimeMs?: number;
  /** Milliseconds without activity after which the session is paused. */
  idleTimeoutMs?: number;
  idleMode?: IdleMode;
  /** Network policy; `mode` is `"allow"` unless given. */
  egress?: EgressPolicy;
  /** Template name, alias, `name@version`, or `base`. */
  template?: string;
  size?: SessionSize;
  /** Takes passwordless sudo away from the guest's user. */
  noSudo?: boolean;
  /** `false`: an HTTP request to a preview URL does not wake the session. */
  wakeOnHttp?: boolean;
  onPtyDetach?: OnPtyDetach;
  /** Milliseconds after which a paused session is destroyed; 0 = the server's default, negative = never. */
  pausedTtlMs?: number;
  /**
   * With the embedded engine and no `maxLifetimeMs`, a session ends a minute after the program that made it, unless
   * this is `false`.
   */
  lease?: boolean;
  /** Destroys the session when its first command completes. */
  destroyOnCompletion?: boolean;
  commandCapture?: CommandCapture;
  /** Environment of every command. Echoed back by the server. */
  env?: Record<string, string>;
  /** Like `env`, but encrypted at rest and never returned. */
  secrets?: Record<string, string>;
  /** Names of stored connectors this session may use. */
  connectors?: string[];
  connections?: ConnectionCreate[];
  /** Enables the guest's event channel. */
  events?: boolean;
  /** Creating again with the same key and options returns the same session. Sent as a header. */
  idempotencyKey?: string;
  /** Called with each status detail while the session is being made; the same one may come repeatedly. */
  onStatus?: (detail: SessionStatusDetail) => void;
  /** `false` returns as soon as the server has accepted; the first operation then waits. Default true. */
  wait?: boolean;
}

export interface ListSessionsOptions extends CallOptions {
  /** One state; without it, all sessions that have not ended. */
  state?: SessionState;
  limit?: number;
  /** `nextCursor` of the page before. */
  cursor?: string;
  externalId?: string;
}

export interface ListSessionsResult {
  sessions: SessionInfo[];
  /** Absent on the last page. */
  nextCursor?: string;
}

/** State of the durable copy of a paused session. */
export interface ArchiveStatus {
  status: "pending" | "complete" | "failed";
  coldUri?: string;
  uploadedAt?: string;
}

/** What the server tells about a session. Times are RFC 3339 in UTC. */
export interface SessionInfo {
  sessionId: string;
  state: SessionState;
  /** Only while `creating`. */
  statusDetail?: SessionStatusDetail;
  /** Why, when `failed` or `lifetime_expired`. */
  statusReason?: string;
  name?: string;
  labels?: Record<string, string>;
  externalId?: string;
  createdAt?: string;
  lastActiveAt?: string;
  /** Only when `ended`. */
  endedAt?: string;
  /** Only when `ended`. */
  endReason?: EndReason;
  idleTimeoutMs?: number;
  idleMode?: IdleMode;
  idleBusyCpuThresholdPct?: number;
  idleBusyNetworkBytesPerSec?: number;
  maxLifetimeMs?: number;
  onPtyDetach?: OnPtyDetach;
  pausedTtlMs?: number;
  /** The session ends unless its lease is renewed within this time. */
  leaseMs?: number;
  noSudo?: boolean;
  wakeOnHttp: boolean;
  /** Gates of the guest's self API, as the server sent them. */
  selfApi?: Record<string, unknown>;
  size?: SessionSize;
  vcpus?: number;
  memMb?: number;
  nodeId?: string;
  volumeId?: string;
  /** Absent for the default base environment. */
  template?: string;
  exposedPorts?: number[];
  exposedPreviews?: ExposedPreview[];
  egress?: EgressPolicy;
  archive?: ArchiveStatus;
  mcpUrl?: string;
  activeSince?: string;
  maxActiveWindowMs?: number;
  /** Only when `paused`: how fast it comes back. */
  snapshotTier?: "hot" | "warm" | "cold";
  env?: Record<string, string>;
  secretNames?: string[];
  connectorNames?: string[];
  connections?: ConnectionStatus[];
  /** What separates the session from its host, where the server tells. */
  isolation?: "container" | "vm";
  /** Whether the disk limit is enforced at every write (`hard`) or watched (`soft`). */
  disk?: "hard" | "soft";
  diskMb?: number;
}

export interface ForkResult {
  parentSessionId: string;
  /** Ids of the new sessions; attach to them with `client.sessions.attach`. */
  children: string[];
}

export interface DestroyOptions extends CallOptions {
  /** Recorded as the session's end reason. Default `client_destroy`. */
  reason?: "client_destroy" | "shell_exit";
}
