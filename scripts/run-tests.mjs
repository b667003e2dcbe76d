// SPDX-License-Identifier: Apache-2.0
// Builds and runs every test of the project and ends with one line: N passed, N failed[, N skipped].
//
//   node scripts/run-tests.mjs [--long] [STEP…]     only the steps whose name starts with a STEP
//
// What each step printed is kept in build/test-logs/<step>.log.
import { Log } from "./testing/command.mjs";
import { abandoned, nothingAbandoned } from "./testing/leftovers.mjs";
import { build, fuzzers, linters, unitTests } from "./testing/native.mjs";
import { buildPackages, node22, nodeTests, testFiles } from "./testing/node.mjs";
import { installRuntimes } from "./testing/runtimes.mjs";

const long = process.argv.includes("--long");
const only = process.argv.slice(2).filter((word) => !word.startsWith("-"));
const env = long ? { INIS_TEST_LONG: "1" } : {};

// Builds come first: the Node tests run the programs of the dev preset.
const steps = {
  "build-engine": (log) => build("dev", log),
  "build-packages": buildPackages,
  ...(long && { "build-runtimes": installRuntimes }),
  lint: linters,
  "unit-dev": (log) => unitTests("dev", log),
  "unit-asan": (log) => unitTests("asan", log),
  fuzz: (log) => fuzzers(log, long ? 120 : 5),
  node: (log) => nodeTests(log, testFiles(["build/tests", "packages"]), { env }),
  "node22-packages": (log) =>
    nodeTests(log, testFiles(["build/tests/sdk", "build/tests/mastra", "packages"]), {
      node: node22,
      label: " [node 22]",
      env,
    }),
};

const totals = { passed: 0, failed: 0, skipped: 0 };
for (const [name, step] of Object.entries(steps)) {
  if (only.length > 0 && !only.some((word) => name.startsWith(word))) continue;
  const log = new Log(name);
  const started = Date.now();
  const before = abandoned();
  const results = [...(await step(log)), await nothingAbandoned(before)];
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { outcome } of results) counts[outcome]++;
  for (const outcome of Object.keys(totals)) totals[outcome] += counts[outcome];
  console.log(`${name}: ${summary(counts)} in ${((Date.now() - started) / 1000).toFixed(1)} s`);
  for (const result of results) {
    if (result.outcome === "skipped") console.log(`  skipped: ${result.name}: ${result.reason ?? "no reason given"}`);
    if (result.outcome === "failed") console.log(`  FAILED: ${result.name}\n${indent(result.error ?? "")}`);
  }
}

console.log(summary(totals));
process.exitCode = totals.failed === 0 && totals.passed > 0 ? 0 : 1;

function summary({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

function indent(text) {
  return text
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
}
