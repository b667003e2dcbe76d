// SPDX-License-Identifier: Apache-2.0
// kill -9 of the server's processes at random moments under load: what clients were told still holds, what they were
// not told is one or the other, and nothing is left of what was half done.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { assertNothingLeft, descendants, role, unitCgroups } from "../support/footprint.js";
import { eventually, sleep } from "../support/helpers.js";
import { scaled } from "../support/paths.js";
import { type Dice, generator, testSeed } from "../support/random.js";
import { Server } from "../support/server.js";
import { Worker } from "./worker.js";

const WORKERS = 3;
const POOL = 2;
const ROUNDS = Number(process.env.INIS_KILL_ROUNDS ?? scaled(200, 20));
const VICTIMS = [["front"], ["broker"], ["supervisor"], ["front", "broker"], ["supervisor", "broker"], ["all"]];

function pidsOf(server: Server, victims: string[]): number[] {
  const all = victims[0] === "all" ? ["supervisor", "front", "broker"] : victims;
  return all.map((name) => (name === "supervisor" ? server.pid : role(server, name as "front" | "broker")));
}

async function kill(server: Server, victims: string[]): Promise<void> {
  const pids = pidsOf(server, victims);
  for (const pid of pids) process.kill(pid, "SIGKILL");
  await eventually("they are dead", () => pids.every((pid) => !descendants(pid).some((row) => row.command.length > 0)));
  if (pids.includes(server.pid)) await server.relaunchAfterKill();
  const client = server.client();
  await eventually("the server answers again", async () => {
    const answer = await client.send("GET", "/v1/healthz");
    return answer.status === 200;
  });
}

/** Units that no session has are undone; the pool is filled again. */
async function assertNoHalfUnits(server: Server, sessions: number): Promise<void> {
  await eventually("half-made units are gone", () => {
    const units = readdirSync(join(server.stateDir, "units")).length;
    assert(
      units >= sessions && units <= sessions + POOL + 1,
      `${units} units for ${sessions} sessions, a pool of ${POOL} and a spare`,
    );
    return true;
  });
}

async function round(server: Server, workers: Worker[], dice: Dice): Promise<void> {
  const running = workers.map((worker) => worker.run());
  // What a worker finds wrong ends the test, whenever it does.
  for (const one of running) one.catch(() => {});
  await Promise.race([sleep(dice(600)), ...running]);
  await kill(server, VICTIMS[dice(VICTIMS.length)]!);
  for (const worker of workers) worker.stop();
  await Promise.all(running);
  for (const worker of workers) {
    worker.client = server.client();
    await worker.audit();
  }
  const held = workers.reduce((sum, worker) => sum + worker.held.length, 0);
  await assertNoHalfUnits(server, held);
}

test("X17_L1_S9_kill_9_under_load_breaks_no_promise_and_leaves_nothing", async (context) => {
  const seed = testSeed();
  const dice = generator(seed);
  const server = await Server.start({ pool: POOL });
  const workers = Array.from(
    { length: WORKERS },
    (_, i) => new Worker(`worker-${i}`, generator(seed + 7919 * (i + 1)), server.client()),
  );
  context.diagnostic(`INIS_TEST_SEED=${seed}`);
  try {
    for (let n = 0; n < ROUNDS; n++) await round(server, workers, dice);
    context.diagnostic(JSON.stringify(workers.map(({ done }) => done)));
    const cgroups = unitCgroups(server);
    const pids = descendants(server.pid).map(({ pid }) => pid);
    await server.stop();
    await assertNothingLeft(server.stateDir, cgroups, pids);
  } catch (error) {
    context.diagnostic(server.logs().slice(-6000));
    for (const worker of workers) worker.stop();
    await server.stop().catch(() => {});
    throw error;
  }
});
