// SPDX-License-Identifier: Apache-2.0
// One large file: exact bytes by every way that takes it, and a server whose memory does not notice.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createReadStream, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { Client } from "@inis-run/sdk";
import { guestInit, openFiles, residentKb, role } from "../support/footprint.js";
import { scale } from "../support/paths.js";
import { sh, TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite();
const MiB = 1024 * 1024;
const SIZE = Math.round(1024 * scale) * MiB;
const LARGE = "/workspace/large";
/** Buffers of both ends, with room to spare; the files are many times as long. */
const GROWTH_KB = 32 * 1024;

/** Numbered pieces of 1 MiB: any that is lost, doubled or out of order changes the digest. */
function* pieces(): Generator<Buffer> {
  const piece = Buffer.alloc(MiB, "inis");
  for (let i = 0; i < SIZE / MiB; i++) {
    piece.writeUInt32LE(i, 0);
    piece.writeUInt32LE(i, MiB - 4);
    yield Buffer.from(piece);
  }
}

async function digest(source: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of source) hash.update(piece);
  return hash.digest("hex");
}

const expected = digest(pieces());

/** Does the work and says by how much the server's processes were larger meanwhile than before, at most. */
async function growthKb(work: () => Promise<void>): Promise<Record<string, number>> {
  const pids = {
    front: role(t.server, "front"),
    broker: role(t.server, "broker"),
    agent: guestInit(t.server, "a-marker-of-the-unit"),
  };
  const before = Object.values(pids).map(residentKb);
  const most = Object.values(pids).map(() => 0);
  const look = () =>
    Object.values(pids).forEach((pid, i) => {
      most[i] = Math.max(most[i]!, residentKb(pid) - before[i]!);
    });
  const timer = setInterval(look, 20);
  await work().finally(() => clearInterval(timer));
  look();
  return Object.fromEntries(Object.keys(pids).map((name, i) => [name, most[i]!]));
}

async function inConstantMemory(work: () => Promise<void>): Promise<void> {
  const growth = await growthKb(work);
  for (const [name, kb] of Object.entries(growth)) assert(kb < GROWTH_KB, `the ${name} grew by ${kb} kB`);
}

const guestHash = async () => (await t.session.output(`sha256sum ${LARGE}`)).split(" ")[0];

test(`F2_a_file_of_${SIZE / MiB}_MiB_is_uploaded_exactly_in_constant_memory`, async () => {
  await t.session.start("marker", sh("sleep 100000; : a-marker-of-the-unit"));
  await inConstantMemory(async () => {
    const body = Readable.from(pieces());
    const query = { path: LARGE };
    const { json } = await t.session.expect(200, "PUT", "/files/stream", { query, body });
    assert.deepEqual([json.bytes, json.sha256], [SIZE, await expected]);
  });
  assert.equal(await guestHash(), await expected);
});

test(`F2_a_file_of_${SIZE / MiB}_MiB_is_downloaded_exactly_in_constant_memory`, async () => {
  await inConstantMemory(async () => {
    const response = await t.session.client.open("GET", t.session.path("/files/stream"), { query: { path: LARGE } });
    assert.deepEqual([response.statusCode, response.headers["content-length"]], [200, String(SIZE)]);
    assert.equal(await digest(response), await expected);
  });
});

test(`F1_a_file_of_${SIZE / MiB}_MiB_is_read_exactly_by_ranges`, async () => {
  const length = 4 * MiB;
  async function* ranges(): AsyncGenerator<Buffer> {
    for (let offset = 0; offset < SIZE; offset += length) yield t.session.read(LARGE, { offset, length });
  }
  assert.equal(await digest(ranges()), await expected);
});

test(`F1_the_sdk_carries_a_file_of_${SIZE / MiB}_MiB_both_ways`, async () => {
  const folder = mkdtempSync(join(tmpdir(), "inis-large-"));
  try {
    const client = new Client({ baseUrl: t.server.baseUrl, token: t.server.token });
    const session = await client.sessions.attach(t.session.id);
    const local = join(folder, "file");
    await session.downloadFile(LARGE, local);
    assert.equal(statSync(local).size, SIZE);
    assert.equal(await digest(createReadStream(local)), await expected);
    await t.session.output(`rm ${LARGE}`);
    await session.uploadFile(local, LARGE);
    assert.equal(await guestHash(), await expected);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("F16_a_guest_with_as_many_open_files_as_it_gets_leaves_all_others_theirs", async () => {
  // Half of the session's processes each open what they may, as far as its memory goes.
  const hog = `
import os, resource, sys, time
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
most = min(hard, ${Math.round(200_000 * scale)})
children = 8
for i in range(children):
    r, w = os.pipe()
    if os.fork() == 0:
        n = 0
        try:
            while n < most: os.open("/dev/null", os.O_RDONLY); n += 1
        except OSError: pass
        os.write(w, b"%d\\n" % n)
        os.close(w)
        time.sleep(100000)
    os.close(w)
    print(os.read(r, 32).decode().strip(), flush=True)
print("held", flush=True)
time.sleep(100000)`;
  const files = () => [role(t.server, "front"), role(t.server, "broker")].map((pid) => openFiles(pid));
  const before = files();
  await t.session.start("hog", ["python3", "-c", hog]);
  for await (const event of await t.session.follow("hog")) if (event.bytes.includes("held")) break;
  const counts = (await t.session.logs("hog")).stdout.split("\n").slice(0, 8).map(Number);
  assert(counts.reduce((sum, n) => sum + n, 0) > 10_000, `it holds many: ${counts}`);

  const other = await TestSession.create(t.server.client());
  assert.equal(await other.output("cat /etc/hostname >/dev/null; echo fine"), "fine\n");
  const opened = await other.output(
    `python3 -c "import os; print(len([os.open('/dev/null', 0) for _ in range(1000)]))"`,
  );
  assert.equal(opened, "1000\n");
  assert.equal(await t.session.output("echo fine here too"), "fine here too\n");
  await t.session.write("/workspace/small", "x");
  await other.destroy();
  for (const [i, n] of files().entries())
    assert(n <= before[i]! + 8, `the server has ${n} files open, ${before[i]} before`);
  await t.session.kill("hog", { grace_ms: 0 });
});
