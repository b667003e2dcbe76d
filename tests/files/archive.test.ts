// SPDX-License-Identifier: Apache-2.0
// /run/inis/archive: trees in and out of a session as tar, read and written here by another implementation.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { sh } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite();
const PROGRAM = "/run/inis/archive";
let count = 0;

/** Runs the program with these bytes as its input. */
async function archive(args: string[], input?: Buffer) {
  const id = `archive-${count++}`;
  const stream = await t.session.execStream([PROGRAM, ...args], { exec_id: id, stdin_open: input !== undefined });
  const sent =
    input && t.session.send("POST", `/execs/${id}/stdin`, { query: { eof: true }, body: Readable.from([input]) });
  const { stdout, stderr, terminal } = await stream.collect();
  await sent;
  const notes = stderr.toString("latin1").split("\0").slice(0, -1);
  return { stdout, notes, code: (terminal?.json as { exit_code: number } | undefined)?.exit_code };
}

/** An archive made by Python's tarfile: [name, type, extra] each. */
function tar(members: { name: string; type?: string; link?: string; data?: string; mode?: number }[]): Buffer {
  const script = `
import sys, json, io, tarfile
out = tarfile.open(fileobj=sys.stdout.buffer, mode="w|", format=tarfile.PAX_FORMAT)
for m in json.load(sys.stdin):
    i = tarfile.TarInfo(m["name"])
    i.type = m.get("type", "0").encode()
    i.linkname = m.get("link", "")
    i.mode = m.get("mode", 0o644)
    i.mtime = 1234567890.25
    data = m.get("data", "").encode()
    i.size = len(data)
    out.addfile(i, io.BytesIO(data))
out.close()
`;
  return execFileSync("python3", ["-c", script], { input: JSON.stringify(members), maxBuffer: 1 << 28 });
}

