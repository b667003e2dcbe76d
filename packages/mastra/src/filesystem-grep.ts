// SPDX-License-Identifier: Apache-2.0
// Mastra's native content search: one request, and the columns, which the server does not tell.
//
// Whatever the server may see otherwise than JavaScript would, or did not look at to the end, is refused: Mastra then
// searches by itself.

import type { GrepMatch, Session } from "@inis-run/sdk";
import { refusalOf, unsupportedPattern } from "./filesystem-errors.js";
import { relativeTo } from "./filesystem-paths.js";

const MAX_FILES = 1000;
const MAX_CONTEXT = 10;

/** As newer versions of @mastra/core declare it. */
export interface GrepOptions {
  pattern: string;
  path: string;
  caseSensitive: boolean;
  includeHidden: boolean;
  maxCountPerFile?: number;
  maxTotalMatches?: number;
  contextLines?: number;
}

export interface GrepResult {
  path: string;
  matches: { line: number; column: number; text: string; before?: string[]; after?: string[] }[];
}

/** `root` is the directory or file to search, in the session. */
export async function grep(session: Session, root: string, options: GrepOptions): Promise<GrepResult[]> {
  const { pattern, caseSensitive, includeHidden, contextLines = 0 } = options;
  if (contextLines > MAX_CONTEXT) throw unsupportedPattern(pattern, `more than ${MAX_CONTEXT} lines of context`);
  const expression = new RegExp(pattern, caseSensitive ? "" : "i");
  const answer = await session
    .grepFiles(pattern, {
      path: root,
      caseSensitive: caseSensitive || undefined,
      contextLines,
      noHidden: !includeHidden,
      maxResults: MAX_FILES,
    })
    .catch((error: unknown) => {
      throw isPatternRefusal(error) ? unsupportedPattern(pattern, (error as Error).message) : error;
    });
  const results = grouped(answer.matches, root, expression, options);
  const total = results.reduce((sum, { matches }) => sum + matches.length, 0);
  if (answer.truncated && total < (options.maxTotalMatches ?? Number.POSITIVE_INFINITY)) {
    throw unsupportedPattern(pattern, "there is more than the server searches in one request");
  }
  return results;
}

function isPatternRefusal(error: unknown): boolean {
  return /(unsupported|invalid) pattern/.test(refusalOf(error)?.message ?? "");
}

function grouped(matches: GrepMatch[], root: string, expression: RegExp, options: GrepOptions): GrepResult[] {
  const { maxCountPerFile = Number.POSITIVE_INFINITY, maxTotalMatches = Number.POSITIVE_INFINITY } = options;
  const results: GrepResult[] = [];
  let total = 0;
  for (const { path, lineNumber, line, before, after } of matches) {
    const column = line.search(expression);
    if (column < 0) continue;
    const name = relativeTo(root, path) || path.slice(path.lastIndexOf("/") + 1);
    if (results.at(-1)?.path !== name) results.push({ path: name, matches: [] });
    const file = results.at(-1) as GrepResult;
    if (file.matches.length >= maxCountPerFile) continue;
    if (total++ >= maxTotalMatches) break;
    file.matches.push({ line: lineNumber, column, text: line, before, after });
  }
  return results.filter(({ matches: found }) => found.length > 0);
}
