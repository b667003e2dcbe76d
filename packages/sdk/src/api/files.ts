// SPDX-License-Identifier: Apache-2.0
// File operations that take one request each.

import { decodeBase64, encodeBase64 } from "../base64.js";
import { InisError } from "../errors.js";
import type { Query, Transport } from "../transport.js";
import type {
  CallOptions,
  FileBatchItem,
  FileBatchResult,
  FileEncoding,
  FileStat,
  FindFilesOptions,
  FindFilesResult,
  GrepFilesOptions,
  GrepFilesResult,
  GrepMatch,
  LegacyFileOptions,
  RangeOptions,
  RemoveOptions,
  WriteFileOptions,
} from "../types/index.js";
import { asObject, fromWire, idSegment, listFrom, type Wire } from "../wire.js";

const WORKSPACE = "/workspace";

export function filesPath(sessionId: string): string {
  return `/v1/sessions/${idSegment(sessionId)}/files`;
}

function get(transport: Transport, sessionId: string, query: Query, options?: CallOptions): Promise<unknown> {
  return transport.json({ method: "GET", path: filesPath(sessionId), query, options });
}

/** Whether a range was asked for, as `transport.requireExtensions` wants to hear it. */
export function wantsRange(options: RangeOptions | undefined): string | undefined {
  return options?.offset !== undefined || options?.length !== undefined ? "offset and length" : undefined;
}

export async function readFile(
  transport: Transport,
  sessionId: string,
  path: string,
  encoding: FileEncoding = "text",
  options?: RangeOptions,
): Promise<string | Uint8Array> {
  await transport.requireExtensions({ "files.range": wantsRange(options) }, options);
  const query: Query = { path, op: "read", offset: options?.offset, length: options?.length };
  if (encoding === "base64") query.encoding = encoding;
  const answer = asObject(await get(transport, sessionId, query, options));
  const content = typeof answer.content === "string" ? answer.content : "";
  if (encoding === "text") return content;
  if (answer.encoding === "base64") return decodeBase64(content);
  throw new InisError("the server did not send the file as base64", { code: "invalid_response" });
}

export async function stat(
  transport: Transport,
  sessionId: string,
  path: string,
  options?: CallOptions,
): Promise<FileStat> {
  await transport.requireExtensions({ "files.stat": "stat" }, options);
  return fromWire(await get(transport, sessionId, { path, op: "stat" }, options));
}

export async function listFiles(
  transport: Transport,
  sessionId: string,
  path: string,
  options?: CallOptions,
): Promise<string[]> {
  return listFrom(await get(transport, sessionId, { path, op: "list" }, options), "entries", String);
}

export async function findFiles(
  transport: Transport,
  sessionId: string,
  pattern: string,
  options: FindFilesOptions = {},
): Promise<FindFilesResult> {
  const { path = WORKSPACE, maxResults, details, noHidden, maxDepth } = options;
  const extended = details || noHidden || maxDepth ? "details, noHidden and maxDepth" : undefined;
  await transport.requireExtensions({ "files.find": extended }, options);
  const query: Query = {
    path,
    op: "find",
    pattern,
    max_results: maxResults || undefined,
    details: details || undefined,
    no_hidden: noHidden || undefined,
    max_depth: maxDepth || undefined,
  };
  const answer = await get(transport, sessionId, query, options);
  return {
    paths: listFrom(answer, "paths", String),
    ...(details && { entries: listFrom<FileStat>(answer, "entries") }),
    truncated: asObject(answer).truncated === true,
  };
}

export async function grepFiles(
  transport: Transport,
  sessionId: string,
  pattern: string,
  options: GrepFilesOptions = {},
): Promise<GrepFilesResult> {
  await transport.requireExtensions({ "files.find": options.noHidden ? "noHidden" : undefined }, options);
  const query: Query = {
    path: options.path ?? WORKSPACE,
    op: "grep",
    pattern,
    file_pattern: options.filePattern,
    case_sensitive: options.caseSensitive,
    context_lines: options.contextLines || undefined,
    max_results: options.maxResults || undefined,
    exclude_dirs: options.excludeDirs?.join(","),
    no_hidden: options.noHidden || undefined,
  };
  const answer = asObject(await get(transport, sessionId, query, options));
  return {
    matches: listFrom<GrepMatch>(answer, "matches"),
    filesSearched: typeof answer.files_searched === "number" ? answer.files_searched : 0,
    truncated: answer.truncated === true,
  };
}

/** `content` and `encoding` of a write: bytes become base64, text is sent as it is. */
function fileContent(content: string | Uint8Array, encoding: FileEncoding | undefined): Wire {
  if (typeof content !== "string") return { content: encodeBase64(content), encoding: "base64" };
  return { content, encoding };
}

export async function writeFile(
  transport: Transport,
  sessionId: string,
  path: string,
  content: string | Uint8Array,
  encoding?: FileEncoding,
  options?: WriteFileOptions,
): Promise<void> {
  const mode = options?.mode;
  await transport.requireExtensions({ "files.mode": mode === undefined ? undefined : "mode of a file" }, options);
  const json = { path, ...fileContent(content, encoding), mode };
  await transport.send({ method: "PUT", path: filesPath(sessionId), json, options });
}

export async function writeFiles(
  transport: Transport,
  sessionId: string,
  files: readonly FileBatchItem[],
  options?: CallOptions,
): Promise<FileBatchResult[]> {
  const withMode = files.some((file) => file.mode !== undefined);
  await transport.requireExtensions({ "files.mode": withMode ? "mode of a file" : undefined }, options);
  const json = {
    files: files.map(({ path, content, encoding, mode }) => ({ path, ...fileContent(content, encoding), mode })),
  };
  const path = `${filesPath(sessionId)}/batch`;
  return listFrom(await transport.json({ method: "PUT", path, json, options }), "results");
}

export async function mkdir(
  transport: Transport,
  sessionId: string,
  path: string,
  options?: CallOptions,
): Promise<void> {
  await transport.send({ method: "POST", path: `${filesPath(sessionId)}/mkdir`, json: { path }, options });
}

export async function remove(
  transport: Transport,
  sessionId: string,
  path: string,
  options?: RemoveOptions,
): Promise<void> {
  const query = { path, recursive: options?.recursive };
  await transport.send({ method: "DELETE", path: filesPath(sessionId), query, options });
}

export async function rename(
  transport: Transport,
  sessionId: string,
  path: string,
  destPath: string,
  options?: CallOptions,
): Promise<void> {
  const json = { path, dest_path: destPath };
  await transport.send({ method: "POST", path: `${filesPath(sessionId)}/rename`, json, options });
}

/** The legacy call, text only. */
export async function legacyFiles(
  transport: Transport,
  sessionId: string,
  body: { op: "read" | "write" | "list"; path: string; content?: string },
  options?: LegacyFileOptions,
): Promise<unknown> {
  const timeoutMs = options?.timeoutMs || undefined;
  const json = { ...body, timeout_ms: timeoutMs };
  const defaultTimeoutMs = transport.limitOfAtLeast(timeoutMs ?? 0);
  return transport.json({ method: "POST", path: filesPath(sessionId), json, defaultTimeoutMs });
}
