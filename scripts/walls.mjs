// SPDX-License-Identifier: Apache-2.0
// Takes the walls that hold a guest in away, one at a time and in the sets that answer one question, and writes down in
// docs/threat-model.md which checks of tests/security fall. Every check must fall somewhere: one that cannot proves nothing.
//
//   node scripts/walls.mjs [WALL[,WALL…]…]     only these sets, printed and not written
//
// Builds the engine into build/walls with INIS_TEST_WALLS; no other build can do this.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, Log, root, run } from "./testing/command.mjs";
import { testFiles } from "./testing/node.mjs";

const REPORTER = join(root, "scripts", "testing", "node-reporter.mjs");
const DOCUMENT = join(root, "docs", "threat-model.md");
const BEGIN = "<!-- walls: written by scripts/walls.mjs -->\n";
const END = "<!-- end of walls -->";

const SINGLE = [
  ...["ns.user", "ids.range", "ns.pid", "ns.net", "ns.ipc", "ns.uts", "ns.cgroup", "ns.time"],
  ...["seccomp.guest", "seccomp.base", "caps.bounding", "caps.agent", "no-sudo.no-new-privs", "no-sudo.nosuid"],
  ...["mounts.old-root", "mounts.locked-down", "root.nodev", "dev.own", "dev.read-only"],
  ...["proc.hidden", "proc.read-only"],
  ...["agent.dumpable", "agent.peer", "agent.read-only", "files.beneath", "files.rights"],
  ...["fds.host", "fds.agent", "fds.child"],
  ...["limit.memory", "limit.pids", "limit.cpu", "limit.disk", "limit.core", "oom.guest-first"],
  ...["front.rights", "front.seccomp"],
];
const FILTERS = "seccomp.guest,seccomp.base";
const SETS = [
  FILTERS,
  `${FILTERS},caps.bounding`,
  `ns.user,${FILTERS}`,
  `ns.user,${FILTERS},caps.bounding`,
  "ns.user,proc.hidden,proc.read-only",
  `ns.user,${FILTERS},caps.bounding,agent.dumpable,agent.read-only`,
  "no-sudo.no-new-privs,no-sudo.nosuid",
  "fds.host,fds.agent",
  "fds.host,fds.agent,fds.child",
];

const asked = process.argv.slice(2);
const log = new Log("walls");
const files = testFiles(["build/tests/security", "build/tests/sessions"]).filter(
  (path) => path.includes("/security/") || path.endsWith("isolation.test.js"),
);

async function must(name, command, args) {
  const { outcome, error } = await check(name, log, command, args);
  if (outcome === "failed") throw new Error(`${name}:\n${error}`);
}

/** The checks with their outcome while the walls are down. */
async function outcomes(walls) {
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
  await run(log, process.execPath, ["--test", "--test-concurrency=2", `--test-reporter=${REPORTER}`, ...files], {
    env,
    onLine,
  });
  return results;
}

const named = (outcome, results) => [...results].filter(([, was]) => was === outcome).map(([name]) => name);

function row(walls, fallen) {
  const text = fallen === "all" ? "no session starts at all" : fallen.join(", ") || "nothing by itself";
  return `| ${walls.replaceAll(",", " + ")} | ${text} |`;
}

await must("configure", "cmake", [
  "-S",
  ".",
  "-B",
  "build/walls",
  "-G",
  "Ninja",
  "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
  "-DINIS_TEST_WALLS=ON",
]);
await must("build", "cmake", ["--build", "build/walls", "--target", "programs", "inis-test-probe"]);
await must("build tests", "node_modules/.bin/tsc", ["-p", "tests/tsconfig.json"]);

const standing = await outcomes("");
const broken = named("failed", standing);
if (broken.length > 0 || standing.size === 0) throw new Error(`with all walls up, these fail: ${broken.join(", ")}`);

const never = new Set(standing.keys());
const rows = [];
for (const walls of asked.length > 0 ? asked : [...SINGLE, ...SETS]) {
  const results = await outcomes(walls);
  const fallen = named("failed", results);
  // What does not even start proves nothing about the single checks.
  const all = standing.size - fallen.length <= standing.size / 4;
  if (!all) for (const name of fallen) never.delete(name);
  rows.push(row(walls, all ? "all" : fallen.sort()));
  console.log(rows.at(-1));
}
console.log(`checks that fell nowhere: ${[...never].join(", ") || "none"}`);

if (asked.length === 0) {
  const text = readFileSync(DOCUMENT, "utf8");
  const table = [
    "| walls taken away | checks that fail then |",
    "|---|---|",
    ...rows,
    "",
    `${standing.size} checks with all walls up. In no row: ${[...never].sort().join(", ") || "none"}.`,
    "",
  ];
  const start = text.indexOf(BEGIN) + BEGIN.length;
  writeFileSync(DOCUMENT, `${text.slice(0, start)}\n${table.join("\n")}\n${text.slice(text.indexOf(END))}`);
}
