// SPDX-License-Identifier: Apache-2.0
// Hostile guests: links that flip while the file API walks over them, and disks that run full.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { parallel } from "../support/helpers.js";
import type { Reply } from "../support/http.js";
import { scaled } from "../support/paths.js";
import { Server } from "../support/server.js";
import { sh, TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";
import { fileCalls } from "./calls.js";

const t = suite();

/** Exchanges a directory and a link to /tmp/trap for each other as fast as the kernel can. */
const FLIPPER = `
import ctypes
libc = ctypes.CDLL(None)
while True:
    libc.renameat2(-100, b"/workspace/d", -100, b"/workspace/l", 2)
`;

/** What every operation may answer while its path changes under it; anything else, or a success outside, is wrong. */
const ANSWERS = [200, 204, 400, 404, 409];

test("F7_a_flipping_link_lets_no_operation_escape", async () => {
  const inside = "/workspace/d";
  await t.session.output(`
    mkdir -p /workspace/d/sub /tmp/trap/sub/deep /tmp/trap/tree
    echo escaped-secret >/tmp/trap/read; echo x >/tmp/trap/sub/deep/file; echo x >/tmp/trap/tree/leaf
    head -c 7777 /dev/zero >/tmp/trap/sized
    ln -s /tmp/trap /workspace/l`);
  const trap = () => t.session.output("cd /tmp/trap && find . -printf '%p %y %s\\n' | sort && cat read");
  const untouched = await trap();
  await t.session.start("flipper", ["python3", "-c", FLIPPER]);
  const calls = fileCalls(() => t.session);
  const search = (op: string, more: Record<string, string>) =>
    t.session.send("GET", "/files", { query: { op, path: inside, ...more } });
  const operations: Record<string, (i: number) => Promise<Reply>> = {
    read: () => calls.get("read", `${inside}/read`),
    list: () => calls.get("list", inside),
    stat: () => calls.get("stat", `${inside}/sized`),
    download: () => calls.download(`${inside}/read`),
    write: (i) => calls.write(`${inside}/w${i}`),
    upload: (i) => calls.upload(`${inside}/u${i}`),
    overwrite: () => calls.upload(`${inside}/read`),
    mkdir: (i) => calls.mkdir(`${inside}/m${i}/n`),
    remove: () => calls.remove(`${inside}/read`),
    remove_tree: () => calls.remove(`${inside}/tree`, true),
    remove_parent: () => calls.remove(`${inside}/sub`, true),
    rename_from: (i) => calls.rename(`${inside}/sized`, `/workspace/stolen-${i}`),
    rename_to: async (i) => {
      await calls.write(`/workspace/given-${i}`);
      return calls.rename(`/workspace/given-${i}`, `${inside}/given-${i}`);
    },
    legacy_read: () => calls.legacy("read", `${inside}/read`),
    legacy_write: (i) => calls.legacy("write", `${inside}/l${i}`, { content: "x" }),
    batch: (i) =>
      t.session.send("PUT", "/files/batch", { json: { files: [{ path: `${inside}/b${i}/c`, content: "x" }] } }),
    grep: () => search("grep", { pattern: "escaped-secret" }),
    find: () => search("find", { pattern: "**/leaf" }),
  };
  const answered = new Map<string, number>();
  await parallel(8, scaled(10_000), async (i) => {
    const names = Object.keys(operations);
    const name = names[i % names.length]!;
    const { status, body } = await operations[name]!(i);
    assert(ANSWERS.includes(status), `${name} gave ${status} ${body}`);
    if (status < 300) answered.set(name, (answered.get(name) ?? 0) + 1);
    assert(!/escaped-secret\n|"size": ?7777|"(sized|leaf)"|tree\/leaf/.test(body.toString()), `${name} gave ${body}`);
  });
  await t.session.kill("flipper", { grace_ms: 0 });
  assert.equal(await trap(), untouched);
  assert.equal(await t.session.output("ls -d /workspace/stolen-* 2>/dev/null | wc -l"), "0\n");
  for (const name of ["write", "upload", "mkdir", "rename_to", "list", "legacy_write", "find"])
    assert((answered.get(name) ?? 0) > 0, `${name} never met the directory`);
});

test("T10_a_full_disk_fails_that_write_and_nothing_else", async () => {
  const server = await Server.start({ disk_mb: 256 });
  after(() => server.stop());
  const session = await TestSession.create(server.client());
  const { disk, disk_mb } = await session.get();
  assert.deepEqual([disk, disk_mb], ["hard", 256], "the limit is the kernel's");
  await session.write("/workspace/kept", "kept");
  const filled = await session.exec(sh("head -c 1G /dev/zero >/workspace/fill"), { timeout_ms: 600_000 });
  assert.notEqual(filled.exit_code, 0);
  assert.match(filled.stderr, /No space left|quota/i);
  const calls = [
    await session.send("PUT", "/files", { json: { path: "new", content: "x".repeat(4_000_000) } }),
    await session.send("PUT", "/files/stream", { query: { path: "new" }, body: Buffer.alloc(4_000_000) }),
  ];
  for (const reply of calls) {
    assert(reply.status >= 400, `${reply.status}`);
    assert.match(reply.json.error as string, /no space left|quota/i);
  }
  const json = { files: [{ path: "new", content: "x".repeat(4_000_000) }] };
  const [item] = (await session.expect(200, "PUT", "/files/batch", { json })).json.results as { ok: boolean }[];
  assert.equal(item?.ok, false);
  assert.equal(await session.output("cat kept; echo; echo alive"), "kept\nalive\n");
  await session.output("rm fill");
  await session.write("/workspace/new", "x".repeat(4_000_000));
  const other = await TestSession.create(server.client());
  assert.equal(await other.output("echo others live"), "others live\n");
});
