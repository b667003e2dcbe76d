// SPDX-License-Identifier: Apache-2.0
// Listing directories, in one request for up to 10 000 entries.

import type { FileStat as Entry, Session } from "@inis-run/sdk";
import { isInside } from "./filesystem-paths.js";

/** The most that one request gives. */
const MAX_ENTRIES = 10_000;

export interface TreeOptions {
  /** 1: the directory's own entries only. */
  maxDepth?: number;
  noHidden?: boolean;
}

/** Everything below the directory. A tree that is too large for one request is taken apart. */
export async function tree(session: Session, path: string, options: TreeOptions = {}): Promise<Entry[]> {
  const { maxDepth, noHidden } = options;
  const whole = await session.findFiles("**", { path, details: true, maxResults: MAX_ENTRIES, maxDepth, noHidden });
  if (!whole.truncated) return whole.entries ?? [];
  if (maxDepth === 1) return names(session, path, noHidden);
  const level = await tree(session, path, { maxDepth: 1, noHidden });
  const entries: Entry[] = [];
  for (const entry of level) {
    entries.push(entry);
    if (entry.type !== "directory") continue;
    const below = { noHidden, maxDepth: maxDepth && maxDepth - 1 };
    entries.push(...(await tree(session, entry.path, below)).filter(({ path: p }) => isInside(entry.path, p)));
  }
  return entries;
}

/** A directory with more entries than can be described: names, and which are directories. */
async function names(session: Session, path: string, noHidden = false): Promise<Entry[]> {
  const list = await session.listFiles(path);
  return list
    .filter((name) => !(noHidden && name.startsWith(".")))
    .map((name) => {
      const directory = name.endsWith("/");
      const at = `${path}/${directory ? name.slice(0, -1) : name}`;
      return { path: at, type: directory ? "directory" : "file", sizeBytes: 0, mode: 0, mtime: "" };
    });
}
