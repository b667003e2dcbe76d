// SPDX-License-Identifier: Apache-2.0
// `inis cp`: trees and files arrive as they are, in both directions, or not at all.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { eventually, randomBytes, sha256, withinMs } from "../support/helpers.js";
import { Server } from "../support/server.js";
import { inis, Program } from "./program.js";

/** All that a copy must keep, one line an entry, names byte for byte. */
const LISTING = `
import os, sys, stat, hashlib
root = os.fsencode(sys.argv[1])
def show(path, name):
    s = os.lstat(path)
    kind = "d" if stat.S_ISDIR(s.st_mode) else "l" if stat.S_ISLNK(s.st_mode) else "f"
    what = os.readlink(path).hex() if kind == "l" else hashlib.sha256(open(path, "rb").read()).hexdigest() if kind == "f" else ""
    print(name.hex(), kind, "" if kind == "l" else oct(s.st_mode & 0o777), s.st_mtime_ns, what)
    if kind == "d":
        for entry in sorted(os.listdir(path)):
            show(os.path.join(path, entry), name + b"/" + entry)
show(root, b"")
`;

/** A tree with all that goes wrong elsewhere. */
const TREE = `
import os, sys
root = os.fsencode(sys.argv[1])
def put(name, data=b"", mode=0o644):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f: f.write(data)
    os.chmod(path, mode)
put(b"plain", b"text\\n")
put(b"program", b"#!/bin/sh\\n", 0o755)
put(b"secret", b"s", 0o600)
put(b"readonly", b"r", 0o444)
put(b".hidden", b"h")
put(b".gitignore", b"*\\n")
put(b"node_modules/.keep", b"")
put(b"new\\nline", b"n")
put(b"not \\xff\\xfe utf8", b"u")
put("z\\u0307\\u00f3\\u0142w".encode(), b"decomposed and composed")
put(b" -leading", b"-")
put(b"--contents", b"-")
put(b"x" * 255, b"long name")
put(b"/".join([b"deep" * 20] * 30) + b"/file", b"deep")
put(b"large", os.urandom(3_000_001))
put(b"block", os.urandom(512))
for name in (b"empty", b"a/b/empty"): os.makedirs(os.path.join(root, name))
os.symlink(b"plain", os.path.join(root, b"link"))
os.symlink(b"/nowhere/at all", os.path.join(root, b"dangling"))
os.symlink(b"\\xff\\n" + b"y" * 300, os.path.join(root, b"odd link"))
os.symlink(b"..", os.path.join(root, b"a/up"))
os.chmod(os.path.join(root, b"a/b"), 0o500)
os.chmod(os.path.join(root, b"empty"), 0o700)
stamp = 0
for path, dirs, files in os.walk(root, topdown=False):
    for name in files + dirs:
        stamp += 1_111_111_111
        os.utime(os.path.join(path, name), ns=(0, 1_000_000_000_000_000_000 + stamp), follow_symlinks=False)
os.utime(root, ns=(0, -1_500_000_001))
`;