test("pack writes what tar and Python can read, with times to the nanosecond", async () => {
  await t.session.output(
    `mkdir -p tree/sub && cd tree && printf text > sub/file && chmod 640 sub/file && ln -s /nowhere link &&
     touch -d '2001-02-03 04:05:06.123456789Z' sub/file && mkdir empty && chmod 700 empty`,
  );
  const { stdout, code, notes } = await archive(["pack", "tree"]);
  assert.deepEqual([code, notes], [0, []]);
  const folder = mkdtempSync(join(tmpdir(), "inis-archive-"));
  try {
    writeFileSync(join(folder, "a.tar"), stdout);
    execFileSync("tar", ["-xpf", "a.tar"], { cwd: folder });
    const listed = execFileSync("find", ["tree", "-printf", "%p %y %m %l %T@\\n"], { cwd: folder })
      .toString()
      .split("\n");
    assert.ok(listed.includes("tree/sub/file f 640  981173106.1234567890"), listed.join("\n"));
    assert.ok(listed.some((line) => line.startsWith("tree/link l 777 /nowhere ")));
    assert.ok(listed.some((line) => line.startsWith("tree/empty d 700 ")));
    assert.equal(readFileSync(join(folder, "tree/sub/file"), "utf8"), "text");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("unpack reads what Python writes, long names and all", async () => {
  const long = `${"d".repeat(120)}/${"e".repeat(120)}/ż${"f".repeat(100)}`;
  const members = [
    { name: "root", type: "5", mode: 0o755 },
    { name: `root/${long.split("/")[0]}`, type: "5", mode: 0o755 },
    { name: `root/${long.split("/").slice(0, 2).join("/")}`, type: "5", mode: 0o755 },
    { name: `root/${long}`, data: "deep" },
    { name: "root/link", type: "2", link: "x".repeat(150) },
  ];
  const { code, notes } = await archive(["unpack", "made/of/python"], tar(members));
  assert.deepEqual([code, notes], [0, []]);
  assert.equal(
    await t.session.output(`cat made/of/python/${long}; readlink made/of/python/link`),
    `deep${"x".repeat(150)}\n`,
  );
  assert.equal(await t.session.output(`stat -c %.2Y made/of/python/${long}`), "1234567890.25\n");
});

test("no archive makes anything outside its target", async () => {
  await t.session.output("mkdir -p jail outside && echo safe > outside/file && ln -sfn ../../outside jail/there");
  const hostile = [
    { name: "root", type: "5", mode: 0o755 },
    { name: "root/../../outside/dots", data: "x" },
    { name: "/workspace/outside/absolute", data: "x" },
    { name: "root/link", type: "2", link: "/workspace/outside" },
    { name: "root/link/through", data: "x" },
    { name: "root/hard", type: "1", link: "/workspace/outside/file" },
    { name: "root/device", type: "3" },
    { name: "root//empty", data: "x" },
    { name: "root/.", data: "x" },
    { name: "second", data: "x" },
    { name: "root/good", data: "good" },
  ];
  const { code, notes } = await archive(["unpack", "jail/in"], tar(hostile));
  assert.equal(code, 1);
  assert.equal(notes.filter((note) => note.startsWith("f")).length, 6, notes.join("\n"));
  assert.equal(notes.filter((note) => note.startsWith("s")).length, 2, notes.join("\n"));
  assert.equal(
    await t.session.output("ls -A outside; cat outside/file; ls -A jail/in; cat jail/in/good"),
    "file\nsafe\ngood\nlink\ngood",
  );
  const into = await archive(
    ["unpack", "--contents", "jail"],
    tar([
      { name: "root", type: "5", mode: 0o755 },
      { name: "root/there", type: "5", mode: 0o755 },
      { name: "root/there/through", data: "x" },
    ]),
  );
  assert.equal(into.code, 1);
  assert.equal(await t.session.output("ls -A outside"), "file\n");
});

test("an archive that is cut, or none, leaves nothing", async () => {
  const whole = tar([
    { name: "root", type: "5", mode: 0o755 },
    { name: "root/file", data: "x".repeat(100_000) },
  ]);
  for (const bytes of [whole.subarray(0, 60_000), whole.subarray(0, 1536), Buffer.alloc(0), Buffer.alloc(4096, "?")]) {
    const { code, notes } = await archive(["unpack", "never"], bytes);
    assert.deepEqual([code, notes.length], [1, 1]);
  }
  assert.equal(await t.session.output("ls -d never .inis-* 2>/dev/null | wc -l"), "0\n");
});

test("a file appears whole or not at all, also when the command is cancelled", async () => {
  await t.session.output("echo old > precious");
  const stream = await t.session.execStream([PROGRAM, "put", "precious", ""], { exec_id: "cut", stdin_open: true });
  await t.session.expect(200, "POST", "/execs/cut/stdin", { body: "half of the new" });
  assert.equal(await t.session.output("cat precious"), "old\n");
  await t.session.expect(200, "DELETE", "/execs/cut");
  await stream.collect();
  assert.equal(await t.session.output("cat precious; ls -A | grep -c '^[.]inis-' || true"), "old\n0\n");
  assert.equal((await archive(["put", "precious", ""], Buffer.from("new"))).code, 0);
  assert.equal(await t.session.output("cat precious"), "new");
});

test("it has the guest user's rights and no more", async () => {
  const read = await archive(["pack", "/etc/shadow"]);
  assert.equal(read.code, 1);
  const write = await archive(["put", "/etc/inis-test", ""], Buffer.from("x"));
  assert.equal(write.code, 1);
  assert.match(write.notes.join(), /Permission denied|Read-only/);
  const anywhere = await archive(["put", "/tmp/inis-test", ""], Buffer.from("x"));
  assert.deepEqual([anywhere.code, anywhere.notes], [0, []]);
});

test("wrong arguments are an error with the usage", async () => {
  for (const args of [[], ["pack"], ["unpack", "a", "b"], ["steal", "x"]]) {
    const { code, notes } = await archive(args);
    assert.deepEqual([code, notes.length], [1, 1]);
    assert.match(notes[0]!, /^ebad_request usage/);
  }
  assert.equal(
    (await t.session.exec(sh("exec /run/inis/archive pack ."))).exit_code,
    127,
    "no file of that name exists",
  );
});
