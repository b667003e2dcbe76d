// SPDX-License-Identifier: Apache-2.0
// A session's network: exposed ports, egress policy, Connections.

import type { Transport } from "../transport.js";
import type {
  CallOptions,
  ConnectionStatus,
  ConnectionUpdate,
  EgressPolicy,
  EgressState,
  ExposeOptions,
  ExposeResult,
} from "../types/index.js";
import { asObject, fromWire, segment, type Wire } from "../wire.js";
import { sessionPath } from "./sessions.js";

export async function expose(
  transport: Transport,
  sessionId: string,
  port: number,
  options: ExposeOptions | "token" | "public" = {},
): Promise<ExposeResult> {
  const { visibility, auth, ...call } = typeof options === "string" ? { visibility: options } : options;
  const json = { port, visibility: visibility ?? "token", auth: auth || undefined };
  const path = sessionPath(sessionId, "/expose");
  return fromWire(await transport.json({ method: "POST", path, json, options: call }));
}

export async function unexpose(
  transport: Transport,
  sessionId: string,
  port: number,
  options?: CallOptions,
): Promise<boolean> {
  const path = sessionPath(sessionId, "/unexpose");
  return asObject(await transport.json({ method: "POST", path, json: { port }, options })).ok === true;
}

export function toEgress(wire: unknown): EgressState {
  const policy = asObject(wire);
  const mode = policy.mode ?? policy.default;
  return { mode: mode === "deny" ? "deny" : "allow", allow: Array.isArray(policy.allow) ? policy.allow : [] };
}

export async function getEgress(transport: Transport, sessionId: string, options?: CallOptions): Promise<EgressState> {
  return toEgress(await transport.json({ method: "GET", path: sessionPath(sessionId, "/egress"), options }));
}

export async function setEgress(
  transport: Transport,
  sessionId: string,
  policy: EgressPolicy,
  options?: CallOptions,
): Promise<EgressState> {
  const json = { mode: policy.mode ?? "deny", allow: policy.allow ?? [] };
  return toEgress(await transport.json({ method: "POST", path: sessionPath(sessionId, "/egress"), json, options }));
}

export function connectionBody(connection: ConnectionUpdate): Wire {
  const { origin, authentication, allow, ttlSeconds } = connection;
  const { type, secret, headerName } = authentication;
  return {
    origin,
    authentication: { type, secret, header_name: headerName || undefined },
    allow: { methods: allow.methods, paths: allow.paths },
    ttl_seconds: ttlSeconds || undefined,
  };
}

export function toConnectionStatus(wire: unknown): ConnectionStatus {
  return fromWire(wire);
}

export async function rotateConnection(
  transport: Transport,
  sessionId: string,
  name: string,
  update: ConnectionUpdate,
  options?: CallOptions,
): Promise<ConnectionStatus> {
  const path = sessionPath(sessionId, `/connections/${segment(name)}`);
  return toConnectionStatus(await transport.json({ method: "PUT", path, json: connectionBody(update), options }));
}

export async function revokeConnection(
  transport: Transport,
  sessionId: string,
  name: string,
  options?: CallOptions,
): Promise<void> {
  const path = sessionPath(sessionId, `/connections/${segment(name)}`);
  await transport.send({ method: "DELETE", path, options });
}
