// SPDX-License-Identifier: Apache-2.0
// Memory: of a session that does nothing, and of the server with few and with many of them.
import { daemons, descendants, pss } from "../lib/footprint.mjs";

const AT_ONCE = 8;

export const memory = {
  name: "memory",
  async run(bench) {
    const engine = await bench.engine({ pool: 0 });
    const stopwatch = await bench.stopwatch(engine);
    let sessions = 0;
    const grow = async (to) => {
      while (sessions < to) {
        const made = await stopwatch.burst(Math.min(AT_ONCE, to - sessions), {}, undefined);
        if (made.failed) throw new Error(`${made.failed} creates failed`);
        sessions += made.ids.length;
      }
      await engine.settled(sessions);
    };
    const own = () => pss(daemons(engine)).withoutFiles;
    const add = (name, kib, bar, pool = 0) => bench.add({ name, unit: "KiB", samples: [kib], bar, pool });

    await engine.settled(0);
    await bench.quiet.wait();
    add("memory.daemon.0", own(), 6144);
    const none = pss(descendants(engine.pid)).all;
    await grow(1);
    await bench.quiet.wait();
    add("memory.session.first", pss(descendants(engine.pid)).all - none, 2048);
    for (const count of [bench.count(100, 20), bench.count(500, 40)]) {
      await grow(count);
      await bench.quiet.wait();
      add(`memory.daemon.${count}`, own(), null);
      add(`memory.session.of-${count}`, (pss(descendants(engine.pid)).all - none) / count, 2048);
    }
  },
};
