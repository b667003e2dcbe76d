// SPDX-License-Identifier: Apache-2.0
// Waits for a moment in which the machine does nothing else, as long as the budget of the whole run lasts.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const WINDOW_MS = 120;
const BUSY_BELOW = 0.12;

export class Quiet {
  #leftMs;
  gaveUp = false;

  constructor(budgetMs) {
    this.#leftMs = budgetMs;
  }

  /** Once the budget is used up, returns at once: the run goes on and its report says so. */
  async wait() {
    while (!this.gaveUp) {
      const before = times();
      await sleep(WINDOW_MS);
      if (busy(before, times()) < BUSY_BELOW) return;
      this.#leftMs -= WINDOW_MS;
      this.gaveUp = this.#leftMs <= 0;
    }
  }
}

function times() {
  return readFileSync("/proc/stat", "utf8").split("\n", 1)[0].trim().split(/\s+/).slice(1, 9).map(Number);
}

/** The part of the time in which some processor ran something or was kept from running. */
function busy(before, after) {
  const spent = after.map((value, i) => value - before[i]);
  const total = spent.reduce((sum, value) => sum + value, 0);
  return total > 0 ? 1 - (spent[3] + spent[4]) / total : 0;
}
