// SPDX-License-Identifier: Apache-2.0
// The project's own files, as the repository checks look at them.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../support/paths.js";

const BINARY = /\.(png|ico|woff2?)$|^tests\/fuzz\/corpus\//;

/** Paths of all files that are or could be committed, relative to the repository. */
export function projectFiles(pattern: RegExp): string[] {
  const list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: repository,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return [...new Set(list.split("\0"))].filter(
    (path) => path && pattern.test(path) && !BINARY.test(path) && existsSync(join(repository, path)),
  );
}

export function linesOf(path: string): string[] {
  return readFileSync(join(repository, path), "utf8").replace(/\n$/, "").split("\n");
}

/** Every line that matches, as path:number: text. */
export function matches(paths: string[], pattern: RegExp): string[] {
  return paths.flatMap((path) =>
    linesOf(path).flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
}
