// SPDX-License-Identifier: Apache-2.0
// The file operations of a session as functions that return whatever the server answered.
import type { JsonObject } from "../support/contract.js";
import type { Reply } from "../support/http.js";
import type { TestSession } from "../support/session.js";

export type FileCall = (path: string) => Promise<Reply>;

export interface BatchItem {
  path: string;
  ok: boolean;
  error?: string;
}

export function fileCalls(session: () => TestSession) {
  const get = (op: string, path: string) => session().send("GET", "/files", { query: { path, op } });
  const legacy = (op: string, path: string, more: JsonObject = {}) =>
    session().send("POST", "/files", { json: { op, path, ...more } });
  const remove = (path: string, recursive?: boolean) =>
    session().send("DELETE", "/files", { query: recursive === undefined ? { path } : { path, recursive } });
  const rename = (path: string, dest_path: string) =>
    session().send("POST", "/files/rename", { json: { path, dest_path } });
  const mkdir = (path: string) => session().send("POST", "/files/mkdir", { json: { path } });
  const download = (path: string) => session().send("GET", "/files/stream", { query: { path } });
  const upload = (path: string, query: Record<string, string> = {}) =>
    session().send("PUT", "/files/stream", { query: { path, ...query }, body: "x" });
  const write = (path: string) => session().send("PUT", "/files", { json: { path, content: "x" } });
  const batch = async (files: JsonObject[]): Promise<BatchItem[]> => {
    const { json } = await session().expect(200, "PUT", "/files/batch", { json: { files } });
    return json.results as unknown as BatchItem[];
  };
  return { get, legacy, remove, rename, mkdir, download, upload, write, batch };
}