describe("inis cp", () => {
  let server: Server;
  let env: Record<string, string>;
  let id: string;
  let folder: string;
  const here = (...names: string[]) => join(folder, ...names);
  const call = (...args: string[]) => withinMs(args.join(" "), 120_000, inis(args, { env, spawn: { cwd: folder } }));
  const run = async (...args: string[]) => {
    const outcome = await call(...args);
    assert.equal(outcome.code, 0, `${args.join(" ")}: ${outcome.stderr}`);
    return outcome.stdout;
  };
  const cp = (...args: string[]) => call("cp", ...args);
  const sh = (script: string) => run("exec", id, "--", "sh", "-c", script);
  const python = (script: string, ...args: string[]) => execFileSync("python3", ["-c", script, ...args]).toString();

  before(async () => {
    server = await Server.start();
    env = { INIS_BASE_URL: server.baseUrl, INIS_API_KEY: server.token };
    id = (await run("create", "--name", "box")).trim();
  });
  after(() => server?.stop());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "inis-cp-"));
  });
  afterEach(async () => {
    await sh("cd /workspace && chmod -R u+rwx . && find . -mindepth 1 -delete");
    rmSync(folder, { recursive: true, force: true });
  });

  test("F6 a directory there and back is the same: links, modes, times, empty ones, hidden ones, any name", async () => {
    python(TREE, here("tree"));
    const want = python(LISTING, here("tree"));
    assert.equal(await run("cp", "tree", "box:there"), "");
    assert.equal(await run("exec", id, "--", "python3", "-c", LISTING, "there"), want);
    await run("cp", `${id}:there`, "back");
    assert.equal(python(LISTING, here("back")), want);
    assert.equal(await sh("stat -c '%U %G' there there/plain | sort -u"), "sandbox sandbox\n");
  });

  test("where it goes: a new name, into a directory, or the contents into one", async () => {
    mkdirSync(here("src/sub"), { recursive: true });
    writeFileSync(here("src/file"), "1");
    writeFileSync(here("src/sub/deep"), "2");
    await run("cp", "src", "box:new/name");
    await run("cp", "src", "box:new");
    await run("cp", "src/.", "box:contents");
    await run("cp", "src/file", "box:made/up/");
    await run("cp", "src/file", "box:renamed");
    await run("cp", "src/file", "box:");
    await run("cp", "src/file", "box:/tmp/outside-workspace");
    assert.equal(
      await sh("find . -type f | sort; cat /tmp/outside-workspace"),
      "./contents/file\n./contents/sub/deep\n./file\n./made/up/file\n./new/name/file\n./new/name/sub/deep\n./new/src/file\n./new/src/sub/deep\n./renamed\n1",
    );
    mkdirSync(here("into"));
    await run("cp", "box:new/name", "into");
    await run("cp", "box:new/name/.", "into");
    await run("cp", "box:renamed", "into/other");
    assert.deepEqual(readdirSync(here("into")).sort(), ["file", "name", "other", "sub"]);
    await run("cp", "box:", "all");
    assert.ok(existsSync(here("all/contents/sub/deep")));
  });

  test("the source itself may be a link; what is there is replaced or filled, and keeps what is not in the source", async () => {
    mkdirSync(here("v1/old"), { recursive: true });
    writeFileSync(here("v1/file"), "one");
    writeFileSync(here("v1/old/kept"), "kept");
    await run("cp", "v1", "box:site");
    mkdirSync(here("v2"));
    writeFileSync(here("v2/file"), "two");
    execFileSync("ln", ["-s", "v2", here("latest")]);
    await run("cp", "latest/.", "box:site");
    assert.equal(await sh("cat site/file site/old/kept; ls -A site"), "twokeptfile\nold\n");
    await run("cp", "latest", "box:copy");
    assert.equal(await sh("test -L copy || cat copy/file"), "two");
  });

  test("- is stdin, of any length, and stdout", async () => {
    const bytes = randomBytes(5_000_000);
    const sent = await inis(["cp", "-", "box:dir/from-stdin"], { env, input: bytes });
    assert.deepEqual([sent.code, sent.stderr], [0, ""]);
    const got = await cp("box:dir/from-stdin", "-");
    assert.equal(sha256(got.bytes), sha256(bytes));
    const directory = await cp("box:dir", "-");
    assert.equal(directory.code, 125);
    assert.match(directory.stderr, /is a directory/);
    const unnamed = await inis(["cp", "-", "box:dir"], { env, input: "x" });
    assert.equal(unnamed.code, 125);
    assert.match(unnamed.stderr, /which name/);
  });

  test("F20 what is left out is said, by rule or by --exclude, and --strict makes it a failure", async () => {
    mkdirSync(here("src/cache"), { recursive: true });
    for (const name of ["kept", ".hidden", ".gitignore", "a.o", "cache/x"]) writeFileSync(here("src", name), "*");
    python(
      "import os, socket, sys\nos.chdir(sys.argv[1])\nos.mkfifo('pipe')\nsocket.socket(socket.AF_UNIX).bind('socket')",
      here("src"),
    );
    const plain = await cp("src", "box:plain");
    assert.deepEqual([plain.code, plain.stdout], [0, ""]);
    assert.deepEqual(plain.stderr.trim().split("\n").sort(), [
      "inis: src/pipe: left out: a named pipe",
      "inis: src/socket: left out: a socket",
    ]);
    assert.equal(await sh("ls -A plain | tr '\\n' ' '"), ".gitignore .hidden a.o cache kept ");
    const strict = await cp("--strict", "src", "box:strict");
    assert.equal(strict.code, 1);
    assert.equal(await sh("cat strict/kept"), "*", "the rest was copied");
    const excluded = await cp("--exclude", "*.o", "--exclude=cache", "--json", "src", "box:some");
    assert.equal(excluded.code, 0);
    const said = JSON.parse(excluded.stdout);
    assert.deepEqual([said.files, said.directories, said.failed], [3, 1, []]);
    assert.deepEqual(said.left_out.filter((text: string) => text.endsWith("excluded")).sort(), [
      "src/a.o: left out: excluded",
      "src/cache: left out: excluded",
    ]);
    assert.equal((await cp("--quiet", "src", "box:quiet")).stderr, "");
    await sh("mkfifo plain/pipe");
    const back = await cp("--exclude", "cache", "box:plain", "back");
    assert.match(back.stderr, /plain\/pipe: left out: a named pipe/);
    assert.deepEqual(readdirSync(here("back")).sort(), [".gitignore", ".hidden", "a.o", "kept"]);
  });

  test("what cannot be read or written is named, the rest is copied, and the exit code is 1", async () => {
    await sh("mkdir -p part/sub && echo a > part/good && echo b > part/sub/closed && chmod 0 part/sub/closed");
    const down = await cp("box:part", "part");
    assert.equal(down.code, 1);
    assert.match(down.stderr, /^inis: part\/sub\/closed: Permission denied\n$/);
    assert.equal(readFileSync(here("part/good"), "utf8"), "a\n");
    mkdirSync(here("clash/good"), { recursive: true });
    writeFileSync(here("clash/other"), "o");
    const up = await cp("clash/.", "box:part");
    assert.equal(up.code, 1);
    assert.match(up.stderr, /good: cannot go into the directory/);
    assert.equal(await sh("cat part/other part/good"), "oa\n");
    const json = await cp("--json", "clash/.", "box:part");
    assert.deepEqual([json.code, json.stderr, JSON.parse(json.stdout).failed.length], [1, "", 1]);
  });

  test("what does not exist is 3, what may not be is 125, each with the reason", async () => {
    for (const args of [
      ["nothing", "box:x"],
      ["box:nothing", "x"],
      ["box:nothing", "-"],
      ["here", "nobox:x"],
    ])
      assert.equal((await cp(...args)).code, 3, args.join(" "));
    writeFileSync(here("file"), "x");
    const refused = await cp("file", "box:/etc/file");
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /Permission denied|Read-only/);
    const under = await cp("file/.", "box:x");
    assert.match(under.stderr, /not a directory|Not a directory/);
    const json = await cp("--json", "box:nothing", "x");
    assert.equal(JSON.parse(json.stderr).code, "not_found");
    assert.ok(!existsSync(here("x")));
  });

  test("an interrupted copy leaves neither a half file nor a half directory, here or there", async () => {
    const bytes = randomBytes(1_000_000);
    for (let i = 0; i < 40; i++) {
      mkdirSync(here(`big/d${i}`), { recursive: true });
      writeFileSync(here(`big/d${i}/f`), bytes);
    }
    await sh("mkdir dest && echo old > dest/file");
    const temporary = "ls -A . dest | grep -c '^[.]inis-' || true";
    const up = Program.start(["cp", "big", "box:dest/big"], { env, spawn: { cwd: folder } });
    await eventually("it has begun there", async () => (await sh(temporary)) !== "0\n" || up.child.exitCode !== null);
    up.child.kill("SIGINT");
    const { code } = await withinMs("cp", 60_000, up.outcome);
    if (code !== 0) {
      assert.equal(code, 130);
      await eventually("nothing is left", async () => (await sh(`${temporary}; ls dest`)) === "0\nfile\n");
    }
    const slow = Program.start(["cp", "-", "box:dest/file"], { env, openStdin: true });
    slow.child.stdin?.write("half");
    await eventually("it has begun there", async () => (await sh(temporary)) === "1\n");
    slow.child.kill("SIGTERM");
    assert.equal((await withinMs("cp", 60_000, slow.outcome)).code, 143);
    await eventually("nothing is left", async () => (await sh(`${temporary}; cat dest/file`)) === "0\nold\n");
    await sh("mkdir many && cd many && for i in $(seq 60); do head -c 1000000 /dev/zero > f$i; done");
    const down = Program.start(["cp", "box:many", "many"], { env, spawn: { cwd: folder } });
    await eventually(
      "it has begun here",
      () => readdirSync(folder).some((name) => name.startsWith(".inis-")) || down.child.exitCode !== null,
    );
    down.child.kill("SIGINT");
    if ((await withinMs("cp", 60_000, down.outcome)).code !== 0) assert.deepEqual(readdirSync(folder).sort(), ["big"]);
  });

  test("ten thousand small files are one request and take no minutes", async () => {
    python(
      "import os, sys\nfor d in range(100):\n  os.makedirs(f'{sys.argv[1]}/{d}')\n  for f in range(100): open(f'{sys.argv[1]}/{d}/{f}', 'w').write('x')",
      here("many"),
    );
    const said = JSON.parse(await withinMs("upload", 60_000, run("cp", "--json", "many", "box:many")));
    assert.deepEqual([said.files, said.directories, said.bytes], [10_000, 101, 10_000]);
    await withinMs("download", 60_000, run("cp", "box:many", "again"));
    assert.equal(readdirSync(here("again/99")).length, 100);
  });

  test("progress is for a terminal only", async () => {
    writeFileSync(here("big"), randomBytes(20_000_000));
    assert.equal((await cp("big", "box:big")).stderr, "");
  });

  test("modes that give nobody anything do not stop it, and set-id bits do not travel", async () => {
    mkdirSync(here("modes"));
    writeFileSync(here("modes/setuid"), "x");
    chmodSync(here("modes/setuid"), 0o4755);
    await run("cp", "modes", "box:modes");
    assert.equal(await sh("stat -c %a modes/setuid; chmod 6755 modes/setuid"), "755\n");
    await run("cp", "box:modes/setuid", "back");
    assert.equal(statSync(here("back")).mode & 0o7777, 0o755);
  });
});

