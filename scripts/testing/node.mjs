// SPDX-License-Identifier: Apache-2.0
// Test steps of the TypeScript side: building packages and tests, running node:test files on a Node.js version.
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { check, root, run } from "./command.mjs";

const reporter = join(root, "scripts", "testing", "node-reporter.mjs");
/** A bound for what hangs, far above what a slow machine takes. */
const timeoutMs = ({ INIS_TEST_LONG }) => (INIS_TEST_LONG ? 6 * 60 : 45) * 60_000;
/**
 * Folders whose tests spend their time waiting, for clocks and for somebody to lose patience. Their files run one after
 * another, beside those of all other folders, which run one after another too: two cores hold two servers.
 */
const WAITING = ["bench", "conformance", "pause", "platform", "processes", "pty"].map((folder) =>
  join(root, "build", "tests", folder),
);
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

export async function nodeTests(log, files, options) {
  const waits = (file) => WAITING.includes(dirname(file));
  const lanes = [files.filter((file) => !waits(file)), files.filter(waits)].filter(({ length }) => length > 0);
  if (lanes.length === 0) return [{ name: "node tests", outcome: "failed", error: "no test file found" }];
  return (await Promise.all(lanes.map((lane) => oneByOne(log, lane, options)))).flat();
}

async function oneByOne(log, files, { node = process.execPath, label = "", env = {} } = {}) {
  const results = [];
  const onLine = (text) => {
    const event = parse(text);
    if (event?.kind !== "test") return log.write(event ? event.text : `${text}\n`);
    const name = `${relative(join(root, "build"), event.file ?? "")}: ${event.name}${label}`;
    log.write(`${event.outcome} ${name} (${event.ms} ms)\n`);
    results.push({ ...event, name });
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
