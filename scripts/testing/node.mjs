// SPDX-License-Identifier: Apache-2.0
// Test steps of the TypeScript side: building packages and tests, running node:test files on a Node.js version.
import { existsSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { check, root, run } from "./command.mjs";

const reporter = join(root, "scripts", "testing", "node-reporter.mjs");
/** A bound for what hangs, far above what a slow machine takes. */
const timeoutMs = ({ INIS_TEST_LONG }) => (INIS_TEST_LONG ? 6 * 60 : 45) * 60_000;
export const node22 = join(root, "node_modules", "node22", "bin", "node");

export async function buildPackages(log) {
  return [
    await check("build packages", log, "npm", ["run", "--silent", "build"]),
    await check("build tests", log, "node_modules/.bin/tsc", ["-p", "tests/tsconfig.json"]),
  ];
}

/** All compiled test files under the folders. */
export function testFiles(folders) {
  return folders
    .map((folder) => join(root, folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
    .filter((path) => /\.test\.m?js$/.test(path) && !path.includes("/node_modules/"))
    .sort();
}

export async function nodeTests(log, files, { node = process.execPath, label = "", env = {} } = {}) {
  if (files.length === 0) return [{ name: `node tests${label}`, outcome: "failed", error: "no test file found" }];
  const results = [];
  const onLine = (text) => {
    const event = parse(text);
    if (event?.kind !== "test") return log.write(event ? event.text : `${text}\n`);
    log.write(`${event.outcome} ${event.name} (${event.ms} ms)\n`);
    results.push({ ...event, name: `${relative(join(root, "build"), event.file ?? "")}: ${event.name}${label}` });
  };
  const code = await run(log, node, ["--test", "--test-concurrency=1", `--test-reporter=${reporter}`, ...files], {
    env,
    onLine,
    timeoutMs: timeoutMs({ ...process.env, ...env }),
  });
  if (code !== 0 && !results.some(({ outcome }) => outcome === "failed")) {
    results.push({ name: `node --test${label}`, outcome: "failed", error: `exit code ${code}\n${log.tail()}` });
  }
  return results;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
