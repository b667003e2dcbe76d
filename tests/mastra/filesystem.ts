// SPDX-License-Identifier: Apache-2.0
// InisFilesystem: the file tools of an agent and its commands work on one disk.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { InisFilesystem, InisSandbox } from "@inis-run/mastra";
import { Agent } from "@mastra/core/agent";
import * as core from "@mastra/core/workspace";
import { randomBytes, withinMs } from "../support/helpers.js";
import { coreName, newest } from "./support/core.js";
import { Gateway } from "./support/gateway.js";
import { client, makeSandbox, onSandbox } from "./support/sandbox.js";
import { ScriptedModel, type Step } from "./support/scripted-model.js";

const { WORKSPACE_TOOLS, Workspace } = core;
const FILES = WORKSPACE_TOOLS.FILESYSTEM;

/** The error class by its name, as both cores have it. */
const named = (name: string) => (error: Error) => {
  assert.equal(error.constructor.name, name, `${error.constructor.name}: ${error.message}`);
  return true;
};

onSandbox("filesystem", {}, (sandbox) => {
  let fs: InisFilesystem;
  before(() => {
    fs = new InisFilesystem({ sandbox: sandbox() });
  });
  const output = async (command: string) => (await sandbox().executeCommand(command)).stdout;

  test("19126_what_a_file_tool_writes_a_command_reads_and_the_other_way_round", async () => {
    await fs.writeFile("one/hello.txt", "from the host\n");
    assert.equal(await output("cat /workspace/one/hello.txt"), "from the host\n");
    await sandbox().executeCommand("printf 'from the guest' > /workspace/one/back.txt");
    assert.equal(await fs.readFile("/workspace/one/back.txt", { encoding: "utf8" }), "from the guest");
    for (const same of ["one/back.txt", "./one/back.txt", "/one/back.txt", "/workspace/one/../one/back.txt"]) {
      assert.equal(await fs.readFile(same, { encoding: "utf-8" }), "from the guest", same);
    }
  });

  for (const size of [0, 1, 65_537, 4 << 20, (4 << 20) + 1, (8 << 20) + 1]) {
    test(`F1_${size}_bytes_come_back_as_they_were`, async () => {
      const content = Buffer.alloc(size, randomBytes(1024));
      await fs.writeFile("sized.bin", content);
      const read = await fs.readFile("sized.bin");
      assert(Buffer.isBuffer(read));
      assert(read.equals(content));
      assert.equal((await fs.stat("sized.bin")).size, size);
    });
  }

  test("missing_and_wrong_things_are_mastras_own_errors", async () => {
    await fs.mkdir("e/dir/below");
    await fs.writeFile("e/file", "x");
    const cases: [string, () => Promise<unknown>][] = [
      ["FileNotFoundError", () => fs.readFile("e/none")],
      ["FileNotFoundError", () => fs.stat("e/none")],
      ["FileNotFoundError", () => fs.deleteFile("e/none")],
      ["FileNotFoundError", () => fs.copyFile("e/none", "e/x")],
      ["FileNotFoundError", () => fs.moveFile("e/none", "e/x")],
      ["IsDirectoryError", () => fs.readFile("e/dir")],
      ["IsDirectoryError", () => fs.writeFile("e/dir", "x")],
      ["IsDirectoryError", () => fs.deleteFile("e/dir")],
      ["IsDirectoryError", () => fs.copyFile("e/dir", "e/dir2")],
      ["NotDirectoryError", () => fs.readdir("e/file")],
      ["NotDirectoryError", () => fs.readFile("e/file/below")],
      ["NotDirectoryError", () => fs.rmdir("e/file")],
      ["DirectoryNotFoundError", () => fs.readdir("e/none")],
      ["DirectoryNotFoundError", () => fs.rmdir("e/none")],
      ["DirectoryNotFoundError", () => fs.writeFile("e/none/x", "x", { recursive: false })],
      ["DirectoryNotFoundError", () => fs.mkdir("e/none/x", { recursive: false })],
      ["DirectoryNotEmptyError", () => fs.rmdir("e/dir")],
      ["FileExistsError", () => fs.writeFile("e/file", "y", { overwrite: false })],
      ["FileExistsError", () => fs.copyFile("e/file", "e/file", { overwrite: false })],
      ["FileExistsError", () => fs.mkdir("e/file")],
      ["PermissionError", () => fs.readFile("/etc/passwd")],
      ["PermissionError", () => fs.readFile("../../etc/passwd")],
      ["StaleFileError", () => fs.writeFile("e/file", "y", { expectedMtime: new Date(0) })],
    ];
    for (const [name, call] of cases) await assert.rejects(call, named(name));
    await sandbox().executeCommand("ln -s /etc/passwd /workspace/e/out");
    await assert.rejects(fs.readFile("e/out"), named("PermissionError"));
    await fs.deleteFile("e/none", { force: true });
    await fs.rmdir("e/none", { force: true });
    assert.equal(await output("cat /workspace/e/file"), "x");
    assert.deepEqual([await fs.exists("e/dir"), await fs.exists("e/none")], [true, false]);
  });

  test("copy_and_move_onto_themselves_lose_nothing", async () => {
    await sandbox().executeCommand(
      "mkdir -p s/real && cd s && echo kept >real/f && ln -s real alias && ln -s f real/link",
    );
    const pairs = [
      ["s/real/f", "s/real/f"],
      ["s/real/f", "s/./real/../real/f"],
      ["s/real/f", "/workspace/s/real/f"],
      ["s/real/f", "s/alias/f"],
      ["s/alias/f", "s/real/f"],
      ["s/real/f", "s/real/link"],
    ] as const;
    for (const [from, to] of pairs) {
      await fs.copyFile(from, to);
      assert.equal(await output("cat s/real/f"), "kept\n", `copy ${from} ${to}`);
    }
    for (const [from, to] of pairs.slice(0, 5)) {
      await fs.moveFile(from, to);
      assert.equal(await output("cat s/real/f"), "kept\n", `move ${from} ${to}`);
    }
    await assert.rejects(fs.moveFile("s/real", "s/real/inside"));
    await assert.rejects(fs.copyFile("s/real", "s/real/inside", { recursive: true }));
    assert.equal(await output("cat s/real/f; ls s/real"), "kept\nf\nlink\n");
  });

  test("copy_move_append_and_delete_do_what_they_say", async () => {
    await fs.writeFile("c/a.sh", "#!/bin/sh\n");
    await sandbox().executeCommand("chmod 755 c/a.sh");
    await fs.appendFile("c/a.sh", "echo ran\n");
    await fs.appendFile("c/new", Buffer.from([0xff]));
    await fs.copyFile("c/a.sh", "made/by/copy.sh");
    await fs.copyFile("c", "made/tree", { recursive: true });
    await fs.moveFile("c/new", "moved/new");
    assert.equal(await output("made/by/copy.sh; made/tree/a.sh; ls c; wc -c <moved/new"), "ran\nran\na.sh\n1\n");
    await fs.deleteFile("moved/new");
    await fs.rmdir("moved");
    await fs.rmdir("made", { recursive: true });
    assert.equal(await output("ls -d moved made 2>/dev/null | wc -l"), "0\n");
    const { modifiedAt } = await fs.stat("c/a.sh");
    await fs.writeFile("c/a.sh", "again", { expectedMtime: modifiedAt });
  });

  test("listings_have_types_sizes_links_and_filters", async () => {
    await sandbox().executeCommand(
      "mkdir -p l/sub/deep l/.dot; cd l; echo 12345 >a.ts; echo x >sub/b.md; echo y >sub/deep/c.ts; ln -s a.ts link",
    );
    const flat = await fs.readdir("l");
    assert.deepEqual(
      flat.map(({ name, type }) => `${name}:${type}`),
      [".dot:directory", "a.ts:file", "link:file", "sub:directory"],
    );
    assert.equal(flat.find(({ name }) => name === "a.ts")?.size, 6);
    assert.equal(flat.find(({ name }) => name === "link")?.isSymlink, true);
    const typed = await fs.readdir("l", { recursive: true, extension: ".ts" });
    assert.deepEqual(
      typed.filter(({ type }) => type === "file").map(({ name }) => name),
      ["a.ts", "sub/deep/c.ts"],
    );
    const shallow = await fs.readdir("l", { recursive: true, maxDepth: 2 });
    assert(shallow.some(({ name }) => name === "sub/deep") && !shallow.some(({ name }) => name === "sub/deep/c.ts"));
    const walked = await fs.walk("l");
    assert.deepEqual(
      walked.map(({ path }) => path),
      ["a.ts", "link", "sub", "sub/b.md", "sub/deep", "sub/deep/c.ts"],
    );
    assert((await fs.walk("l", { includeHidden: true })).some(({ path }) => path === ".dot"));
    assert.equal((await fs.stat("l/link")).size, 6, "what a link leads to");
    assert.equal((await fs.stat("l")).type, "directory");
  });

  test("grep_tells_lines_columns_and_context_and_leaves_other_patterns_to_mastra", async () => {
    await fs.writeFile("g/a.txt", "one\n日本 needle\nthree\n");
    await fs.writeFile("g/.hidden", "needle\n");
    const ask = { path: "g", caseSensitive: true, includeHidden: false };
    assert.deepEqual(await fs.grep({ ...ask, pattern: "ne+dle", contextLines: 1 }), [
      {
        path: "a.txt",
        matches: [{ line: 2, column: 3, text: "日本 needle", before: ["one"], after: ["three"] }],
      },
    ]);
    assert.equal((await fs.grep({ ...ask, pattern: "NEEDLE", caseSensitive: false, includeHidden: true })).length, 2);
    assert.deepEqual(await fs.grep({ ...ask, pattern: "NEEDLE" }), []);
    assert.deepEqual(
      (await fs.grep({ ...ask, path: "g/a.txt", pattern: "e$" })).map(({ path }) => path),
      ["a.txt"],
    );
    assert.equal((await fs.grep({ ...ask, pattern: ".", maxTotalMatches: 2 }))[0]?.matches.length, 2);
    assert.equal((await fs.grep({ ...ask, pattern: ".", maxCountPerFile: 1 }))[0]?.matches.length, 1);
    await assert.rejects(
      fs.grep({ ...ask, pattern: "(?<=日)本" }),
      named(newest ? "UnsupportedGrepPatternError" : "FilesystemError"),
    );
  });

  test("a_read_only_file_system_changes_nothing", async () => {
    await fs.writeFile("ro/file", "kept");
    const readOnly = new InisFilesystem({ sandbox: sandbox(), readOnly: true });
    assert.equal(await readOnly.readFile("ro/file", { encoding: "utf8" }), "kept");
    for (const call of [
      () => readOnly.writeFile("ro/file", "x"),
      () => readOnly.appendFile("ro/file", "x"),
      () => readOnly.deleteFile("ro/file"),
      () => readOnly.copyFile("ro/file", "ro/copy"),
      () => readOnly.moveFile("ro/file", "ro/moved"),
      () => readOnly.mkdir("ro/dir"),
      () => readOnly.rmdir("ro"),
    ]) {
      await assert.rejects(call, named("WorkspaceReadOnlyError"));
    }
    assert.equal(await output("ls ro; cat ro/file"), "file\nkept");
  });

  test("22285_file_tools_and_commands_of_an_agent_share_one_disk", async () => {
    const steps: Step[] = [
      { tool: FILES.WRITE_FILE, input: { path: "agent/a.txt", content: "one\ntwo\n" } },
      { tool: FILES.READ_FILE, input: { path: "agent/a.txt" } },
      { tool: FILES.EDIT_FILE, input: { path: "agent/a.txt", old_string: "two", new_string: "three" } },
      { tool: WORKSPACE_TOOLS.SANDBOX.EXECUTE_COMMAND, input: { command: "cat agent/a.txt; echo four >>agent/b.txt" } },
      { tool: FILES.READ_FILE, input: { path: "/workspace/agent/b.txt" } },
      { tool: FILES.LIST_FILES, input: { path: "agent" } },
      { tool: FILES.FILE_STAT, input: { path: "agent/a.txt" } },
      { tool: FILES.GREP, input: { pattern: "thr[e]+", path: "agent" } },
      { tool: FILES.GREP, input: { pattern: "(?<=t)hree", path: "agent" } },
      { tool: FILES.MKDIR, input: { path: "agent/made" } },
      { tool: FILES.DELETE, input: { path: "agent/made", recursive: true } },
      "ok",
    ];
    const model = new ScriptedModel(steps);
    const workspace = new Workspace({ sandbox: sandbox(), filesystem: fs });
    const agent = new Agent({ id: "filer", name: "filer", instructions: "Follow the script.", model, workspace });
    await withinMs("agent", 60_000, agent.generate("go", { maxSteps: 20 }));
    const [, read, , command, back, list, stat, grep, looked] = model.results;
    assert.match(read!, /one[\s\S]*two/);
    assert.equal(command!.trim(), "one\nthree");
    assert.match(back!, /four/);
    assert.match(list!, /a\.txt[\s\S]*b\.txt/);
    assert.match(stat!, /10 bytes/);
    assert.match(grep!, /three/);
    assert.match(looked!, /three/, "a pattern the server refuses is searched for all the same");
    assert.equal(await output("ls agent"), "a.txt\nb.txt\n");
  });
});