describe("inis cp and a session that lies", () => {
  let hostile: HttpServer;
  let archive: Buffer;
  let folder: string;
  const id = "a".repeat(21);
  const env = () => ({
    INIS_BASE_URL: `http://127.0.0.1:${(hostile.address() as AddressInfo).port}`,
    INIS_API_KEY: "sk_x",
  });

  const answer = (request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    if (request.url === "/v1/healthz") {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ status: "ok", version: "0.0.0", extensions: ["session.archive"] }));
      return;
    }
    response.setHeader("content-type", "text/event-stream");
    response.write(`event: stdout\ndata: ${archive.toString("base64")}\n\n`);
    response.write(`event: stderr\ndata: ${Buffer.from("s\x1b]0;owned\x07name\0").toString("base64")}\n\n`);
    response.end('event: exit\ndata: {"exit_code":0,"timed_out":false,"duration_ms":1}\n\n');
  };
  const tar = (members: object[]) =>
    execFileSync("python3", [
      "-c",
      `import sys, json, io, tarfile
out = tarfile.open(fileobj=sys.stdout.buffer, mode="w|", format=tarfile.PAX_FORMAT)
for m in json.loads(sys.argv[1]):
    i = tarfile.TarInfo(m["name"]); i.type = m.get("type", "0").encode(); i.linkname = m.get("link", ""); i.mode = 0o755
    i.size = len(m.get("data", "")); out.addfile(i, io.BytesIO(m.get("data", "").encode()))
out.close()`,
      JSON.stringify(members),
    ]);

  before(async () => {
    hostile = createServer(answer);
    await new Promise<void>((resolve) => hostile.listen(0, "127.0.0.1", resolve));
  });
  after(() => {
    hostile.closeAllConnections();
    hostile.close();
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "inis-lie-"));
    mkdirSync(join(folder, "outside"));
    mkdirSync(join(folder, "jail"));
    writeFileSync(join(folder, "outside/file"), "safe");
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const attempts: Record<string, object[]> = {
    "names with dots": [
      { name: "r", type: "5" },
      { name: "r/../../outside/file", data: "bad" },
    ],
    "an absolute name": [
      { name: "r", type: "5" },
      { name: "/tmp/inis-lie-absolute", data: "bad" },
    ],
    "a root with dots": [
      { name: "..", type: "5" },
      { name: "../outside/file", data: "bad" },
    ],
    "a root with a path": [
      { name: "../outside", type: "5" },
      { name: "../outside/file", data: "bad" },
    ],
    "a link and a way through it": [
      { name: "r", type: "5" },
      { name: "r/l", type: "2", link: "../../outside" },
      { name: "r/l/file", data: "bad" },
    ],
    "a link as the root and a way through it": [
      { name: "r", type: "2", link: "../outside" },
      { name: "r/file", data: "bad" },
    ],
    "a link replaced by a directory of its name": [
      { name: "r", type: "5" },
      { name: "r/l", type: "2", link: "../../outside" },
      { name: "r/l", type: "5" },
      { name: "r/l/file", data: "bad" },
    ],
    "a file through a link of its name": [
      { name: "r", type: "5" },
      { name: "r/l", type: "2", link: "../../outside/file" },
      { name: "r/l", data: "bad" },
    ],
    "a hard link": [
      { name: "r", type: "5" },
      { name: "r/h", type: "1", link: "../outside/file" },
      { name: "r/h", data: "bad" },
    ],
  };
  for (const [what, members] of Object.entries(attempts))
    test(`cannot write outside: ${what}`, async () => {
      archive = tar(members);
      for (const target of ["jail/in", "jail", "jail/"]) {
        const outcome = await inis(["cp", `${id}:r`, target], { env: env(), spawn: { cwd: folder } });
        assert.ok(outcome.code === 0 || outcome.code === 1 || outcome.code === 125, outcome.stderr);
        assert.ok(!outcome.stderr.includes("\x1b"), "nor speak to the terminal");
      }
      assert.deepEqual(readdirSync(folder).sort(), ["jail", "outside"]);
      assert.deepEqual(readdirSync(join(folder, "outside")), ["file"]);
      assert.equal(readFileSync(join(folder, "outside/file"), "utf8"), "safe");
      assert.ok(!existsSync("/tmp/inis-lie-absolute"));
    });

  test("an archive that is cut, or none, leaves nothing and is a failure", async () => {
    const whole = tar([
      { name: "r", type: "5" },
      { name: "r/file", data: "x".repeat(50_000) },
    ]);
    for (const bytes of [whole.subarray(0, 30_000), Buffer.from("no archive at all".repeat(100)), Buffer.alloc(1024)]) {
      archive = bytes;
      const outcome = await inis(["cp", `${id}:r`, "jail/in"], { env: env(), spawn: { cwd: folder } });
      assert.notEqual(outcome.code, 0);
      assert.deepEqual(readdirSync(join(folder, "jail")), []);
    }
  });
});
