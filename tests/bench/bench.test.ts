// SPDX-License-Identifier: Apache-2.0
// The bench measures what it says and reports it in one shape. No time is judged here: that is what `make bench` is for.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { binDir, repository } from "../support/paths.js";

interface Row {
  name: string;
  unit: string;
  n: number;
  p50: number;
  p95: number;
  p99: number;
  peer: string | null;
  ratio: number | null;
  bar: number | null;
  holds: boolean | null;
}

interface Report {
  rows: Row[];
  failures: { group: string; error: string }[];
}

const stopwatch = [join(binDir, "../bench/stopwatch"), join(repository, "build/dev/bench/stopwatch")].find((path) =>
  existsSync(path),
);
const installed = (program: string) => spawnSync(program, ["--version"]).status === 0;

async function bench(t: { after(undo: () => void): void }, only: string) {
  const out = mkdtempSync(join(tmpdir(), "inis-bench-test-"));
  t.after(() => rmSync(out, { recursive: true, force: true }));
  assert(stopwatch, "the stopwatch has been built");
  const args = ["--tiny", "--only", only, "--bin", binDir, "--stopwatch", stopwatch, "--out", out];
  const child = spawn(process.execPath, [join(repository, "bench/run.mjs"), ...args]);
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  child.stdout.resume();
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const file = join(out, "latest.json");
  const report = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Report) : undefined;
  return { code, said, report, table: report ? readFileSync(join(out, "latest.md"), "utf8") : "" };
}

function checkRow(row: Row) {
  assert(row.n >= 1 && row.unit.length > 0, row.name);
  assert(row.p50 >= 0 && row.p50 <= row.p95 && row.p95 <= row.p99, `${row.name}: percentiles ascend`);
  if (row.peer !== null) assert(row.ratio! > 0, `${row.name}: a ratio to its peer`);
  const judged = row.peer === null ? row.p50 : row.ratio!;
  assert.equal(row.holds, row.bar === null ? null : judged <= row.bar, `${row.name}: the verdict follows the bar`);
}

async function measures(t: { after(undo: () => void): void }, groups: Record<string, string[]>) {
  const { code, said, report, table } = await bench(t, Object.keys(groups).join(","));
  assert(report, said);
  assert.deepEqual(report.failures, []);
  assert.deepEqual(
    report.rows.map(({ name }) => name.replace(/\d+/, "N")),
    Object.values(groups).flat(),
  );
  for (const row of report.rows) {
    checkRow(row);
    assert(table.includes(`| ${row.name} |`), `${row.name} is in the table`);
  }
  assert.equal(code, report.rows.some((row) => row.holds === false) ? 1 : 0);
}

test("a run reports every row of its groups in one shape, and whether each bar holds", (t) =>
  measures(t, {
    stream: ["stream.stdout"],
    memory: [
      "memory.daemon.N",
      "memory.session.first",
      ...["memory.daemon.N", "memory.session.of-N", "memory.daemon.N", "memory.session.of-N"],
    ],
    leftovers: ["leftovers"],
  }));

const peers = ["bwrap", "crun"].filter((program) => !installed(program));
test(
  "beside other tools too",
  { skip: peers.length > 0 && `needs ${peers.join(" and ")} (scripts/setup.sh bench)` },
  (t) =>
    measures(t, {
      create: ["create.pooled", "create.empty", "create.pooled.crun", "create.empty.crun"],
      exec: ["exec.http", "exec.http.crun", "exec.sdk"],
    }),
);

test("a group that does not exist is named, and nothing is measured", async (t) => {
  const { code, said, report } = await bench(t, "create,nonsense");
  assert.equal(code, 2);
  assert.match(said, /there is no nonsense; there are create, /);
  assert.equal(report, undefined);
});
