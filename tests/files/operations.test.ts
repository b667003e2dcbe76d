// SPDX-License-Identifier: Apache-2.0
// Directories, batches, renames, names and modes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { scaled } from "../support/paths.js";
import { suite } from "../support/suite.js";
import { fileCalls } from "./calls.js";

const t = suite();
const { get, legacy, remove, rename, mkdir, upload, write, batch } = fileCalls(() => t.session);

test("F5_every_write_makes_parents_and_belongs_to_the_guest_user", async () => {
  await t.session.write("/workspace/p1/a/b", "x");
  await upload("p2/a/b");
  await batch([{ path: "/workspace/p3/a/b", content: "x" }]);
  assert.equal((await legacy("write", "p4/a/b", { content: "x" })).status, 200);
  await t.session.write("/workspace/source", "x");
  assert.equal((await rename("/workspace/source", "/workspace/p5/a/b")).status, 200);
  const owners = await t.session.output(
    "stat -c '%u:%g' p1 p1/a p1/a/b p2/a/b p3/a p3/a/b p4/a/b p5/a p5/a/b | sort -u",
  );
  assert.equal(owners, "999:999\n");
});

test("F5_one_bad_file_of_a_batch_stops_no_other", async () => {
  await mkdir("/workspace/b/dir");
  const results = await batch([
    { path: "/workspace/b/one", content: "1" },
    { path: "/etc/evil", content: "2" },
    { path: "/workspace/b/dir", content: "3" },
    { path: "b/four", content: "NA==", encoding: "base64" },
    { path: "/workspace/b/one/below", content: "5" },
  ]);
  assert.deepEqual(
    results.map((result) => result.ok),
    [true, false, false, true, false],
  );
  assert.deepEqual(
    results.map((result) => result.path),
    ["/workspace/b/one", "/etc/evil", "/workspace/b/dir", "b/four", "/workspace/b/one/below"],
  );
  assert.match(results[1]!.error!, /path must be under \/workspace/);
  assert.match(results[2]!.error!, /is a directory/);
  assert.match(results[4]!.error!, /not a directory/);
  assert.equal(await t.session.output("cat b/one b/four"), "14");
});

test("F5_a_batch_of_64_is_taken_and_of_65_is_refused_whole", async () => {
  const files = (n: number, dir: string) =>
    Array.from({ length: n }, (_, i) => ({ path: `${dir}/${i}`, content: `${i}` }));
  assert((await batch(files(64, "full"))).every((result) => result.ok));
  assert.equal((await t.session.list("full")).length, 64);
  const reply = await t.session.expect(400, "PUT", "/files/batch", { json: { files: files(65, "over") } });
  assert.match(reply.json.code as string, /^(bad_request|payload_too_large)$/);
  assert.equal((await get("stat", "over")).status, 404);
  assert.deepEqual(await batch([]), []);
});

test("list_gives_bare_names_sorted_with_hidden_ones_and_a_slash_after_directories", async () => {
  await t.session.output(
    "mkdir -p ls/sub ls/.dot && touch ls/b ls/a ls/.hidden 'ls/with space' ls/ü && ln -s a ls/link && ln -s sub ls/dirlink && mkfifo ls/pipe",
  );
  const names = await t.session.list("/workspace/ls");
  assert.deepEqual(
    names.filter((name) => !name.startsWith("dirlink")),
    [".dot/", ".hidden", "a", "b", "link", "pipe", "sub/", "with space", "ü"],
  );
  assert.deepEqual((await legacy("list", "ls")).json.entries, names);
  await mkdir("/workspace/empty");
  assert.deepEqual(await t.session.list("empty"), []);
});

test("F13_a_directory_of_very_many_files_is_listed_whole", async () => {
  const count = scaled(200_000, 20_000);
  await t.session.output(`mkdir many && cd many && seq -f 'file-%06.0f' ${count} | xargs touch`);
  const names = await t.session.list("many");
  assert.equal(names.length, count);
  assert.equal(names.at(-1), `file-${String(count).padStart(6, "0")}`);
  assert.equal((await remove("many", true)).status, 204);
});

test("F6_odd_names_round_trip", async () => {
  const names = [
    " ",
    "a b",
    "new\nline",
    "tab\t",
    "quote'\"",
    "back\\slash",
    "☕😀",
    "-rf",
    "*",
    "%2F",
    "a+b",
    "&=?#",
    "…",
    "x".repeat(255),
  ];
  for (const name of names) await t.session.write(`/workspace/odd/${name}`, name);
  assert.deepEqual([...(await t.session.list("odd"))].sort(), [...names].sort());
  for (const name of names) {
    assert.equal((await t.session.read(`odd/${name}`)).toString(), name);
    assert.equal((await t.session.download(`/workspace/odd/${name}`)).toString(), name);
  }
  const raw = await t.session.output("cd odd && ls -1 --zero | tr '\\0' '|'");
  assert.equal(raw.split("|").length - 1, names.length);
  const long = await write(`/workspace/odd/${"x".repeat(256)}`);
  assert.equal(long.status, 400);
});

test("a_name_that_is_not_utf8_breaks_no_listing", async () => {
  await t.session.output("mkdir raw && cd raw && touch good \"$(printf 'bad\\377')\"");
  assert.deepEqual([...(await t.session.list("raw"))].sort(), ["bad\ufffd", "good"]);
});

