// SPDX-License-Identifier: Apache-2.0
// L7: memory, descriptors and threads of the server stay flat under a long mixed load.
//
//   SOAK_MINUTES=60 make soak
//
// Writes build/soak/latest.json, latest.md and latest.svg, and fails when something grew by more than 5 %. All is measured
// while nothing goes on, so that what a request holds for its time is not taken for what it leaves behind.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { anonymousKb, guestInits, openFiles, role } from "../support/footprint.js";
import { repository } from "../support/paths.js";
import { Server } from "../support/server.js";
import { TestSession } from "../support/session.js";
import { Load } from "./load.js";
import { drifts, markdown, median, percentile, type Sample, svg } from "./report.js";

const MINUTES = Number(process.env.SOAK_MINUTES ?? 60);
const LIMIT = 0.05;
const SAMPLES = 120;
const PASSING = 2;
const STAYING = 2;
/**
 * Until what is kept on purpose is full: the database's cache of pages, and in a session's agent the memory it keeps for
 * more at once than what follows. Work fills both, not time.
 */
const WARM_UP_ROUNDS = 100;

function measure(name: string, pid: number): Record<string, number> {
  return {
    [`${name}_memory_kb`]: anonymousKb(pid),
    [`${name}_files`]: openFiles(pid),
    [`${name}_threads`]: readdirSync(`/proc/${pid}/task`).length,
  };
}

/**
 * Found once: a process that was started anew would be missed, as it should be. The agents are those of the sessions that
 * stay; those of sessions that come and go are younger.
 */
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
    agents_memory_kb: pids.agents.reduce((sum, pid) => sum + anonymousKb(pid), 0),
    agents_files: pids.agents.reduce((sum, pid) => sum + openFiles(pid), 0),
    exec_p50_ms: Math.round(median(latencies)),
    exec_p99_ms: Math.round(percentile(latencies, 0.99)),
  };
}

async function collect(pids: Measured, load: Load): Promise<Sample[]> {
  await load.hurry(WARM_UP_ROUNDS);
  load.takeLatencies();
  const begin = Date.now();
  const samples: Sample[] = [];
  for (let n = 1; n <= SAMPLES; n++) {
    await load.walk(begin + (n * MINUTES * 60_000) / SAMPLES);
    await load.rest();
    samples.push(sample(pids, load, (Date.now() - begin) / 60_000));
  }
  return samples;
}

/** Blank units of the pool have agents too: those of the sessions are found while there is no pool. */
async function stayingSessions(server: Server): Promise<{ sessions: TestSession[]; residents: number[] }> {
  const before = new Set(guestInits(server));
  const sessions: TestSession[] = [];
  for (let i = 0; i < STAYING; i++) sessions.push(await TestSession.create(server.client()));
  return { sessions, residents: guestInits(server).filter((pid) => !before.has(pid)) };
}

async function run(): Promise<{ samples: Sample[]; counts: Record<string, number> }> {
  const server = await Server.start({ pool: 0 });
  try {
    const { sessions, residents } = await stayingSessions(server);
    const load = new Load(server.client(), sessions, PASSING);
    const pids = {
      front: role(server, "front"),
      broker: role(server, "broker"),
      supervisor: server.pid,
      agents: residents,
    };
    return { samples: await collect(pids, load), counts: load.counts };
  } finally {
    await server.stop();
  }
}

const { samples, counts } = await run();
const found = drifts(samples);
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
