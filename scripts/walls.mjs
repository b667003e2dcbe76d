// SPDX-License-Identifier: Apache-2.0
// Takes the walls that hold a guest in away, one at a time and in the sets that answer one question, and writes down in
// docs/threat-model.md which checks of tests/security fall. Every check must fall somewhere: one that cannot proves nothing.
//
//   node scripts/walls.mjs [--no-build] [WALL[,WALL…]…]     tries only these sets again
//
// Builds the engine into build/walls with INIS_TEST_WALLS; no other build can do this.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, Log, root, run } from "./testing/command.mjs";
import { testFiles } from "./testing/node.mjs";

const REPORTER = join(root, "scripts", "testing", "node-reporter.mjs");
const DOCUMENT = join(root, "docs", "threat-model.md");
const RESULTS = join(root, "build", "walls", "results.json");
const BEGIN = "<!-- walls: written by scripts/walls.mjs -->\n";
const END = "<!-- end of walls -->";

// Which files of checks each set could touch; the network and the limits take long and are looked at where they matter.
const FILTERS = "seccomp.guest,seccomp.base";
const SETS = {
  "ns.user": "neighbours kernel gain",
  "ns.pid": "neighbours agent kernel",
  "ns.net": "network",
  "ns.ipc": "neighbours",
  "ns.uts": "neighbours",
  "ns.cgroup": "neighbours kernel",
  "ns.time": "neighbours",
  "seccomp.guest": "kernel",
  "seccomp.base": "kernel",
  "caps.bounding": "kernel gain",
  "caps.agent": "kernel agent",
  "no-sudo.no-new-privs": "gain",
  "no-sudo.nosuid": "gain",
  "mounts.old-root": "kernel agent",
  "mounts.locked-down": "kernel",
  "root.nodev": "kernel",
  "dev.own": "kernel",
  "dev.read-only": "kernel agent",
  "proc.hidden": "kernel",
  "proc.read-only": "kernel",
  "agent.dumpable": "agent kernel",
  "agent.peer": "agent",
  "agent.read-only": "agent",
  "files.beneath": "agent",
  "files.rights": "agent",
  "fds.host": "agent",
  "fds.agent": "agent",
  "fds.child": "agent",
  "limit.memory": "limits",
  "limit.pids": "limits",
  "limit.cpu": "limits",
  "limit.disk": "limits",
  "limit.core": "limits engine",
  "limit.files": "limits",
  "oom.guest-first": "limits",
  "front.rights": "engine",
  "front.seccomp": "engine",
  [FILTERS]: "kernel gain",
  [`${FILTERS},caps.bounding`]: "kernel",
  [`ns.user,${FILTERS}`]: "kernel",
  [`ns.user,${FILTERS},caps.bounding`]: "kernel agent",
  "ns.user,proc.hidden,proc.read-only": "kernel",
  "no-sudo.no-new-privs,no-sudo.nosuid": "gain",
  "fds.host,fds.agent": "agent",
  "fds.host,fds.agent,fds.child": "agent",
};

const asked = process.argv.slice(2).filter((word) => !word.startsWith("-"));
const log = new Log("walls");
const files = testFiles(["build/tests/security"]);

async function must(name, command, args) {
  const { outcome, error } = await check(name, log, command, args);
  if (outcome === "failed") throw new Error(`${name}:\n${error}`);
}

/** The checks of these files with their outcome while the walls are down. */
async function outcomes(walls, of) {
  const results = new Map();
  const onLine = (text) => {
    let event;
    try {
      event = JSON.parse(text);
    } catch {}
    if (event?.kind !== "test" || event.outcome === "skipped") return;
    // Both users of one promise are one check.
    const name = event.name.replace(/ \[(sandbox|root)\]$/, "").replace(/: .*/, "");
    if (results.get(name) !== "failed") results.set(name, event.outcome);
  };
  const env = { INIS_BIN_DIR: join(root, "build", "walls", "bin"), INIS_WALLS_OFF: walls };
  await run(log, process.execPath, ["--test", "--test-concurrency=2", `--test-reporter=${REPORTER}`, ...of], {
    env,
    onLine,
  });
  return results;
}

const named = (outcome, results) => [...results].filter(([, was]) => was === outcome).map(([name]) => name);

async function build() {
  const options = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DINIS_TEST_WALLS=ON"];
  await must("configure", "cmake", ["-S", ".", "-B", "build/walls", ...options]);
  await must("build", "cmake", ["--build", "build/walls", "--target", "inisd", "inis-test-probe"]);
  await must("build tests", "node_modules/.bin/tsc", ["-p", "tests/tsconfig.json"]);
}

/** What falls while the walls are down: names of checks, or nothing at all when no session starts. */
async function fall(walls) {
  const of = files.filter((path) => SETS[walls].split(" ").some((name) => path.endsWith(`/${name}.test.js`)));
  const results = await outcomes(walls, of);
  const fallen = named("failed", results).sort();
  known.checks = [...new Set([...known.checks, ...results.keys()])].sort();
  return fallen.length === results.size ? null : fallen;
}

function document({ checks, sets }) {
  const fell = new Set(Object.values(sets).flatMap((fallen) => fallen ?? []));
  const never = checks.filter((name) => !fell.has(name));
  const cell = (fallen) =>
    fallen?.map((name) => `\`${name}\``).join(", ") ?? "all: no session starts, or nothing works in it";
  return [
    `${checks.length} checks. Of these fall, when the walls of a row are down:`,
    "",
    "| walls taken away | checks that fall |",
    "|---|---|",
    ...Object.keys(SETS)
      .filter((walls) => sets[walls] !== undefined)
      .map((walls) => `| ${walls.replaceAll(",", " + ")} | ${cell(sets[walls]) || "none: another wall holds"} |`),
    "",
    `In no row: ${never.map((name) => `\`${name}\``).join(", ") || "none"}.`,
  ].join("\n");
}

const known = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, "utf8")) : { checks: [], sets: {} };
const again = asked.length > 0 && known.checks.length > 0;
if (!process.argv.includes("--no-build")) await build();
if (!again) {
  const standing = await outcomes("", files);
  const broken = named("failed", standing);
  if (broken.length > 0 || standing.size === 0) throw new Error(`with all walls up, these fail: ${broken.join(", ")}`);
  known.checks = [...standing.keys()].sort();
}
for (const walls of asked.length > 0 ? asked : Object.keys(SETS)) {
  known.sets[walls] = await fall(walls);
  console.log(walls, known.sets[walls]);
  writeFileSync(RESULTS, JSON.stringify(known, null, 1));
}
const text = readFileSync(DOCUMENT, "utf8");
const start = text.indexOf(BEGIN) + BEGIN.length;
writeFileSync(DOCUMENT, `${text.slice(0, start)}\n${document(known)}\n\n${text.slice(text.indexOf(END))}`);