test("paths_are_normalised", async () => {
  await t.session.write("/workspace/n/./x//y", "z");
  for (const path of ["n/x/y", "/workspace/n/x/../x/y", "./n/x/y", "/workspace//n/x/y", "/./workspace/n/x/y"])
    assert.equal((await t.session.read(path)).toString(), "z", path);
  assert.deepEqual(await t.session.list("."), await t.session.list("/workspace/"));
});

test("links_inside_workspace_are_followed", async () => {
  await t.session.write("real/file", "old");
  await t.session.output(
    "ln -s real alias && ln -s /workspace/real/file absolute && ln -s loop-b loop-a && ln -s loop-a loop-b",
  );
  assert.equal((await t.session.read("alias/file")).toString(), "old");
  assert.equal((await t.session.read("absolute")).toString(), "old");
  await t.session.write("absolute", "new");
  assert.equal(await t.session.output("cat real/file; test -L absolute && echo still a link"), "newstill a link\n");
  const loop = await get("read", "loop-a");
  assert(loop.status >= 400 && loop.status < 500, `${loop.status}`);
});

test("mkdir_makes_parents_and_an_existing_directory_is_a_success", async () => {
  for (let i = 0; i < 2; i++) assert.equal((await mkdir("deep/er/est")).status, 200);
  assert.equal(await t.session.output("stat -c '%a %u' deep/er/est"), "755 999\n");
  await t.session.write("occupied", "x");
  assert.deepEqual([(await mkdir("occupied")).status, (await mkdir("occupied/x")).status], [409, 404]);
  assert.equal((await mkdir("/workspace")).status, 200);
});

test("remove_takes_files_empty_directories_and_trees_only_when_told", async () => {
  await t.session.write("tree/sub/file", "x");
  const refused = await remove("tree");
  assert.deepEqual([refused.status, refused.json.code], [400, "bad_request"]);
  assert.match(refused.json.error as string, /directory not empty/i);
  assert.equal((await remove("tree/sub/file")).status, 204);
  assert.equal((await remove("tree/sub")).status, 204);
  await t.session.output("mkdir -p tree/a/b/c && touch tree/a/b/f && ln -s /etc tree/etc");
  assert.equal((await remove("tree", true)).status, 204);
  assert.equal(await t.session.output("ls -d tree 2>/dev/null; test -e /etc/passwd && echo kept"), "kept\n");
  await mkdir("there");
  for (const path of ["/workspace", "/workspace/", ".", "there/.."])
    for (const recursive of [true, false]) assert.equal((await remove(path, recursive)).status, 400, path);
});

test("remove_of_a_link_removes_the_link", async () => {
  await t.session.output("mkdir target && touch target/keep && ln -s target remove-me && ln -s nowhere dangling");
  assert.equal((await remove("remove-me", true)).status, 204);
  assert.equal((await remove("dangling")).status, 204);
  assert.deepEqual(await t.session.list("target"), ["keep"]);
});

test("rename_replaces_files_and_empty_directories_but_not_full_ones", async () => {
  await t.session.output("mkdir -p r/full r/empty r/dir && echo a >r/a && echo b >r/b && touch r/full/x r/dir/inside");
  assert.deepEqual((await rename("r/a", "r/b")).json, { path: "r/a", dest_path: "r/b" });
  assert.equal(await t.session.output("cat r/b"), "a\n");
  const conflict = await rename("r/dir", "r/full");
  assert.deepEqual([conflict.status, conflict.json.code], [409, "conflict"]);
  assert.equal((await rename("r/dir", "r/empty")).status, 200);
  assert.deepEqual(await t.session.list("r/empty"), ["inside"]);
  assert.equal((await rename("r/empty", "r/empty/below")).status, 400);
  assert.equal((await rename("/workspace", "elsewhere")).status, 400);
});

test("files_mode_sets_permission_bits_and_a_replaced_file_keeps_its_own", async () => {
  await t.session.write("script", "#!/bin/sh\necho ran\n", { mode: 0o755 });
  assert.equal((await t.session.exec(["/workspace/script"])).stdout, "ran\n");
  await t.session.write("script", "#!/bin/sh\necho again\n");
  assert.equal((await t.session.exec(["/workspace/script"])).stdout, "again\n");
  assert.equal((await upload("streamed", { mode: "0600" })).status, 200);
  assert((await batch([{ path: "batched", content: "x", mode: 0o400 }]))[0]!.ok);
  await t.session.write("default", "x");
  assert.equal(await t.session.output("stat -c %a script streamed batched default"), "755\n600\n400\n644\n");
});

test("files_stat_describes_the_thing_itself", async () => {
  await t.session.output(
    "mkdir -p st/dir; printf 12345 >st/file; chmod 640 st/file; touch -d 2020-02-03T04:05:06Z st/file; ln -s file st/link; mkfifo st/pipe",
  );
  const file = await t.session.stat("/workspace/st/file");
  assert.deepEqual([file.type, file.size_bytes, file.mode], ["file", 5, 0o640]);
  assert.equal(Date.parse(file.mtime as string), Date.parse("2020-02-03T04:05:06Z"));
  assert.equal((await t.session.stat("st/dir")).type, "directory");
  assert.equal((await t.session.stat("st/link")).type, "symlink");
  assert.equal((await t.session.stat("st/pipe")).type, "other");
  assert.equal((await t.session.stat("/workspace")).type, "directory");
});
