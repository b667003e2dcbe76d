// SPDX-License-Identifier: Apache-2.0
// What a TypeScript user of the adapter compiles: the readme's examples, and the sources, with both cores.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { repository } from "../support/paths.js";

const newestCore = { "@mastra/core/*": [join(repository, "node_modules/mastra-core-newest/dist/*/index.d.ts")] };

async function compile(...args: string[]): Promise<void> {
  const tsc = join(repository, "node_modules/typescript/bin/tsc");
  await promisify(execFile)(process.execPath, [tsc, ...args], { cwd: repository }).catch((error) =>
    assert.fail(error.stdout || error.message),
  );
}

/** Each example as a module; names that an example takes from the text around it are declared. */
function examples(): string[] {
  const readme = readFileSync(join(repository, "packages/mastra/README.md"), "utf8");
  const imports =
    'import { InisSandbox } from "@inis-run/mastra";\nimport { Workspace } from "@mastra/core/workspace";\n';
  const surroundings = "declare const sandbox: InisSandbox, other: InisSandbox, pid: string, hugeBuffer: Buffer;\n";
  return [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) =>
    code!.includes("import ") ? code! : imports + surroundings + code,
  );
}

for (const [core, paths] of [
  ["oldest", undefined],
  ["newest", newestCore],
] as const) {
  test(`readme_examples_compile_with_the_${core}_core`, async () => {
    mkdirSync(join(repository, "build"), { recursive: true });
    const directory = mkdtempSync(join(repository, "build/readme-"));
    try {
      examples().forEach((code, i) => {
        writeFileSync(join(directory, `example${i}.mts`), code);
      });
      const compilerOptions = { noEmit: true, noUnusedLocals: false, types: ["node"], paths };
      const project = { extends: "../../tsconfig.base.json", compilerOptions, include: ["*.mts"] };
      writeFileSync(join(directory, "tsconfig.json"), JSON.stringify(project));
      await compile("-p", directory);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
}

test("the_adapter_compiles_with_the_newest_core", () => compile("-p", "packages/mastra/tsconfig.newest.json"));
