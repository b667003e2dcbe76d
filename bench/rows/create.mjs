// SPDX-License-Identifier: Apache-2.0
// One session at a time: from the request for it to the end of its first command.
import { TRUE } from "../lib/bench.mjs";
import { BWRAP } from "../lib/peers.mjs";

const POOL = 4;

export const create = {
  name: "create",
  async run(bench) {
    const baseline = await bench.stopwatch();
    const crun = bench.crun();
    const samples = await bench.sideBySide(bench.count(60, 3), {
      spawn: { take: () => baseline.spawn(["/bin/true"]) },
      bwrap: { take: () => baseline.spawn(BWRAP) },
      crun: { take: () => crun.run() },
      pooled: await sessions(bench, POOL),
      empty: await sessions(bench, 0),
    });
    const row = (name, subject, pool, peer, peerSamples, bar) =>
      bench.addTimed({ name, samples: samples[subject], peer, peerSamples, bar, pool }, samples.spawn);
    row("create.pooled", "pooled", POOL, "bwrap", samples.bwrap, 0.5);
    row("create.empty", "empty", 0, "bwrap", samples.bwrap, 0.8);
    row("create.pooled.crun", "pooled", POOL, "crun run", samples.crun, null);
    row("create.empty.crun", "empty", 0, "crun run", samples.crun, null);
  },
};

async function sessions(bench, pool) {
  const engine = await bench.engine({ pool });
  const stopwatch = await bench.stopwatch(engine);
  let id;
  return {
    before: () => engine.settled(0),
    take: async () => {
      const made = await stopwatch.session({}, TRUE);
      id = made.id;
      return made.ms;
    },
    after: () => engine.destroy([id]),
  };
}
