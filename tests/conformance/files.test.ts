// SPDX-License-Identifier: Apache-2.0
// Files as the published clients and the adapters above them play them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomBytes, sha256 } from "../support/helpers.js";
import { InisError } from "./clients/answers.js";
import { type Client, players } from "./clients/suite.js";

const play = players();
const ODD = "odd + name/100% ü ☕ & = ? # 'q'";

async function refused(work: Promise<unknown>): Promise<InisError> {
  const error = await work.then(
    () => assert.fail("it was not refused"),
    (reason: unknown) => reason,
  );
  assert(error instanceof InisError, String(error));
  return error;
}

play.both("writes_and_reads_text_and_bytes", async (client, id) => {
  await client.write(id, "/workspace/deep/er/text.txt", "héllo\n");
  assert.equal(await client.readText(id, "deep/er/text.txt"), "héllo\n");
  const bytes = Buffer.from([0, 0xff, 0xfe, 0x80, 10]);
  await client.write(id, "bytes", bytes);
  assert.deepEqual(await client.readBytes(id, "/workspace/bytes"), bytes);
  assert.equal(await client.readText(id, "bytes"), "\0\ufffd\ufffd\ufffd\n");
  assert.equal((await client.exec(id, ["stat", "-c", "%U", "bytes"])).stdout, "sandbox\n");
});

play.both("finds_odd_names_again_through_every_call", async (client, id) => {
  const path = `/workspace/${ODD}/file (1)`;
  await client.write(id, path, "odd");
  assert.equal(await client.readText(id, path), "odd");
  assert.deepEqual(await client.listFiles(id, `/workspace/${ODD}`), ["file (1)"]);
  await client.upload(id, path, Buffer.from("odder"));
  assert.equal((await client.download(id, path)).toString(), "odder");
  await client.remove(id, path);
  assert.deepEqual(await client.listFiles(id, `/workspace/${ODD}`), []);
});

play.both("lists_bare_names_sorted_with_a_slash_after_directories", async (client, id) => {
  await client.mkdir(id, "list/sub/deeper");
  await client.mkdir(id, "list/sub");
  await client.write(id, "list/b", "");
  await client.write(id, "list/.hidden", "");
  assert.deepEqual(await client.listFiles(id, "/workspace/list"), [".hidden", "b", "sub/"]);
  assert((await client.listFiles(id)).includes("list/"));
});

play.both("writes_many_files_and_learns_which_one_failed", async (client, id) => {
  const results = await client.writeFiles(id, [
    { path: "many/a", content: "one" },
    { path: "/etc/passwd", content: "no" },
    { path: "many/b", content: Buffer.from([1, 2, 255]).toString("base64"), encoding: "base64" },
  ]);
  assert.deepEqual(
    results.map(({ path, ok }) => [path, ok]),
    [
      ["many/a", true],
      ["/etc/passwd", false],
      ["many/b", true],
    ],
  );
  assert.match(results[1]!.error, /path must be under \/workspace/);
  assert.deepEqual(await client.readBytes(id, "many/b"), Buffer.from([1, 2, 255]));
});

play.both("renames_and_removes", async (client, id) => {
  await client.write(id, "from/file", "moved");
  await client.rename(id, "/workspace/from", "/workspace/to/here");
  assert.equal(await client.readText(id, "to/here/file"), "moved");
  const full = await refused(client.remove(id, "to"));
  assert.match(full.message, /directory not empty/i);
  await client.remove(id, "to", { recursive: true });
  assert.match((await refused(client.listFiles(id, "to"))).message, /no such file or directory/i);
});

play.both("uploads_and_downloads_without_a_content_type", async (client, id) => {
  for (const size of [0, 1, 100_000, 9_000_001]) {
    const bytes = randomBytes(size);
    const reply = await client.upload(id, "up/loaded", bytes);
    assert.deepEqual([reply.path, reply.bytes, reply.sha256], ["up/loaded", size, sha256(bytes)]);
    assert.equal(sha256(await client.download(id, "/workspace/up/loaded")), sha256(bytes));
  }
});

