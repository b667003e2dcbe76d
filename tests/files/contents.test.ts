// SPDX-License-Identifier: Apache-2.0
// Contents: every path in and out of a session carries exact bytes, at every size where something could break.
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import type { Json } from "../support/contract.js";
import { residentKb, role } from "../support/footprint.js";
import { randomBytes, sha256 } from "../support/helpers.js";
import { suite } from "../support/suite.js";

const t = suite();
const MiB = 1024 * 1024;
const SIZES = [0, 1, 4095, 4096, 4097, 65535, 65536, 65537, 131071, 131072, 131073, MiB];
/** Beyond what a single write takes: by stream in, and by stream and ranges out. */
const LARGE = [10 * MiB, 33 * MiB];

const upload = (path: string, body: Buffer | Readable, query: Record<string, string> = {}) =>
  t.session.send("PUT", "/files/stream", { query: { path, ...query }, body });

async function guestHash(path: string): Promise<string> {
  return (await t.session.exec(["sha256sum", path])).stdout.split(" ")[0]!;
}

for (const size of SIZES) {
  test(`F1_sizes: ${size} bytes through every path`, async () => {
    const bytes = randomBytes(size);
    const hash = sha256(bytes);
    const paths = { single: "/workspace/f1-single", batch: "/workspace/f1-batch", stream: "/workspace/f1-stream" };
    await t.session.write(paths.single, bytes);
    const files = [{ path: paths.batch, content: bytes.toString("base64"), encoding: "base64" }];
    const batch = await t.session.expect(200, "PUT", "/files/batch", { json: { files } });
    assert.deepEqual(batch.json.results, [{ path: paths.batch, ok: true }]);
    const uploaded = await upload(paths.stream, bytes);
    assert.deepEqual([uploaded.status, uploaded.json.bytes, uploaded.json.sha256], [200, size, hash]);
    for (const path of Object.values(paths)) {
      assert.equal(await guestHash(path), hash, path);
      assert.equal(sha256(await t.session.read(path)), hash, path);
      assert.equal(sha256(await t.session.download(path)), hash, path);
    }
  });
}

for (const size of LARGE) {
  test(`F1_sizes: ${size} bytes by stream and by ranges`, async () => {
    const bytes = randomBytes(size);
    const hash = sha256(bytes);
    assert.equal((await upload("/workspace/f1-large", bytes)).json.sha256, hash);
    assert.equal(await guestHash("/workspace/f1-large"), hash);
    assert.equal(sha256(await t.session.download("/workspace/f1-large")), hash);
    const length = 4 * MiB;
    const parts: Buffer[] = [];
    for (let offset = 0; offset < size; offset += length)
      parts.push(await t.session.read("/workspace/f1-large", { offset, length }));
    assert.equal(sha256(Buffer.concat(parts)), hash);
  });
}

test("F1_8_MiB_is_the_most_for_one_write_and_one_byte_more_is_refused", async () => {
  const bytes = randomBytes(8 * MiB);
  await t.session.write("/workspace/eight", bytes);
  assert.equal(await guestHash("/workspace/eight"), sha256(bytes));
  const large: [string, string, Json][] = [
    ["PUT", "/files", { path: "/workspace/nine", content: "x".repeat(8 * MiB + 1) }],
    ["POST", "/files", { op: "write", path: "/workspace/nine", content: "x".repeat(8 * MiB + 1) }],
    [
      "PUT",
      "/files/batch",
      {
        files: [
          { path: "nine", content: "x".repeat(8 * MiB) },
          { path: "ten", content: "x" },
        ],
      },
    ],
  ];
  for (const [method, rest, json] of large) {
    const reply = await t.session.expect(400, method, rest, { json });
    assert.equal(reply.json.code, "payload_too_large", rest);
  }
  const names = await t.session.list("/workspace");
  assert(!names.includes("nine") && !names.includes("ten"), "nothing was written");
});

