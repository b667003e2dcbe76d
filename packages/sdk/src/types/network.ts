// SPDX-License-Identifier: Apache-2.0
// Types of a session's network: exposed ports, egress policy, Connections.

import type { CallOptions } from "./call.js";

export interface ExposeOptions extends CallOptions {
  /** `token`: the URL holds an access token; `public`: anyone may use it. Default `token`. */
  visibility?: "token" | "public";
  /** `bearer`: requests need `Authorization: Bearer <authToken>`. Default `none`. */
  auth?: "none" | "bearer";
}

export interface ExposeResult {
  sessionId: string;
  port: number;
  previewUrl: string;
  ingressToken?: string;
  guestIp?: string;
  auth?: "none" | "bearer";
  /** Told once, only for `auth: "bearer"`. */
  authToken?: string;
}

export interface ExposedPreview {
  port: number;
  previewUrl: string;
  visibility: "token" | "public";
  auth: "none" | "bearer";
}

/** Which hosts the session may reach. With `deny`, only those in `allow`: exact names or `*.example.com`. */
export interface EgressPolicy {
  mode?: "allow" | "deny";
  allow?: string[];
}

/** A policy as the server answers it. */
export interface EgressState {
  mode: "allow" | "deny";
  allow: string[];
}

export interface ConnectionAuth {
  /** `bearer`: `Authorization: Bearer <secret>`; `header`: the secret as it is, under `headerName`. */
  type: "bearer" | "header";
  secret: string;
  headerName?: string;
}

/** What a Connection's credential may be used for. Empty lists allow nothing. */
export interface ConnectionAllow {
  methods: string[];
  /** Absolute paths; a trailing `*` matches any rest. */
  paths: string[];
}

export interface ConnectionUpdate {
  /** `https://host`. */
  origin: string;
  authentication: ConnectionAuth;
  allow: ConnectionAllow;
  /** Default: the session's lifetime, or an hour. At most a day. */
  ttlSeconds?: number;
}

/** Binds the session to one HTTPS origin; the platform adds the credential, the guest never sees it. */
export interface ConnectionCreate extends ConnectionUpdate {
  /** Unique in the session. */
  name: string;
}

export interface ConnectionStatus {
  name: string;
  origin: string;
  state: "active" | "expired" | "revoked";
  headerName?: string;
  allow?: ConnectionAllow;
  expiresAt?: string;
  createdAt?: string;
}
