// SPDX-License-Identifier: Apache-2.0
// Finds the engine's program: where INIS_ENGINE_DIR says, else in the engine package, else in a built clone, else where
// programs are installed.

import { InisError } from "../errors.js";
import { environment, mainProgram, nodeModule } from "../node.js";

const PROGRAM = "inis";
/** Looked for in every folder from the SDK's own upwards. */
const PLACES = ["node_modules/@inis-run/engine-linux-x64/bin", "build/bin"];
const PURPOSE = "the embedded engine";
/** No literal in the import, so that bundlers leave it alone: in a bundle there is nothing to be learnt from it. */
const HERE: string = "./here.mjs";

/** Path of the `inis` program. */
export async function locateEngine(): Promise<string> {
  const path = await nodeModule("node:path", PURPOSE);
  const configured = environment("INIS_ENGINE_DIR");
  const folders = configured ? [configured] : await candidates();
  for (const folder of folders) {
    const program = path.join(folder, PROGRAM);
    if (await isFile(program)) return program;
  }
  throw new InisError(
    configured
      ? `the inis engine is not in INIS_ENGINE_DIR: there is no ${path.join(configured, PROGRAM)}`
      : "the inis engine was not found: install @inis-run/engine-linux-x64, or run `make install` in a clone of " +
          "inis, or set INIS_ENGINE_DIR to the folder of its programs; to use a server, set INIS_API_KEY and " +
          "INIS_BASE_URL",
    { code: "engine_not_found" },
  );
}

/** Folders that may hold the program, nearest first; packages before clones, what is installed last. */
async function candidates(): Promise<string[]> {
  const path = await nodeModule("node:path", PURPOSE);
  const ancestors: string[] = [];
  for (let folder = await ownFolder(); folder !== undefined; ) {
    ancestors.push(folder);
    const parent = path.dirname(folder);
    folder = parent === folder ? undefined : parent;
  }
  const around = PLACES.flatMap((place) => ancestors.map((folder) => path.join(folder, place)));
  const installed = (environment("PATH") ?? "").split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return [...around, ...installed];
}

/** The folder this code was loaded from; in a bundle, that of the program. */
async function ownFolder(): Promise<string | undefined> {
  const own = await ownFile();
  if (own === undefined) return undefined;
  const { realpath } = await nodeModule("node:fs/promises", PURPOSE);
  const { dirname } = await nodeModule("node:path", PURPOSE);
  return dirname(await realpath(own).catch(() => own));
}

async function ownFile(): Promise<string | undefined> {
  try {
    const { here } = (await import(/* webpackIgnore: true */ /* @vite-ignore */ HERE)) as { here: string };
    return (await nodeModule("node:url", PURPOSE)).fileURLToPath(here);
  } catch {
    return mainProgram();
  }
}

async function isFile(path: string): Promise<boolean> {
  const { stat } = await nodeModule("node:fs/promises", PURPOSE);
  return stat(path).then(
    (entry) => entry.isFile(),
    () => false,
  );
}
