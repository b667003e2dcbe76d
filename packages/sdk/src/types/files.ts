// SPDX-License-Identifier: Apache-2.0
// Types of the file operations. Paths are absolute under /workspace, or relative to it.

import type { CallOptions } from "./call.js";

export type FileEncoding = "text" | "base64";

/** Part of a file. Needs extension `files.range`. */
export interface RangeOptions extends CallOptions {
  /** First byte. Default 0. */
  offset?: number;
  /** Number of bytes. Default: to the end. */
  length?: number;
}

export interface WriteFileOptions extends CallOptions {
  /** Permission bits, e.g. `0o755`. Needs extension `files.mode`. */
  mode?: number;
}

export interface FileBatchItem {
  path: string;
  /** Bytes are sent as base64; a string with encoding `"base64"` is taken as already encoded. */
  content: string | Uint8Array;
  encoding?: FileEncoding;
  /** Permission bits, e.g. `0o755`. Needs extension `files.mode`. */
  mode?: number;
}

export interface FileBatchResult {
  path: string;
  ok: boolean;
  error?: string;
}

export interface FileStat {
  path: string;
  type: "file" | "directory" | "symlink" | "other";
  sizeBytes: number;
  /** Permission bits. */
  mode: number;
  /** RFC 3339. */
  mtime: string;
}

export interface FindFilesOptions extends CallOptions {
  /** Where to search. Default `/workspace`. */
  path?: string;
  maxResults?: number;
  /** Also say what each path is. Extension `files.find`, like the next two. */
  details?: boolean;
  /** Leave out names that begin with a dot. */
  noHidden?: boolean;
  /** Levels below `path`. */
  maxDepth?: number;
}

export interface FindFilesResult {
  /** Absolute paths. */
  paths: string[];
  /** What is at each of `paths`, when `details` were asked for. */
  entries?: FileStat[];
  /** There were more than `maxResults`. */
  truncated: boolean;
}

export interface GrepFilesOptions extends CallOptions {
  /** A directory, or one file. Default `/workspace`. */
  path?: string;
  /** Leave out names that begin with a dot. Extension `files.find`. */
  noHidden?: boolean;
  /** Glob for the names of the files to look into. */
  filePattern?: string;
  /** Default false. */
  caseSensitive?: boolean;
  /** Lines to give before and after each match. */
  contextLines?: number;
  /** Most files with a match to return. */
  maxResults?: number;
  /** Names of directories to skip. */
  excludeDirs?: string[];
}

export interface GrepMatch {
  path: string;
  /** Counted from 1. */
  lineNumber: number;
  line: string;
  before?: string[];
  after?: string[];
}

export interface GrepFilesResult {
  matches: GrepMatch[];
  filesSearched: number;
  truncated: boolean;
}

export interface RemoveOptions extends CallOptions {
  /** Removes a directory with all that is in it. */
  recursive?: boolean;
}

export interface UploadResult {
  path: string;
  bytes: number;
  /** Of what the server received, in lower-case hex. */
  sha256: string;
  durationMs: number;
}

export interface DownloadResult {
  path: string;
  localPath: string;
  bytes: number;
  /** Of what was written to `localPath`, in lower-case hex. */
  sha256: string;
}

/** Options of the legacy `session.files` calls. */
export interface LegacyFileOptions {
  /** Milliseconds the server may spend on the operation. */
  timeoutMs?: number;
}
