// SPDX-License-Identifier: Apache-2.0
// Types of what belongs to the account: credentials, connectors, webhooks, domains, volumes.

import type { CallOptions } from "./call.js";

export interface AddRegistryCredentialOptions extends CallOptions {
  registryHost: string;
  username: string;
  secret: string;
}

export interface RegistryCredentialInfo {
  id: string;
  name: string;
  registryHost: string;
  username: string;
  secretLast4?: string;
  createdAt?: string;
  updatedAt?: string;
}

export interface AddConnectorOptions extends CallOptions {
  targetBaseUrl: string;
  /** Default `bearer`. */
  authShape?: "bearer" | "header";
  /** Needed for `header`. */
  headerName?: string;
  secret: string;
}

export interface ConnectorInfo {
  id: string;
  name: string;
  targetBaseUrl: string;
  authShape: "bearer" | "header";
  headerName?: string;
  secretLast4?: string;
  createdAt?: string;
  updatedAt?: string;
}

export interface AddWebhookOptions extends CallOptions {
  /** None or empty: every type. */
  eventTypes?: string[];
}

export interface WebhookEndpointInfo {
  id: string;
  url: string;
  eventTypes: string[];
  enabled: boolean;
  createdAt?: string;
  disabledAt?: string;
  /** Only in the answer that created it. */
  secret?: string;
  secretLast4?: string;
}

export interface WebhookDeliveryInfo {
  id: number;
  eventType: string;
  status: "pending" | "delivered" | "dead";
  attemptCount: number;
  maxAttempts: number;
  sessionId?: string;
  attempts?: { attempt: number; at: string; statusCode?: number; error?: string }[];
  createdAt?: string;
  deliveredAt?: string;
  /** Only while pending. */
  nextAttemptAt?: string;
}

export interface DomainInfo {
  id: string;
  domain: string;
  verified: boolean;
  verifyTxtName: string;
  verifyTxtValue: string;
  createdAt?: string;
  verifiedAt?: string;
  sessionId?: string;
  port?: number;
  /** What a CNAME has to point at. */
  ingressBaseDomain?: string;
}

export interface CreateVolumeOptions extends CallOptions {
  sizeGb?: number;
}

export interface VolumeInfo {
  id: string;
  sizeGb: number;
  createdAt: string;
  attached: boolean;
  /** Only while attached. */
  sessionId?: string;
  /** When the durable copy was last completed; absent if never. */
  lastSavedAt?: string;
}
