// SPDX-License-Identifier: Apache-2.0
// What a session leaves behind: checkpoints, templates, artifacts.

import type { Transport } from "../transport.js";
import type {
  ArtifactFile,
  ArtifactInfo,
  CallOptions,
  CaptureArtifactsOptions,
  CheckpointInfo,
  CheckpointOptions,
  SaveAsTemplateOptions,
  SessionInfo,
  TemplateInfo,
} from "../types/index.js";
import { asObject, fromWire, listFrom } from "../wire.js";
import { sessionPath, toSessionInfo } from "./sessions.js";

export async function checkpoint(
  transport: Transport,
  sessionId: string,
  options: CheckpointOptions = {},
): Promise<CheckpointInfo> {
  const json = { name: options.name || undefined, labels: options.labels };
  const path = sessionPath(sessionId, "/checkpoints");
  return fromWire(await transport.json({ method: "POST", path, json, options }));
}

export async function listCheckpoints(
  transport: Transport,
  sessionId: string,
  options?: CallOptions,
): Promise<CheckpointInfo[]> {
  const path = sessionPath(sessionId, "/checkpoints");
  return listFrom(await transport.json({ method: "GET", path, options }), "checkpoints");
}

export async function restore(
  transport: Transport,
  sessionId: string,
  checkpointId: string,
  options?: CallOptions,
): Promise<SessionInfo> {
  const json = { checkpoint_id: checkpointId };
  const path = sessionPath(sessionId, "/restore");
  return toSessionInfo(await transport.json({ method: "POST", path, json, options }));
}

export async function saveAsTemplate(
  transport: Transport,
  sessionId: string,
  name: string,
  options: SaveAsTemplateOptions = {},
): Promise<TemplateInfo> {
  const json = { name, description: options.description || undefined };
  const path = sessionPath(sessionId, "/templates");
  return fromWire(await transport.json({ method: "POST", path, json, options }));
}

export function toArtifact(wire: unknown): ArtifactInfo {
  return { ...fromWire<ArtifactInfo>(wire), files: listFrom<ArtifactFile>(asObject(wire), "files") };
}

export async function captureArtifacts(
  transport: Transport,
  sessionId: string,
  paths: readonly string[],
  options: CaptureArtifactsOptions = {},
): Promise<ArtifactInfo> {
  const { destination } = options;
  const json = { paths, destination };
  const path = sessionPath(sessionId, "/artifacts");
  return toArtifact(await transport.json({ method: "POST", path, json, options }));
}

export async function listArtifacts(
  transport: Transport,
  sessionId: string,
  options?: CallOptions,
): Promise<ArtifactInfo[]> {
  const path = sessionPath(sessionId, "/artifacts");
  return listFrom(await transport.json({ method: "GET", path, options }), "artifacts", toArtifact);
}
