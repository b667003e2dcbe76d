// SPDX-License-Identifier: Apache-2.0
// Many sessions at once, and as many as go.
import { TRUE } from "../lib/bench.mjs";
import { BWRAP } from "../lib/peers.mjs";

const POOL = 4;

export const burst = {
  name: "burst",
  async run(bench) {
    const engine = await bench.engine({ pool: POOL });
    const stopwatch = await bench.stopwatch(engine);
    const spawns = await baseline(bench, stopwatch);
    const [some, many] = bench.tiny ? [4, 8] : [20, 100];
    for (const [count, rounds, bar] of [
      [some, bench.count(8), null],
      [many, bench.count(3), 1.0],
    ]) {
      const samples = await bench.sideBySide(rounds, {
        bwrap: { take: () => all(stopwatch.spawnMany(count, count, BWRAP)) },
        creates: together(engine, stopwatch, count, undefined),
        first: together(engine, stopwatch, count, TRUE),
      });
      const row = (name, subject, limit) =>
        bench.addTimed(
          {
            name,
            samples: samples[subject],
            peer: `${count} bwrap`,
            peerSamples: samples.bwrap,
            bar: limit,
            pool: POOL,
          },
          spawns,
        );
      row(`burst.${count}.create`, "creates", bar);
      row(`burst.${count}.create-exec`, "first", null);
    }
  },
};

export const steady = {
  name: "steady",
  async run(bench) {
    const engine = await bench.engine({ pool: POOL });
    const stopwatch = await bench.stopwatch(engine);
    const spawns = await baseline(bench, stopwatch);
    const rates = await bench.sideBySide(bench.count(4, 1), {
      ours: {
        before: () => engine.settled(0),
        take: async () => {
          const { seconds, cycles, failed } = await stopwatch.steady(bench.count(6, 2), 8, {}, TRUE);
          if (failed) throw new Error(`${failed} of ${cycles} cycles failed`);
          return cycles / seconds;
        },
      },
      bwrap: {
        take: async () => {
          const count = bench.count(200, 40);
          return count / ((await all(stopwatch.spawnMany(count, 8, BWRAP))) / 1000);
        },
      },
    });
    bench.addTimed(
      {
        name: "steady.cycles",
        unit: "1/s",
        samples: rates.ours,
        peer: "bwrap, 8 at once",
        peerSamples: rates.bwrap,
        pool: POOL,
      },
      spawns,
    );
  },
};

async function baseline(bench, stopwatch) {
  const { spawn } = await bench.sideBySide(bench.count(20, 3), {
    spawn: { take: () => stopwatch.spawn(["/bin/true"]) },
  });
  return spawn;
}

function together(engine, stopwatch, count, exec) {
  let ids = [];
  return {
    before: () => engine.settled(0),
    take: async () => {
      const made = await stopwatch.burst(count, {}, exec);
      ids = made.ids;
      return all(made);
    },
    after: () => engine.destroy(ids),
  };
}

async function all(made) {
  const { ms, failed } = await made;
  if (failed) throw new Error(`${failed} failed`);
  return ms;
}