describe(`filesystem and its session (${coreName})`, () => {
  test("it_starts_the_sandbox_that_it_belongs_to", async () => {
    const sandbox = makeSandbox();
    const fs = new InisFilesystem({ sandbox });
    try {
      await fs._init();
      assert.equal(sandbox.status, "pending", "made when it is first needed");
      await fs.writeFile("x", "1");
      assert.equal(sandbox.status, "running");
      assert.equal((await sandbox.executeCommand("cat x")).stdout, "1");
    } finally {
      await sandbox._destroy();
    }
  });

  test("with_a_session_it_works_on_that_one_and_never_deletes_it", async () => {
    await using session = await client().sessions.create();
    const fs = new InisFilesystem({ session });
    await fs.writeFile("x", "1");
    await fs._destroy();
    assert.equal(await session.readFile("x"), "1");
    assert.throws(() => new InisFilesystem({}), TypeError);
  });

  let gateway: Gateway;
  before(async () => {
    gateway = await Gateway.open();
  });
  after(() => gateway.close());

  test("a_tree_of_5000_files_is_listed_in_three_requests_at_most", async () => {
    const sandbox = new InisSandbox({ client: gateway.client() });
    const fs = new InisFilesystem({ sandbox });
    try {
      await sandbox.executeCommand(
        "for d in $(seq 50); do mkdir -p t/$d; (cd t/$d; seq 100 | split -l 1 -a 3 -); done",
      );
      for (const list of [() => fs.readdir("t", { recursive: true }), () => fs.walk("t")]) {
        gateway.requests.length = 0;
        const entries = await list();
        assert.equal(entries.filter(({ type }) => type === "file").length, 5000);
        assert(gateway.requests.length <= 3, `${gateway.requests.length} requests`);
      }
      gateway.requests.length = 0;
      const found = await fs.grep({ path: "t", pattern: "^99$", caseSensitive: true, includeHidden: true });
      assert.equal(found.length, 50);
      assert(gateway.requests.length <= 3, `${gateway.requests.length} requests`);
    } finally {
      await sandbox._destroy();
    }
  });

  test("a_tree_too_large_for_one_request_is_listed_whole", async () => {
    const sandbox = makeSandbox();
    const fs = new InisFilesystem({ sandbox });
    try {
      await sandbox.executeCommand(
        "mkdir -p big/a big/b; for d in a b; do (cd big/$d; seq 6000 | split -l 1 -a 3 -); done",
      );
      const entries = await fs.readdir("big", { recursive: true });
      assert.deepEqual([entries.length, new Set(entries.map(({ name }) => name)).size], [12_002, 12_002]);
    } finally {
      await sandbox._destroy();
    }
  });
});
