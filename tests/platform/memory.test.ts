// SPDX-License-Identifier: Apache-2.0
// What the server took for much at once goes back to the machine when it has nothing to do.
import assert from "node:assert/strict";
import { test } from "node:test";
import { anonymousKb, role } from "../support/footprint.js";
import { eventually } from "../support/helpers.js";
import { sh } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite();

/**
 * How many captures at once, of how many bytes: each below the size from which the C library gets and gives back memory
 * for one thing alone. What stays of them otherwise differs, now and then it is nothing.
 */
const CROWDS = [
  [1, 100_000],
  [1, 400_000],
  [4, 100_000],
  [3, 300_000],
] as const;
/** Caches of the store that fill once, and the pages of which a part is in use. */
const KEPT_KB = 350;

test("L7_memory_for_much_at_once_goes_back_when_the_server_rests", async () => {
  const capture = async (size: number) => {
    const { stdout } = await t.session.exec(sh(`yes 0123456789 | head -c ${size}`));
    assert.equal(stdout.length, size);
  };
  const front = role(t.server, "front");
  const before = anonymousKb(front);
  for (const [count, size] of CROWDS) {
    await Promise.all(Array.from({ length: count }, () => capture(size)));
    await eventually(`the memory of ${count} × ${size} is given back`, () => {
      const kept = anonymousKb(front) - before;
      assert(kept < KEPT_KB, `${kept} kB more than before`);
      return true;
    });
  }
});
