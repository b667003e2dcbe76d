// SPDX-License-Identifier: Apache-2.0
// Chance that can be played again: INIS_TEST_SEED=N repeats a run.

export type Dice = (sides: number) => number;

/** A small generator: dice(n) is one of 0 … n-1. */
export function generator(seed: number): Dice {
  let state = seed >>> 0;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** The seed of this run, to be said in its report. */
export function testSeed(): number {
  return Number(process.env.INIS_TEST_SEED ?? Date.now() % 1_000_000_007);
}