test("F1_a_whole_read_is_at_most_4_MiB_and_ranges_reach_the_rest", async () => {
  await t.session.output(`head -c ${4 * MiB} /dev/urandom >/workspace/four`);
  assert.equal((await t.session.read("/workspace/four")).length, 4 * MiB);
  await t.session.output(`head -c ${4 * MiB + 1} /dev/urandom >/workspace/more`);
  const query = { path: "/workspace/more", op: "read" };
  assert.equal((await t.session.expect(400, "GET", "/files", { query })).json.code, "payload_too_large");
  const head = await t.session.read("/workspace/more", { length: 4 * MiB });
  const tail = await t.session.read("/workspace/more", { offset: 4 * MiB });
  assert.equal(await guestHash("/workspace/more"), sha256(Buffer.concat([head, tail])));
});

test("F1_33_MiB_stream_up_and_down_in_bounded_memory", async () => {
  const bytes = randomBytes(33 * MiB);
  const front = role(t.server, "front");
  const before = residentKb(front);
  const pieces = Array.from({ length: 33 }, (_, i) => bytes.subarray(i * MiB, (i + 1) * MiB));
  const reply = await upload("/workspace/large", Readable.from(pieces));
  assert.deepEqual([reply.status, reply.json.bytes, reply.json.sha256], [200, bytes.length, sha256(bytes)]);
  assert.equal(await guestHash("/workspace/large"), sha256(bytes));
  assert.equal(sha256(await t.session.download("/workspace/large")), sha256(bytes));
  const grown = residentKb(front) - before;
  assert(grown < 24 * 1024, `the front grew by ${grown} kB`);
});

test("F10_a_download_says_how_long_it_is_and_what_it_is_called", async () => {
  const names: [name: string, header: string][] = [
    ["plain.txt", 'attachment; filename="plain.txt"'],
    ["two words.txt", `attachment; filename="two words.txt"; filename*=UTF-8''two%20words.txt`],
    ['q"uo\\te.txt', `attachment; filename="q_uo_te.txt"; filename*=UTF-8''q%22uo%5Cte.txt`],
    ["naïve ☕.md", `attachment; filename="na_ve _.md"; filename*=UTF-8''na%C3%AFve%20%E2%98%95.md`],
    ["50%;x=1.txt", `attachment; filename="50_;x=1.txt"; filename*=UTF-8''50%25%3Bx%3D1.txt`],
    ["a\r\nSet-Cookie: b", `attachment; filename="a__Set-Cookie: b"; filename*=UTF-8''a%0D%0ASet-Cookie%3A%20b`],
    ["'.tar.gz", `attachment; filename="'.tar.gz"; filename*=UTF-8''%27.tar.gz`],
    ["-", 'attachment; filename="-"'],
    ["n".repeat(255), `attachment; filename="${"n".repeat(255)}"`],
    ["☕".repeat(85), `attachment; filename="${"_".repeat(85)}"; filename*=UTF-8''${"%E2%98%95".repeat(85)}`],
  ];
  for (const [name, header] of names) {
    const path = `/workspace/f10/${name}`;
    await t.session.write(path, "content");
    const { headers, body } = await t.session.expect(200, "GET", "/files/stream", { query: { path } });
    assert.deepEqual([headers["content-disposition"], headers["content-length"]], [header, "7"]);
    assert.deepEqual([body.toString(), headers["set-cookie"]], ["content", undefined]);
  }
  const query = { path: "f10/plain.txt", offset: 3, length: 100 };
  const { headers } = await t.session.expect(200, "GET", "/files/stream", { query });
  assert.deepEqual(
    [headers["content-length"], headers["content-disposition"], headers["content-type"]],
    ["4", 'attachment; filename="plain.txt"', "application/octet-stream"],
  );
});

test("upload_with_a_length_and_chunked_are_the_same", async () => {
  const bytes = randomBytes(300_000);
  const headers = { "content-type": "application/x-anything" };
  await t.session.expect(200, "PUT", "/files/stream", { query: { path: "sized" }, body: bytes, headers });
  await upload("chunked", Readable.from([bytes.subarray(0, 1), bytes.subarray(1)]));
  assert.equal(await guestHash("/workspace/sized"), await guestHash("/workspace/chunked"));
});

