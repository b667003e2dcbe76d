// SPDX-License-Identifier: Apache-2.0
// Where the repository and the built programs are, seen from the compiled tests in build/tests/support.
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const repository = resolve(fileURLToPath(import.meta.url), "../../../..");
export const binDir = process.env.INIS_BIN_DIR ?? join(repository, "build/bin");

/** Shrinks the counts of the largest tests; 1 is the full size. */
export const scale = Number(process.env.INIS_TEST_SCALE ?? (process.env.INIS_TEST_LONG ? 1 : 0.1));

/** A count at the current scale, never below the floor. */
export function scaled(full: number, floor = 1): number {
  return Math.max(floor, Math.round(full * scale));
}