play.both("finds_and_greps", async (client, id) => {
  await client.write(id, "tree/a.py", "import os\nNeedle here\nlast\n");
  await client.write(id, "tree/sub/b.py", "nothing\nneedle two\n");
  await client.write(id, "tree/skip/c.py", "needle\n");
  await client.write(id, "tree/d.txt", "needle\n");
  const found = await client.find(id, "**", { path: "/workspace/tree/sub" });
  assert(found.paths.includes("/workspace/tree/sub/b.py"));
  assert.equal(found.truncated, false);
  const one = await client.find(id, "*.[pt]*", { path: "/workspace/tree", maxResults: 1 });
  assert.deepEqual([one.paths.length, one.truncated], [1, true]);
  const grep = await client.grep(id, "^needle", {
    path: "/workspace/tree",
    filePattern: "*.py",
    contextLines: 1,
    excludeDirs: ["skip", "other"],
  });
  assert.deepEqual(
    grep.matches.map(({ path, line_number, line }: Record<string, unknown>) => [path, line_number, line]),
    [
      ["/workspace/tree/a.py", 2, "Needle here"],
      ["/workspace/tree/sub/b.py", 2, "needle two"],
    ],
  );
  assert.deepEqual([grep.matches[0].before, grep.matches[0].after], [["import os"], ["last"]]);
  assert.equal(grep.files_searched, 2);
  const exact = await client.grep(id, "Needle", { path: "/workspace/tree", caseSensitive: true });
  assert.deepEqual([exact.matches.length, exact.truncated], [1, false]);
});

/** Where a file is missing or no file, by text and by code, as the adapters tell them apart. */
const FAILURES: [string, (client: Client, id: string) => Promise<unknown>, number, string, RegExp][] = [
  ["missing", (c, id) => c.readText(id, "none"), 404, "not_found", /no such file or directory/i],
  ["missing to download", (c, id) => c.download(id, "none"), 404, "not_found", /no such file or directory/i],
  ["missing to remove", (c, id) => c.remove(id, "none"), 404, "not_found", /no such file or directory/i],
  ["missing to list", (c, id) => c.listFiles(id, "none"), 404, "not_found", /no such file or directory/i],
  ["below a file", (c, id) => c.readText(id, "file/x"), 404, "not_found", /not a directory/i],
  ["a list of a file", (c, id) => c.listFiles(id, "file"), 404, "not_found", /not a directory/i],
  ["outside", (c, id) => c.readText(id, "/etc/passwd"), 400, "invalid_path", /path must be under \/workspace/],
  ["upwards", (c, id) => c.write(id, "../x", ""), 400, "invalid_path", /path must be under \/workspace/],
  ["through a link", (c, id) => c.readText(id, "link/passwd"), 400, "invalid_path", /path must be under \/workspace/],
  ["a directory", (c, id) => c.readText(id, "dir"), 400, "is_directory", /is a directory/i],
  ["write a directory", (c, id) => c.write(id, "dir", ""), 400, "is_directory", /is a directory/i],
  ["forbidden", (c, id) => c.readText(id, "locked/x"), 400, "permission_denied", /permission denied/i],
  [
    "upload there",
    (c, id) => c.upload(id, "locked/x", Buffer.from("x")),
    400,
    "permission_denied",
    /permission denied/i,
  ],
  ["not empty", (c, id) => c.remove(id, "dir"), 400, "bad_request", /directory not empty/i],
  ["the workspace", (c, id) => c.remove(id, "/workspace", { recursive: true }), 400, "bad_request", /./],
];

play.both("tells_file_errors_apart_by_code_and_text", async (client, id) => {
  const made = await client.exec(
    id,
    "mkdir -p dir/sub locked; touch file; ln -s /etc link; sudo chown root locked; sudo chmod 700 locked",
  );
  assert.equal(made.exit_code, 0, made.stderr);
  for (const [what, call, status, code, text] of FAILURES) {
    const error = await refused(call(client, id));
    assert.deepEqual([error.status, error.code], [status, code], `${what}: ${error.message}`);
    assert.match(error.message, text, what);
  }
});

play.both("works_on_files_of_a_paused_session", async (client, id) => {
  await client.write(id, "kept", "kept");
  await client.pause(id);
  assert.equal(await client.readText(id, "kept"), "kept");
});

test("typescript_client_still_has_its_older_file_calls", async () => {
  const { session_id: id } = await play.typescript.create();
  const { files } = play.typescript;
  await files.write(id, "/workspace/old/file", "text ☕");
  assert.equal(await files.read(id, "/workspace/old/file"), "text ☕");
  assert.deepEqual(await files.list(id, "/workspace/old"), ["file"]);
  const error = await refused(files.read(id, "/workspace/none"));
  assert.match(error.message, /no such file or directory/i);
  await play.typescript.destroy(id);
});

test("python_client_and_typescript_client_see_the_same_files", async () => {
  const { session_id: id } = await play.python.create();
  await play.python.write(id, "a", "from python");
  assert.equal(await play.typescript.readText(id, "a"), "from python");
  await play.typescript.upload(id, "b", Buffer.from("from typescript"));
  assert.equal((await play.python.download(id, "b")).toString(), "from typescript");
  await play.python.destroy(id);
});
