// SPDX-License-Identifier: Apache-2.0
// find and grep: what they find, what they refuse, where they stop.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../support/helpers.js";
import { scaled } from "../support/paths.js";
import { suite } from "../support/suite.js";

interface Found {
  paths: string[];
  entries?: { path: string; type: string; size_bytes: number }[];
  truncated: boolean;
}

interface Grepped {
  matches: { path: string; line_number: number; line: string; before?: string[]; after?: string[] }[];
  files_searched: number;
  truncated: boolean;
}

type Query = Record<string, string | number | boolean>;

const TREE = String.raw`
mkdir -p tree/src/lib/deep tree/.git tree/node_modules/x tree/docs && cd tree
printf 'import x\nMARK one\nlast' >src/a.ts
printf 'one\ntwo\nMARK two\nfour\nfive\n' >src/lib/b.ts
printf 'mark three\r\n' >src/lib/deep/c.js
echo 'MARK hidden' >.git/config
echo 'MARK dependency' >node_modules/x/index.ts
printf 'MARK\0binary' >bin
printf 'caf\351 MARK\n' >docs/latin
echo x >"docs/$(printf 'n\377m')"
ln -s /etc src/etc; ln -s . src/loop; ln -s /etc/passwd src/passwd
`;

const t = suite({}, async () => {
  await t.session.output(TREE);
});

const send = (op: string, query: Query) => t.session.send("GET", "/files", { query: { op, path: "tree", ...query } });

async function find(pattern: string, query: Query = {}): Promise<Found> {
  const reply = await send("find", { pattern, ...query });
  assert.equal(reply.status, 200, `${pattern}: ${reply.body}`);
  return reply.json as unknown as Found;
}

async function grep(pattern: string, query: Query = {}): Promise<Grepped> {
  const reply = await send("grep", { pattern, ...query });
  assert.equal(reply.status, 200, `${pattern}: ${reply.body}`);
  return reply.json as unknown as Grepped;
}

/** The paths found, without what all of them begin with. */
const names = (paths: string[]) => paths.map((path) => path.replace("/workspace/tree/", ""));
const where = ({ matches }: Grepped) =>
  matches.map((m) => `${m.path.replace("/workspace/tree/", "")}:${m.line_number}`);

test("F1_find_knows_exact_paths_one_level_and_all_below", async () => {
  const cases: [string, string[]][] = [
    ["src/a.ts", ["src/a.ts"]],
    ["src/*.ts", ["src/a.ts"]],
    ["src/?.ts", ["src/a.ts"]],
    ["src/[!b-z].ts", ["src/a.ts"]],
    ["*", [".git", "bin", "docs", "node_modules", "src"]],
    ["src/lib/**", ["src/lib/b.ts", "src/lib/deep", "src/lib/deep/c.js"]],
    ["**/*.ts", ["node_modules/x/index.ts", "src/a.ts", "src/lib/b.ts"]],
    ["/workspace/tree/src/lib/*", ["src/lib/b.ts", "src/lib/deep"]],
    ["/workspace/*", ["/workspace/tree"]],
    ["nothing/**", []],
    ["docs/n?m", ["docs/n\ufffdm"]],
  ];
  for (const [pattern, expected] of cases) {
    const { paths, truncated } = await find(pattern);
    assert.deepEqual(names(paths), expected, pattern);
    assert.equal(truncated, false);
  }
  assert.deepEqual((await find("**", { path: "/workspace/tree/src/lib/deep" })).paths, [
    "/workspace/tree/src/lib/deep/c.js",
  ]);
});

test("find_describes_what_it_found_when_asked", async () => {
  const { paths, entries } = await find("src/*", { details: true });
  assert.deepEqual(
    entries?.map(({ path }) => path),
    paths,
  );
  const kinds = Object.fromEntries(entries!.map(({ path, type }) => [names([path])[0], type]));
  assert.deepEqual(kinds, {
    "src/a.ts": "file",
    "src/etc": "symlink",
    "src/lib": "directory",
    "src/loop": "symlink",
    "src/passwd": "symlink",
  });
  assert.equal(entries![0]!.size_bytes, 22);
  assert.deepEqual(names((await find("**", { max_depth: 1, no_hidden: true })).paths), [
    "bin",
    "docs",
    "node_modules",
    "src",
  ]);
});

test("F1_grep_finds_lines_with_context_and_leaves_out_what_was_asked", async () => {
  const all = ["src/a.ts:2", "src/lib/b.ts:3", "src/lib/deep/c.js:1"];
  const rest = [".git/config:1", "docs/latin:1", "node_modules/x/index.ts:1"];
  assert.deepEqual(where(await grep("mark")), [...rest, ...all]);
  assert.deepEqual(where(await grep("MARK", { case_sensitive: true, exclude_dirs: "node_modules,.git,docs" })), [
    "src/a.ts:2",
    "src/lib/b.ts:3",
  ]);
  const b = await grep("mark", { file_pattern: "b.*", context_lines: 1 });
  assert.deepEqual(b.matches, [
    { path: "/workspace/tree/src/lib/b.ts", line_number: 3, line: "MARK two", before: ["two"], after: ["four"] },
  ]);
  assert.equal(b.files_searched, 1);
  assert.deepEqual(where(await grep("last$", { path: "tree/src/a.ts" })), ["src/a.ts:3"]);
  assert.deepEqual(where(await grep("three$", { no_hidden: true })), ["src/lib/deep/c.js:1"]);
  const [latin] = (await grep("caf. mark")).matches;
  assert.equal(latin?.line, "caf\ufffd MARK");
  assert.equal((await grep("root:")).matches.length, 0, "no link is followed");
  assert.equal((await grep("two", { context_lines: 1e9 })).matches[0]?.before?.length, 1);
});

