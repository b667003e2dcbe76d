// SPDX-License-Identifier: Apache-2.0
// Which place in the session a path of Mastra's file tools means.
//
// "a/b", "./a/b", "/a/b" and "/workspace/a/b" are the same file: the workspace is the root of the file system, and a
// path as commands know it works too. Directories that every Linux system has at its root are refused rather than
// looked for in the workspace: a command would find something else there.

import { posix } from "node:path";
import { PermissionError } from "@mastra/core/workspace";

export const WORKSPACE = "/workspace";

const SYSTEM = new Set(
  "bin boot dev etc home lib lib64 media mnt opt proc root run sbin srv sys tmp usr var".split(" "),
);

/** The absolute path in the session. */
export function resolvePath(path: string, operation: string): string {
  const plain = posix.normalize(path === "" ? "." : path).replace(/(?<=.)\/$/, "");
  if (plain === WORKSPACE || plain.startsWith(`${WORKSPACE}/`)) return plain;
  const [first = "", ...rest] = plain.replace(/^\/+/, "").split("/");
  if (first === ".." || (plain.startsWith("/") && SYSTEM.has(first))) throw new PermissionError(path, operation);
  return posix.join(WORKSPACE, first, ...rest);
}

/** What follows the directory in a path below it. */
export function relativeTo(directory: string, path: string): string {
  return posix.relative(directory, path);
}

export function isInside(directory: string, path: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}
