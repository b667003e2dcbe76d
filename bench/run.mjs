// SPDX-License-Identifier: Apache-2.0
// Measures the server beside its peers and holds it to its bars; docs/performance.md tells how to read the result.
//
//   node bench/run.mjs [--only NAME,…] [--quick | --tiny] [--bin DIR] [--stopwatch FILE] [--out DIR]
//
// Ends with 0 when every bar holds, with 1 when one is missed, with 2 when something could not be measured.
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, release } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Bench } from "./lib/bench.mjs";
import { Quiet } from "./lib/quiet.mjs";
import { markdown } from "./lib/report.mjs";
import { groups } from "./rows/index.mjs";

const root = resolve(import.meta.dirname, "..");
const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    quick: { type: "boolean", default: false },
    tiny: { type: "boolean", default: false },
    bin: { type: "string", default: join(root, "build", "bin") },
    stopwatch: { type: "string", default: join(root, "build", "dev", "bench", "stopwatch") },
    out: { type: "string", default: join(root, "build", "bench") },
  },
});

const wanted = values.only.split(/[\s,]+/).filter(Boolean);
const unknown = wanted.filter((name) => !groups.some((group) => group.name === name));
if (unknown.length > 0) {
  console.error(`bench: there is no ${unknown.join(", ")}; there are ${groups.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}

// How much of a full run, and how long to wait for a quiet machine: tiny is for the test of the bench itself.
const { scale, quietMs } = values.tiny
  ? { scale: 1000, quietMs: 0 }
  : values.quick
    ? { scale: 8, quietMs: 20_000 }
    : { scale: 1, quietMs: 150_000 };
const quiet = new Quiet(quietMs);
const bench = new Bench({ binDir: values.bin, stopwatchPath: values.stopwatch, quiet, scale });
const failures = [];

for (const group of groups.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  const from = performance.now();
  try {
    await group.run(bench);
  } catch (error) {
    failures.push({ group: group.name, error: error.message });
  }
  await bench.finish().catch((error) => failures.push({ group: group.name, error: error.message }));
  console.error(`bench: ${group.name} took ${((performance.now() - from) / 1000).toFixed(1)} s`);
}

const result = {
  at: new Date().toISOString(),
  machine: `${cpus().length} × ${cpus()[0].model}, Linux ${release()}`,
  node: process.version,
  quick: scale > 1,
  quiet: !quiet.gaveUp,
  rows: bench.rows,
  failures,
};
mkdirSync(values.out, { recursive: true });
writeFileSync(join(values.out, "latest.json"), `${JSON.stringify(result, null, 2)}\n`);
writeFileSync(join(values.out, "latest.md"), markdown(result));
console.log(markdown(result));
for (const { group, error } of failures) console.error(`bench: ${group} failed: ${error}`);
process.exitCode = failures.length > 0 ? 2 : result.rows.some((row) => row.holds === false) ? 1 : 0;