test("F1_what_is_wrong_with_a_search_is_said", async () => {
  const refusals: [string, Query, number, RegExp][] = [
    ["find", { pattern: "a[" }, 400, /`pattern`: invalid pattern/],
    ["find", { pattern: "a/../b" }, 400, /`pattern`: invalid pattern/],
    ["find", { pattern: "/etc/*" }, 400, /path must be under \/workspace/],
    ["find", { pattern: "*", path: "/etc" }, 400, /path must be under \/workspace/],
    ["find", { pattern: "*", path: "tree/src/etc" }, 400, /path must be under \/workspace/],
    ["find", { pattern: "*", path: "gone" }, 404, /no such file or directory/],
    ["find", { pattern: "*", path: "tree/bin" }, 404, /not a directory/],
    ["find", {}, 400, /`pattern`/],
    ["find", { pattern: "*", max_results: 0 }, 400, /`max_results`/],
    ["grep", {}, 400, /`pattern`/],
    ["grep", { pattern: "(" }, 400, /`pattern`: invalid pattern/],
    ["grep", { pattern: "(a)\\1" }, 400, /`pattern`: unsupported pattern: back-references/],
    ["grep", { pattern: "(?<=a)b" }, 400, /`pattern`: unsupported pattern: look-around/],
    ["grep", { pattern: "x", file_pattern: "[" }, 400, /`file_pattern`/],
    ["grep", { pattern: "x", path: "gone" }, 404, /no such file or directory/],
    ["grep", { pattern: "x", path: "tree/src/passwd" }, 400, /path must be under \/workspace/],
  ];
  for (const [op, query, status, text] of refusals) {
    const reply = await send(op, query);
    assert.equal(reply.status, status, `${op} ${JSON.stringify(query)}: ${reply.body}`);
    assert.match(reply.json.error as string, text);
  }
});

test("F13_find_and_grep_stop_at_the_bound_and_say_so", async () => {
  const count = scaled(200_000, 20_000);
  await t.session.output(`mkdir many && cd many && seq -f 'needle %g' ${count} | split -l 1 -a 4 -`);
  const { paths, truncated } = await find("*", { path: "many", max_results: 10 });
  assert.deepEqual([paths.length, truncated], [10, true]);
  assert.deepEqual(paths, [...paths].sort(), "the first ones in order");
  const most = await find("**", { path: "/workspace/many", max_results: 1e9 });
  assert.deepEqual([most.paths.length, most.truncated], [10_000, true]);
  const exact = await find("xaa[a-e]?", { path: "many", max_results: 130 });
  assert.deepEqual([exact.paths.length, exact.truncated], [130, false], "at the bound, not over it");
  const some = await grep("needle", { path: "many", max_results: 7 });
  assert.deepEqual([some.matches.length, some.truncated], [7, true]);
  assert.equal((await t.session.list("many")).length, count);
});

test("F13_matches_lines_and_files_beyond_the_limits_are_cut", async () => {
  await t.session.output(
    "mkdir limits; cd limits; seq 500 >hundreds; head -c 9000 /dev/zero | tr '\\0' x >long; yes word | head -c 5M >large",
  );
  const hundreds = await grep("^[0-9]+$", { path: "limits", file_pattern: "hundreds" });
  assert.deepEqual([hundreds.matches.length, hundreds.truncated], [100, true]);
  const long = await grep("x$", { path: "limits/long" });
  assert.deepEqual([long.matches[0]?.line.length, long.truncated], [4096, false]);
  assert.deepEqual(await grep("word", { path: "limits/large" }).then((g) => [g.matches.length, g.truncated]), [
    0,
    true,
  ]);
});

test("a_pattern_that_explodes_ends_and_leaves_nothing_running", async () => {
  await t.session.output("mkdir slow; yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! | head -c 4000000 >slow/file");
  const { matches, truncated } = await grep("(a|aa)+$", { path: "slow" });
  assert.deepEqual([matches.length, truncated], [0, true]);
  await eventually("no search is left", async () => (await t.session.running("/proc/self/exe")).length === 0);
});

test("F7_a_search_under_a_flipping_link_never_leaves_the_workspace", async () => {
  const flipper = `
import ctypes
libc = ctypes.CDLL(None)
while True:
    libc.renameat2(-100, b"/workspace/flip/d", -100, b"/workspace/flip/l", 2)
`;
  await t.session.output("mkdir -p flip/d /tmp/outside; echo secret >/tmp/outside/inside; ln -s /tmp/outside flip/l");
  await t.session.start("flipper", ["python3", "-c", flipper]);
  for (let i = 0; i < scaled(1000, 100); i++) {
    const grepped = await grep("secret", { path: "flip" });
    assert.deepEqual(grepped.matches, []);
    const reply = await send("find", { path: "flip/d", pattern: "**" });
    if (reply.status === 200) assert.deepEqual((reply.json as unknown as Found).paths, []);
    else assert([400, 404].includes(reply.status), `${reply.status} ${reply.body}`);
  }
  await t.session.kill("flipper", { grace_ms: 0 });
});
