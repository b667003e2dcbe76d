// SPDX-License-Identifier: Apache-2.0
// One disk for an agent's file tools and its commands. Every step checks what it shows and ends the program with an
// error when it is not so.
//
//   node examples/quickstart/filesystem.mjs
import assert from "node:assert/strict";
import { InisFilesystem, InisSandbox } from "@inis-run/mastra";
import { Workspace } from "@mastra/core/workspace";

async function step(what, work) {
  const shown = await work();
  console.log(what);
  for (const line of String(shown).trimEnd().split("\n")) console.log(`   | ${line}`);
}

// No key and no URL: the engine of this machine is found, or started.
const sandbox = new InisSandbox({ egressDefault: "deny" });
const workspace = new Workspace({ sandbox, filesystem: new InisFilesystem({ sandbox }) });

try {
  await step("a file tool writes a program, a command runs it", async () => {
    await workspace.filesystem.writeFile("src/squares.py", "for i in range(5):\n    print(i * i)\n");
    const { stdout } = await sandbox.executeCommand("python3 src/squares.py | tee squares.txt");
    assert.equal(stdout, "0\n1\n4\n9\n16\n");
    return stdout;
  });

  await step("a file tool reads what the command wrote", async () => {
    const text = await workspace.filesystem.readFile("squares.txt", { encoding: "utf8" });
    assert.equal(text, "0\n1\n4\n9\n16\n");
    const { size } = await workspace.filesystem.stat("/workspace/squares.txt");
    return `${size} bytes`;
  });

  await step("list everything, in one request", async () => {
    const entries = await workspace.filesystem.readdir("/", { recursive: true });
    const files = entries.filter(({ type }) => type === "file").map(({ name }) => name);
    assert.deepEqual(files, ["squares.txt", "src/squares.py"]);
    return files.join("\n");
  });

  await step("search, where the files are", async () => {
    const query = { path: "/", pattern: "^\\d\\d$", caseSensitive: true, includeHidden: false };
    const [found] = await workspace.filesystem.grep(query);
    assert.deepEqual([found.path, found.matches[0].line], ["squares.txt", 5]);
    return `${found.path}:${found.matches[0].line}: ${found.matches[0].text}`;
  });
} finally {
  await workspace.destroy();
}