test("F3_ranges_are_exact_at_their_edges", async () => {
  const bytes = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 251));
  await t.session.write("/workspace/range", bytes);
  for (const [offset, length] of [
    [0, 0],
    [0, 1],
    [999, 1],
    [999, 100],
    [500, 250],
    [1000, 5],
    [5000, 5],
    [0, 1000],
  ] as const) {
    const want = bytes.subarray(offset, offset + length);
    assert.deepEqual(await t.session.read("/workspace/range", { offset, length }), want, `read ${offset}+${length}`);
    assert.deepEqual(await t.session.download("/workspace/range", { offset, length }), want, `${offset}+${length}`);
  }
  assert.deepEqual(await t.session.download("/workspace/range", { offset: 990 }), bytes.subarray(990));
});

test("text_reads_replace_what_is_not_utf8_and_base64_reads_do_not", async () => {
  await t.session.output("printf 'ok \\377\\342\\230\\225\\300 end' >/workspace/mixed");
  const { json } = await t.session.expect(200, "GET", "/files", { query: { path: "mixed", op: "read" } });
  assert.deepEqual([json.content, json.encoding], ["ok \ufffd☕\ufffd end", undefined]);
  assert.equal((await t.session.read("mixed")).toString("hex"), "6f6b20ffe29895c020656e64");
});

test("text_with_every_control_character_round_trips", async () => {
  const text = `${Array.from({ length: 0x800 }, (_, i) => String.fromCharCode(i)).join("")}☕😀\u2028\uffff`;
  await t.session.write("/workspace/controls", text);
  const { json } = await t.session.expect(200, "GET", "/files", { query: { path: "controls", op: "read" } });
  assert.equal(json.content, text);
  await t.session.expect(200, "POST", "/files", { json: { op: "write", path: "legacy", content: text } });
  const legacy = await t.session.expect(200, "POST", "/files", { json: { op: "read", path: "legacy" } });
  assert.equal(legacy.json.content, text);
});

test("base64_content_must_be_base64", async () => {
  for (const content of ["a", "####", "YQ", "YQ==YQ==", "Y Q==", "YR=="]) {
    const json = { path: "bad64", content, encoding: "base64" };
    assert.equal((await t.session.expect(400, "PUT", "/files", { json })).json.field, "content", content);
  }
  assert(!(await t.session.list("/workspace")).includes("bad64"));
});

test("a_writer_never_shows_half_a_file", async () => {
  const one = "1".repeat(400_000);
  const two = "2".repeat(400_000);
  await t.session.write("/workspace/atomic", one);
  const watch = `
import os
seen = set()
while not os.path.exists('/workspace/stop-watching'):
    with open('/workspace/atomic') as f: text = f.read()
    seen.add((len(text), len(set(text))))
print(sorted(seen))`;
  const watching = t.session.exec(["python3", "-c", watch]);
  for (let i = 0; i < 20; i++) {
    await t.session.write("/workspace/atomic", i % 2 ? one : two);
    await upload("/workspace/atomic", Buffer.from(i % 2 ? two : one));
  }
  await t.session.write("/workspace/stop-watching", "");
  assert.equal((await watching).stdout, "[(400000, 1)]\n");
  assert.deepEqual(
    (await t.session.list("/workspace")).filter((name) => /tmp|atomic./.test(name)),
    [],
    "no temporary",
  );
});

test("an_upload_that_breaks_off_leaves_the_old_file_and_no_temporary", async () => {
  await t.session.write("/workspace/keep/file", "old");
  const gone = new AbortController();
  const body = new Readable({ read: () => {} });
  body.push(Buffer.alloc(200_000, "n"));
  const query = { path: "/workspace/keep/file" };
  const pending = t.session.send("PUT", "/files/stream", { query, body, signal: gone.signal });
  setTimeout(() => gone.abort(), 300);
  await assert.rejects(pending);
  assert.equal((await t.session.read("/workspace/keep/file")).toString(), "old");
  assert.deepEqual(await t.session.list("/workspace/keep"), ["file"]);
});

test("parallel_writers_of_one_file_leave_one_of_their_contents", async () => {
  const contents = Array.from({ length: 12 }, (_, i) => String.fromCharCode(97 + i).repeat(100_000));
  await Promise.all(contents.map((content) => t.session.write("/workspace/contended", content)));
  assert(contents.includes((await t.session.read("/workspace/contended")).toString()));
});
