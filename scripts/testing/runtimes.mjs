// SPDX-License-Identifier: Apache-2.0
// Other JavaScript runtimes for the long tier: too large to be a dependency of every build.
import { join } from "node:path";
import { check, root } from "./command.mjs";

const RUNTIMES = ["bun@1.4.5", "deno@2.9.6"];

export async function installRuntimes(log) {
  const prefix = join(root, "build", "runtimes");
  const args = ["install", "--silent", "--no-save", "--prefix", prefix, ...RUNTIMES];
  return [await check("install other runtimes", log, "npm", args)];
}
