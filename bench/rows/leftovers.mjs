// SPDX-License-Identifier: Apache-2.0
// What is left when many sessions have come and gone: nothing.
import { TRUE } from "../lib/bench.mjs";
import { wait } from "../lib/engine.mjs";
import { footprint, footprintAtRest } from "../lib/footprint.mjs";

const POOL = 4;
const LIMIT_MS = 30_000;

export const leftovers = {
  name: "leftovers",
  async run(bench) {
    const engine = await bench.engine({ pool: POOL });
    const stopwatch = await bench.stopwatch(engine);
    const count = bench.count(1000, 50);
    const cycle = async (times) => {
      for (let i = 0; i < times; i++) {
        const { id } = await stopwatch.session({}, TRUE);
        const { status, text } = await stopwatch.request("DELETE", `/v1/sessions/${id}`);
        if (status !== 204) throw new Error(`destroy: ${status} ${text}`);
      }
      await engine.settled(0);
    };
    // What the first sessions make once and for all is not left behind.
    await cycle(2 * POOL);
    const before = await footprintAtRest(engine);
    await cycle(count);
    let left = difference(before, footprint(engine));
    await wait("nothing is left", LIMIT_MS, () => {
      left = difference(before, footprint(engine));
      return Object.keys(left).length === 0;
    }).catch(() => {}); // the row says what is left
    bench.add({
      name: "leftovers",
      unit: `kinds after ${count}`,
      samples: [Object.keys(left).length],
      bar: 0,
      pool: POOL,
      counts: before,
      left,
    });
  },
};

/** What has become more or less, and by how many. */
function difference(before, after) {
  const kinds = Object.keys({ ...before, ...after });
  const changes = kinds.map((kind) => [kind, (after[kind] ?? 0) - (before[kind] ?? 0)]);
  return Object.fromEntries(changes.filter(([, change]) => change !== 0));
}
