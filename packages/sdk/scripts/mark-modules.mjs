// SPDX-License-Identifier: Apache-2.0
// Tells Node which of the two builds is which: tsc writes the modules, but not their package.json markers.
import { writeFileSync } from "node:fs";

for (const [folder, type] of [
  ["esm", "module"],
  ["cjs", "commonjs"],
]) {
  writeFileSync(new URL(`../dist/${folder}/package.json`, import.meta.url), `${JSON.stringify({ type })}\n`);
}
