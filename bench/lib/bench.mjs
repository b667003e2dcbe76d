// SPDX-License-Identifier: Apache-2.0
// What a group of rows is given: the stopwatch, peers, servers, and where its results go.
import { Engine } from "./engine.mjs";
import { Crun } from "./peers.mjs";
import { makeRow } from "./report.mjs";
import { percentile, sideBySide } from "./samples.mjs";
import { Stopwatch } from "./stopwatch.mjs";

export const TRUE = { command: ["/bin/true"] };

export class Bench {
  rows = [];
  #open = [];

  /** scale: what the counts of a full run are divided by. */
  constructor({ binDir, stopwatchPath, quiet, scale }) {
    this.binDir = binDir;
    this.stopwatchPath = stopwatchPath;
    this.quiet = quiet;
    this.scale = scale;
  }

  /** Only the shape of the results matters: the bench tests itself. */
  get tiny() {
    return this.scale >= 1000;
  }

  /** A count of samples, sized for this run. */
  count(full, least = 1) {
    return Math.max(least, Math.round(full / this.scale));
  }

  #keep(thing, close) {
    this.#open.push(() => close(thing));
    return thing;
  }

  /** A server; ended when the group is done. */
  async engine(config) {
    return this.#keep(await Engine.start(this.binDir, config), (engine) => engine.stop());
  }

  /** A stopwatch that asks this server, or none. */
  async stopwatch(engine) {
    const stopwatch = this.#keep(new Stopwatch(this.stopwatchPath), (it) => it.close());
    if (engine) await stopwatch.target(engine);
    return stopwatch;
  }

  crun() {
    return this.#keep(new Crun(this.stopwatchPath), (crun) => crun.close());
  }

  /** Whatever has to be undone at the end of the group. */
  atEnd(close) {
    this.#open.push(close);
  }

  sideBySide(rounds, contestants) {
    return sideBySide(rounds, this.quiet, contestants);
  }

  add(row) {
    this.rows.push(makeRow(row));
  }

  /** A row of milliseconds, with the baseline that was measured beside it. */
  addTimed(row, spawns = []) {
    this.add({ unit: "ms", baseline: percentile(spawns, 0.5), ...row });
  }

  /** Ends what the group has opened, the last first; everything is tried, the first failure is told. */
  async finish() {
    let failure;
    for (const close of this.#open.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure) throw failure;
  }
}
