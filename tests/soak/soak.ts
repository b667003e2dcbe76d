// SPDX-License-Identifier: Apache-2.0
// L7: memory, descriptors and threads of the server stay flat under a long mixed load.
//
//   SOAK_MINUTES=60 make soak
//
// Writes build/soak/latest.json, latest.md and latest.svg, and fails when something grew by more than 5 %.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { descendants, openFiles, role } from "../support/footprint.js";
import { sleep } from "../support/helpers.js";
import { repository } from "../support/paths.js";
import { Server } from "../support/server.js";
import { TestSession } from "../support/session.js";
import { Load } from "./load.js";
import { drifts, markdown, median, percentile, type Sample, svg } from "./report.js";

const MINUTES = Number(process.env.SOAK_MINUTES ?? 60);
const LIMIT = 0.05;
const WARM_UP = 0.25;
const SAMPLES = 120;
const PASSING = 2;
const STAYING = 2;

function pssKb(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1]);
}

function measure(name: string, pid: number): Record<string, number> {
  return {
    [`${name}_pss_kb`]: pssKb(pid),
    [`${name}_files`]: openFiles(pid),
    [`${name}_threads`]: readdirSync(`/proc/${pid}/task`).length,
  };
}

/** PID 1 of each session that stays; those that come and go are younger than all of these. */
function agents(server: Server): number[] {
  return descendants(server.pid)
    .filter(({ command }) => command[0] === "inis-agent")
    .map(({ pid }) => pid);
}

/** Found once: a process that was started anew would be missed, as it should be. */
interface Measured {
  front: number;
  broker: number;
  supervisor: number;
  agents: number[];
}

function sample(pids: Measured, load: Load, minutes: number): Sample {
  const latencies = load.takeLatencies();
  return {
    minutes,
    ...measure("front", pids.front),
    ...measure("broker", pids.broker),
    ...measure("supervisor", pids.supervisor),
    agents_pss_kb: pids.agents.reduce((sum, pid) => sum + pssKb(pid), 0),
    agents_files: pids.agents.reduce((sum, pid) => sum + openFiles(pid), 0),
    exec_p50_ms: Math.round(median(latencies)),
    exec_p99_ms: Math.round(percentile(latencies, 0.99)),
  };
}

async function collect(pids: Measured, load: Load): Promise<Sample[]> {
  const begin = Date.now();
  const samples: Sample[] = [];
  for (let n = 1; n <= SAMPLES; n++) {
    await sleep(begin + (n * MINUTES * 60_000) / SAMPLES - Date.now());
    samples.push(sample(pids, load, (Date.now() - begin) / 60_000));
  }
  return samples;
}

/** Blank units of the pool have agents too: those of the sessions are found while there is no pool. */
async function stayingSessions(server: Server): Promise<{ sessions: TestSession[]; residents: number[] }> {
  const before = new Set(agents(server));
  const sessions: TestSession[] = [];
  for (let i = 0; i < STAYING; i++) sessions.push(await TestSession.create(server.client()));
  return { sessions, residents: agents(server).filter((pid) => !before.has(pid)) };
}

async function run(): Promise<{ samples: Sample[]; counts: Record<string, number> }> {
  const server = await Server.start({ pool: 0 });
  try {
    const { sessions, residents } = await stayingSessions(server);
    const load = new Load(server.client());
    const pids = {
      front: role(server, "front"),
      broker: role(server, "broker"),
      supervisor: server.pid,
      agents: residents,
    };
    const work = [
      ...sessions.map((session) => load.staying(session)),
      ...Array.from({ length: PASSING }, () => load.passingSessions()),
    ];
    const samples = await Promise.race([collect(pids, load), Promise.all(work)]);
    load.stop();
    await Promise.all(work);
    return { samples: samples as Sample[], counts: load.counts };
  } finally {
    await server.stop();
  }
}

const { samples, counts } = await run();
const found = drifts(samples, WARM_UP);
const directory = join(repository, "build/soak");
mkdirSync(directory, { recursive: true });
writeFileSync(
  join(directory, "latest.json"),
  JSON.stringify({ minutes: MINUTES, limit: LIMIT, counts, drifts: found, samples }, null, 1),
);
writeFileSync(join(directory, "latest.svg"), svg(samples));
const summary = markdown(MINUTES, counts, found, LIMIT);
writeFileSync(join(directory, "latest.md"), summary);
console.log(summary);
if (found.some(({ growth }) => growth > LIMIT)) {
  console.error("soak: something grew");
  process.exitCode = 1;
}
