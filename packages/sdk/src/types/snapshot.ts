// SPDX-License-Identifier: Apache-2.0
// Types of what outlives a session: checkpoints, templates, artifacts.

import type { CallOptions } from "./call.js";

export interface CheckpointOptions extends CallOptions {
  /** Lower-case letters, digits, hyphens. */
  name?: string;
  labels?: Record<string, string>;
}

export interface CheckpointInfo {
  checkpointId: string;
  sessionId?: string;
  parentSessionId?: string;
  name?: string;
  labels?: Record<string, string>;
  sizeBytes: number;
  createdAt?: string;
  nodeId?: string;
}

export interface CheckpointSessionOptions extends CallOptions {
  name?: string;
  labels?: Record<string, string>;
  maxLifetimeMs?: number;
  idleTimeoutMs?: number;
}

export interface SaveAsTemplateOptions extends CallOptions {
  description?: string;
}

export interface ImportTemplateOptions extends CallOptions {
  description?: string;
}

export interface TemplateInfo {
  name: string;
  kind?: "official" | "user";
  description?: string;
  size?: string;
  createdAt?: string;
  version?: string;
  versions?: string[];
  status?: "queued" | "building" | "ready" | "failed";
  sourceImage?: string;
  buildError?: string;
  queuePosition?: number;
  builtAt?: string;
  baseImageRef?: string;
  baseImageDigest?: string;
  contentHash?: string;
  cadence?: "weekly" | "monthly";
  category?: "language" | "use-case";
  aliasOf?: string;
}

export interface ArtifactDestination {
  type?: "hosted" | "s3";
  bucket?: string;
  prefix?: string;
  region?: string;
}

export interface CaptureArtifactsOptions extends CallOptions {
  destination?: ArtifactDestination;
}

export interface ArtifactFile {
  path: string;
  /** Pre-signed: a plain GET without credentials. */
  url?: string;
  sizeBytes: number;
  contentType?: string;
}

export interface ArtifactInfo {
  id: string;
  status: "pending" | "ready" | "failed";
  sessionId?: string;
  capturedAt?: string;
  expiresAt?: string;
  files: ArtifactFile[];
  error?: string;
}
