// SPDX-License-Identifier: Apache-2.0
// Sessions: create and wait, list, look at, pause, resume, fork, destroy.

import { InisError } from "../errors.js";
import { CallScope, sleep } from "../scope.js";
import type { Transport } from "../transport.js";
import type {
  ArchiveStatus,
  CallOptions,
  CreateSessionOptions,
  DestroyOptions,
  ExposedPreview,
  ForkResult,
  ListSessionsOptions,
  ListSessionsResult,
  SessionInfo,
  SessionUsage,
} from "../types/index.js";
import { asObject, fromWire, idSegment, listFrom, type Wire } from "../wire.js";
import { leaseFor } from "./lease.js";
import { connectionBody, toConnectionStatus, toEgress } from "./network.js";

const POLL_MS = 300;
const READY_LIMIT_MS = 300_000;
/** How long giving back a session that could not be waited for may take. */
const ROLLBACK_LIMIT_MS = 10_000;

export function sessionPath(id: string, rest = ""): string {
  return `/v1/sessions/${idSegment(id)}${rest}`;
}

export function toSessionInfo(answer: unknown): SessionInfo {
  const wire = asObject(answer);
  const info: SessionInfo = { wakeOnHttp: true, ...fromWire<Omit<SessionInfo, "wakeOnHttp">>(wire) };
  if (wire.egress) info.egress = toEgress(wire.egress);
  if (wire.archive) info.archive = fromWire(wire.archive);
  if (wire.exposed_previews) info.exposedPreviews = listFrom<ExposedPreview>(wire, "exposed_previews");
  if (wire.connections) info.connections = listFrom(wire, "connections", toConnectionStatus);
  return info;
}

/** Unset options stay out of the body, so that the server's own defaults apply. */
function createBody(options: CreateSessionOptions, leaseMs: number | undefined): Wire {
  return {
    name: options.name || undefined,
    labels: options.labels,
    external_id: options.externalId || undefined,
    volume_id: options.volumeId || undefined,
    max_lifetime_ms: options.maxLifetimeMs || undefined,
    idle_timeout_ms: options.idleTimeoutMs || undefined,
    idle_mode: options.idleMode || undefined,
    egress: options.egress && { mode: options.egress.mode ?? "allow", allow: options.egress.allow },
    template: options.template || undefined,
    size: options.size || undefined,
    no_sudo: options.noSudo || undefined,
    wake_on_http: options.wakeOnHttp === false ? false : undefined,
    on_pty_detach: options.onPtyDetach || undefined,
    paused_ttl_ms: options.pausedTtlMs ?? undefined,
    lease_ms: leaseMs,
    destroy_on_completion: options.destroyOnCompletion || undefined,
    command_capture: options.commandCapture || undefined,
    env: options.env,
    secrets: options.secrets,
    connectors: options.connectors,
    connections: options.connections?.map(({ name, ...rest }) => ({ name, ...connectionBody(rest) })),
    events: options.events || undefined,
  };
}

/** Id of the new session, ready to be used unless `wait` is false. */
export async function createSession(transport: Transport, options: CreateSessionOptions = {}): Promise<string> {
  const headers: Record<string, string> = {};
  if (options.idempotencyKey) headers["Idempotency-Key"] = options.idempotencyKey;
  const leaseMs = await leaseFor(transport, options);
  const json = createBody(options, leaseMs);
  const answer = await transport.json({ method: "POST", path: "/v1/sessions", json, headers, options });
  const info = toSessionInfo(answer);
  if (typeof info.sessionId !== "string" || info.sessionId === "") {
    throw new InisError("the server's answer has no session_id", { code: "invalid_response" });
  }
  if (info.leaseMs && leaseMs) transport.leases.hold(transport, info.sessionId, info.leaseMs);
  if (options.wait !== false) await ready(transport, info, options);
  return info.sessionId;
}

async function ready(transport: Transport, first: SessionInfo, options: CreateSessionOptions): Promise<void> {
  const scope = new CallScope(options.signal);
  const overdue = new InisError(`session ${first.sessionId} was not ready in ${READY_LIMIT_MS / 1000} s`, {
    code: "create_timeout",
  });
  const limit = setTimeout(() => scope.abort(overdue), READY_LIMIT_MS);
  try {
    let info = first;
    while (info.state === "creating") {
      if (info.statusDetail) options.onStatus?.(info.statusDetail);
      await sleep(POLL_MS, scope.signal);
      info = await getSession(transport, first.sessionId, { ...options, signal: scope.signal });
    }
    if (info.state === "failed") {
      throw new InisError(info.statusReason ?? "provisioning failed", { code: "session_failed" });
    }
  } catch (error) {
    // Nobody would hold the session's id. With an idempotency key the caller can ask for it again, and it may be one
    // that was made, and is used, elsewhere.
    if (!options.idempotencyKey) await rollback(transport, first.sessionId);
    throw error;
  } finally {
    clearTimeout(limit);
    scope.dispose();
  }
}

async function rollback(transport: Transport, id: string): Promise<void> {
  try {
    await destroySession(transport, id, { timeoutMs: ROLLBACK_LIMIT_MS });
  } catch {
    // The error that led here is the one to tell; the server's own timers end the session.
  }
}

export async function listSessions(
  transport: Transport,
  options: ListSessionsOptions = {},
): Promise<ListSessionsResult> {
  const { state, limit, cursor, externalId } = options;
  const query = { state, limit: limit || undefined, cursor, external_id: externalId };
  const answer = asObject(await transport.json({ method: "GET", path: "/v1/sessions", query, options }));
  const result: ListSessionsResult = { sessions: listFrom(answer, "sessions", toSessionInfo) };
  if (typeof answer.next_cursor === "string" && answer.next_cursor) result.nextCursor = answer.next_cursor;
  return result;
}

export async function getSession(transport: Transport, id: string, options?: CallOptions): Promise<SessionInfo> {
  return toSessionInfo(await transport.json({ method: "GET", path: sessionPath(id), options }));
}

export async function sessionUsage(transport: Transport, id: string, options?: CallOptions): Promise<SessionUsage> {
  return fromWire(await transport.json({ method: "GET", path: sessionPath(id, "/usage"), options }));
}

export async function pauseSession(transport: Transport, id: string, options?: CallOptions): Promise<SessionInfo> {
  return toSessionInfo(await transport.json({ method: "POST", path: sessionPath(id, "/pause"), json: {}, options }));
}

export async function resumeSession(transport: Transport, id: string, options?: CallOptions): Promise<SessionInfo> {
  return toSessionInfo(await transport.json({ method: "POST", path: sessionPath(id, "/resume"), json: {}, options }));
}

export async function forkSession(
  transport: Transport,
  id: string,
  count: number,
  options?: CallOptions,
): Promise<ForkResult> {
  return fromWire(await transport.json({ method: "POST", path: sessionPath(id, "/fork"), json: { count }, options }));
}

export async function retryArchive(transport: Transport, id: string, options?: CallOptions): Promise<ArchiveStatus> {
  const path = sessionPath(id, "/archive/retry");
  return fromWire(await transport.json({ method: "POST", path, json: {}, options }));
}

export async function destroySession(transport: Transport, id: string, options?: DestroyOptions): Promise<void> {
  const query = { reason: options?.reason };
  await transport.send({ method: "DELETE", path: sessionPath(id), query, options });
  transport.leases.drop(id);
}
