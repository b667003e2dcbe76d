// SPDX-License-Identifier: Apache-2.0
// Hostile guests: links that flip while the file API walks over them, and disks that run full.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { parallel } from "../support/helpers.js";
import { scaled } from "../support/paths.js";
import { Server } from "../support/server.js";
import { sh, TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite();

/** Exchanges a directory and a link to /tmp/trap for each other as fast as the kernel can. */
const FLIPPER = `
import ctypes
libc = ctypes.CDLL(None)
while True:
    libc.renameat2(-100, b"/workspace/d", -100, b"/workspace/l", 2)
`;

test("F7_a_flipping_link_never_lets_a_write_or_read_escape", async () => {
  await t.session.output("mkdir -p /workspace/d /tmp/trap; echo escaped >/tmp/trap/read; ln -s /tmp/trap /workspace/l");
  await t.session.start("flipper", ["python3", "-c", FLIPPER]);
  await parallel(8, scaled(10_000, 1000), async (i) => {
    const query = { path: "/workspace/d/read", op: "read" };
    if (i % 2) {
      const reply = await t.session.send("GET", "/files", { query });
      assert([400, 404].includes(reply.status), `read gave ${reply.status} ${reply.body}`);
    } else {
      const json = { path: `/workspace/d/w${i}`, content: "x" };
      const reply = await t.session.send("PUT", "/files", { json });
      assert([200, 400, 404].includes(reply.status), `write gave ${reply.status} ${reply.body}`);
    }
  });
  await t.session.kill("flipper", { grace_ms: 0 });
  assert.equal(await t.session.output("ls -A /tmp/trap"), "read\n");
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
