// SPDX-License-Identifier: Apache-2.0
// Test steps of the C side: building a preset, unit tests through CTest, fuzzers, linters.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { check, jobs, root, run } from "./command.mjs";

/** Configures and builds; the results hold what failed, or one passed build. */
export async function build(preset, log) {
  const configured = await check(`configure ${preset}`, log, "cmake", ["--preset", preset]);
  if (configured.outcome === "failed") return [configured];
  return [await check(`build ${preset}`, log, "cmake", ["--build", "--preset", preset, "-j", jobs])];
}

const failed = (results) => results.some((result) => result.outcome === "failed");

/** Builds and runs the unit tests of a preset; counts the cases that cmocka prints. */
export async function unitTests(preset, log) {
  const results = await build(preset, log);
  if (failed(results)) return results;
  const report = join(root, "build", preset, "unit-tests.xml");
  rmSync(report, { force: true });
  await run(log, "ctest", [
    "--preset",
    preset,
    "-j",
    jobs,
    "--output-junit",
    report,
    "--no-tests=error",
    "--test-output-size-passed",
    "1000000",
    "--test-output-size-failed",
    "1000000",
  ]);
  if (!existsSync(report)) return [...results, { name: `ctest ${preset}`, outcome: "failed", error: log.tail() }];
  return [...results, ...cases(readFileSync(report, "utf8"))];
}

function cases(xml) {
  const results = [];
  const programs = /<testcase name="([^"]+)"[^>]*status="([^"]+)"[^>]*>(.*?)<\/testcase>/gs;
  for (const [, program, status, text] of xml.matchAll(programs)) {
    const output = decoded(text);
    const found = new Map();
    for (const [, mark, name] of output.matchAll(/\[ +(OK|FAILED|SKIPPED) +\] ([A-Za-z_]\w*)/g)) {
      const outcome = { OK: "passed", FAILED: "failed", SKIPPED: "skipped" }[mark];
      const said = output.split(`[ RUN      ] ${name}\n`)[1]?.split("[ RUN ")[0];
      const error = outcome === "failed" ? end(said) : undefined;
      const reason = outcome === "skipped" ? said?.match(/^skipped: (.+)$/m)?.[1] : undefined;
      if (!found.has(name)) found.set(name, { name: `${program}: ${name}`, outcome, error, reason });
    }
    const own = [...found.values()];
    if (status === "fail" && !failed(own)) own.push({ name: program, outcome: "failed", error: end(output) });
    if (own.length === 0) own.push({ name: program, outcome: "failed", error: "the program reported no case" });
    results.push(...own);
  }
  return results;
}

const entities = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
const decoded = (text) => text.replaceAll(/&(lt|gt|amp|quot|apos);/g, (_, name) => entities[name]);
const end = (text = "") => text.trimEnd().split("\n").slice(-30).join("\n");

/** Every fuzzer from its corpus for some seconds; what it finds is kept in build/fuzz/findings/. */
export async function fuzzers(log, seconds) {
  const results = await build("fuzz", log);
  if (failed(results)) return results;
  const directory = join(root, "build", "fuzz", "fuzzers");
  const programs = existsSync(directory) ? readdirSync(directory).filter((name) => /^fuzz_\w+$/.test(name)) : [];
  if (programs.length === 0) return [...results, { name: "fuzzers", outcome: "failed", error: "there are no fuzzers" }];
  for (const program of programs.sort()) {
    const corpus = join(root, "tests", "fuzz", "corpus", program.replace(/^fuzz_/, ""));
    const grown = join(root, "build", "fuzz", "corpus", program);
    const findings = join(root, "build", "fuzz", "findings");
    for (const folder of [grown, findings]) mkdirSync(folder, { recursive: true });
    const seeds = existsSync(corpus) ? [corpus] : [];
    results.push(
      await check(program, log, join(directory, program), [
        `-max_total_time=${seconds}`,
        "-timeout=10",
        "-rss_limit_mb=1024",
        "-verbosity=0",
        `-artifact_prefix=${findings}/${program}-`,
        grown,
        ...seeds,
      ]),
    );
  }
  return results;
}

export async function linters(log) {
  const results = [];
  for (const linter of ["format", "tidy", "cppcheck", "biome"]) {
    results.push(await check(`lint ${linter}`, log, "scripts/lint.sh", [linter]));
  }
  return results;
}
