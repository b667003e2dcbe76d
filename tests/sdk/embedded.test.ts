// SPDX-License-Identifier: Apache-2.0
// The embedded engine as the SDK sees it: finding the program, running it, reading its answer. The program here is a
// script of the test's own; the real one has its tests elsewhere.

import assert from "node:assert/strict";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { Client, type InisError } from "@inis-run/sdk";
import { FakeServer, json } from "./support/fake-server.js";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "inis-sdk-"));
  delete process.env.INIS_API_KEY;
  delete process.env.INIS_BASE_URL;
  process.env.INIS_ENGINE_DIR = folder;
});

afterEach(async () => {
  delete process.env.INIS_ENGINE_DIR;
  await rm(folder, { recursive: true });
});

/** Puts an `inis` into the folder that notes each run and then does `body`. */
async function engine(body: string): Promise<void> {
  const script = `#!/bin/sh\necho "$@" >> ${folder}/runs\n${body}\n`;
  await writeFile(join(folder, "inis"), script);
  await chmod(join(folder, "inis"), 0o755);
}

async function runs(): Promise<string[]> {
  const text = await readFile(join(folder, "runs"), "utf8").catch(() => "");
  return text.split("\n").filter((line) => line !== "");
}

function answer(url: string): string {
  return `echo '${JSON.stringify({ base_url: url, token: "sk_engine" })}'`;
}

test("a client with neither key nor URL asks the engine at its first call, and only then", async () => {
  await using server = await FakeServer.start(json(200, {}));
  await engine(answer(server.url));
  const client = new Client();
  assert.deepEqual([client.baseUrl, client.token, await runs()], ["", "", []]);
  await client.sessions.get("abc");
  await client.sessions.get("abc");
  assert.deepEqual([client.baseUrl, client.token], [server.url, "sk_engine"]);
  assert.equal(server.requests[0]?.headers.authorization, "Bearer sk_engine");
  assert.deepEqual(await runs(), ["env --json"]);
});

test("ten calls at once start the engine once per client", async () => {
  await using server = await FakeServer.start(json(200, {}));
  await engine(`sleep 0.2; ${answer(server.url)}`);
  const [one, two] = [new Client(), new Client()];
  const calls = Array.from({ length: 10 }, (_, i) => [one, two].map((client) => client.sessions.get(`s${i}`)));
  await Promise.all(calls.flat());
  assert.equal(server.requests.length, 20);
  assert.deepEqual(await runs(), ["env --json", "env --json"]);
});

test("an engine that stays in the background with the pipes does not hold the call up", async () => {
  await using server = await FakeServer.start(json(200, {}));
  await engine(`sleep 30 & echo $! > ${folder}/pid; ${answer(server.url)}`);
  const started = Date.now();
  await new Client().sessions.get("abc");
  assert.ok(Date.now() - started < 15_000);
  process.kill(Number(await readFile(join(folder, "pid"), "utf8")));
});

test("without the program, the error says where it was looked for and what to do", async () => {
  const client = new Client();
  await assert.rejects(client.sessions.create(), (error: InisError) => {
    assert.deepEqual([error.name, error.code], ["InisError", "engine_not_found"]);
    assert.match(error.message, new RegExp(`INIS_ENGINE_DIR.*${folder}/inis`));
    return true;
  });
});

const failures: [what: string, body: string, message: RegExp][] = [
  ["fails", "echo 'no room left' >&2; exit 3", /inis env` failed \(exit code 3\): no room left/],
  ["dies", "kill -9 $$", /SIGKILL/],
  ["says nothing", "true", /no base_url and token/],
  ["says something else", 'echo \'{"base_url": "x"}\'', /no base_url and token/],
];
for (const [what, body, message] of failures) {
  test(`an engine that ${what} is a clear error, and the next call tries again`, async () => {
    await using server = await FakeServer.start(json(200, {}));
    await engine(body);
    const client = new Client();
    const failed = { name: "InisError", code: "engine_failed", message };
    await Promise.all([1, 2, 3].map(() => assert.rejects(client.sessions.get("abc"), failed)));
    assert.equal((await runs()).length, 1);
    await engine(answer(server.url));
    await client.sessions.get("abc");
    assert.equal((await runs()).length, 2);
  });
}

test("a program that cannot be run is a clear error", async () => {
  await writeFile(join(folder, "inis"), "x");
  await assert.rejects(new Client().sessions.get("abc"), (error: InisError) => {
    assert.equal(error.code, "engine_failed");
    assert.match(error.message, /EACCES/);
    assert.equal((error.cause as { code?: string }).code, "EACCES");
    return true;
  });
});

test("an engine that stopped itself while idle is started again, once for all who notice", async () => {
  const first = await FakeServer.start(json(200, {}));
  await engine(answer(first.url));
  const client = new Client();
  await client.sessions.get("abc");
  await first[Symbol.asyncDispose]();
  await using second = await FakeServer.start(json(200, {}));
  await engine(answer(second.url));
  await Promise.all([1, 2, 3].map(() => client.sessions.attach("abc").exec("x")));
  assert.equal(second.requests.length, 3);
  assert.equal(client.baseUrl, second.url);
  assert.equal((await runs()).length, 2);
});

test("aborting a call does not stop the start that others wait for", async () => {
  await using server = await FakeServer.start(json(200, {}));
  await engine(`sleep 0.3; ${answer(server.url)}`);
  const client = new Client();
  const controller = new AbortController();
  const aborted = client.sessions.get("a", { signal: controller.signal });
  const other = client.sessions.get("b");
  controller.abort();
  await assert.rejects(aborted, { name: "AbortError" });
  await other;
  assert.deepEqual([server.requests.map(({ url }) => url), (await runs()).length], [["/v1/sessions/b"], 1]);
});

test("the engine of the package, of the clone around the SDK or of the machine is found", async () => {
  delete process.env.INIS_ENGINE_DIR;
  const { cp, mkdir } = await import("node:fs/promises");
  const { execFile } = await import("node:child_process");
  const { promisify } = await import("node:util");
  const { fileURLToPath } = await import("node:url");
  await using server = await FakeServer.start(json(200, {}));
  await engine(answer(server.url));
  const sdk = fileURLToPath(new URL("..", import.meta.resolve("@inis-run/sdk")));
  const places = ["clone/build/bin", "app/node_modules/@inis-run/engine-linux-x64/bin", "usr/bin"];
  const copies = ["clone/packages/sdk", "app/node_modules/@inis-run/sdk", "other/node_modules/@inis-run/sdk"];
  const PATH = `${join(folder, "usr/bin")}:${process.env.PATH}`;
  for (const [i, copy] of copies.entries()) {
    await mkdir(join(folder, places[i] ?? ""), { recursive: true });
    await cp(join(folder, "inis"), join(folder, places[i] ?? "", "inis"));
    await cp(sdk, join(folder, copy, "dist"), { recursive: true });
    for (const build of ["esm", "cjs"]) {
      const program = `import(${JSON.stringify(join(folder, copy, "dist", build, "index.js"))})
        .then(({ Client }) => new Client().sessions.get("abc")).then(() => console.log("ok"))`;
      const { stdout } = await promisify(execFile)(process.execPath, ["-e", program], {
        env: { ...process.env, PATH },
      });
      assert.equal(stdout, "ok\n");
    }
  }
  assert.equal(server.requests.length, 6);
});
