// SPDX-License-Identifier: Apache-2.0
// The code interpreter: its protocol, and its kernel on a real Python.

import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Session } from "@inis-run/sdk";
import { LocalSession } from "./support/local-session.js";

function attach(local: LocalSession): Session {
  return local.server.client().sessions.attach("abc");
}

function installs(local: LocalSession): number {
  return local.server.calls.filter(({ method, url }) => method === "POST" && url.endsWith("/processes")).length;
}

test("output, values and errors come in their order, and variables stay", async () => {
  await using local = await LocalSession.start();
  const session = attach(local);
  const code = "import sys\nprint('out')\nprint('err', file=sys.stderr)\nx = 20\nx + 1";
  assert.deepEqual(await session.runCode(code), [
    { type: "text", stream: "stdout", text: "out\n" },
    { type: "text", stream: "stderr", text: "err\n" },
    { type: "text", stream: "result", text: "21" },
  ]);
  assert.deepEqual(await session.runCode("x * 2; None"), []);
  assert.deepEqual(await session.runCode("{'日': [x, None]}"), [{ type: "json", json: { 日: [20, null] } }]);
  assert.deepEqual(await session.runCode("[float('nan')]"), [{ type: "json", json: "[nan]" }]);
  assert.deepEqual(await session.runCode(""), []);
  const [printed, error] = await session.runCode("print('before'); 1 / 0");
  assert.equal(printed?.text, "before\n");
  assert.deepEqual([error?.type, error?.ename, error?.evalue], ["error", "ZeroDivisionError", "division by zero"]);
  assert.match(error?.traceback ?? "", /<cell>/);
  assert.equal((await session.runCode("def f("))[0]?.ename, "SyntaxError");
  assert.deepEqual(await session.runCode("__name__"), [{ type: "text", stream: "result", text: "'__main__'" }]);
  assert.equal(installs(local), 1);
});

test("a long value is cut with a mark", async () => {
  await using local = await LocalSession.start();
  const [result] = await attach(local).runCode("'x' * 200000");
  assert.equal(result?.text?.length, 100_000 + "... (truncated)".length);
  assert.ok(result?.text?.endsWith("... (truncated)"));
});

test("another client of the session uses the same kernel", async () => {
  await using local = await LocalSession.start();
  await attach(local).runCode("shared = 5");
  assert.equal((await attach(local).runCode("shared"))[0]?.text, "5");
  assert.equal(installs(local), 1);
});

test("a kernel of another version is replaced", async () => {
  await using local = await LocalSession.start();
  await attach(local).runCode("shared = 5");
  await writeFile(join(local.folder, ".inis_kernel/version"), "2fd975735343e8e2\n");
  assert.equal((await attach(local).runCode("shared"))[0]?.ename, "NameError");
  assert.equal(installs(local), 2);
});

test("restarting forgets the variables", async () => {
  await using local = await LocalSession.start();
  const session = attach(local);
  await session.runCode("x = 1");
  await session.restartContext();
  assert.equal((await session.runCode("x"))[0]?.ename, "NameError");
});

test("code that is not done in time is told and goes on", async () => {
  await using local = await LocalSession.start();
  const session = attach(local);
  const [late] = await session.runCode("import time; time.sleep(1); x = 7", { timeoutMs: 200 });
  assert.deepEqual([late?.type, late?.ename], ["error", "TimeoutError"]);
  assert.match(late?.evalue ?? "", /timed out after 200 ms, context left intact/);
  assert.equal((await session.runCode("x"))[0]?.text, "7");
  assert.equal(installs(local), 1);
});

test("code that ends the kernel is told, and the next call has a fresh one", async () => {
  await using local = await LocalSession.start();
  const session = attach(local);
  await session.runCode("x = 1");
  const [exit] = await session.runCode("raise SystemExit(3)");
  assert.deepEqual([exit?.ename, exit?.evalue], ["SystemExit", "3"]);
  assert.equal((await session.runCode("x"))[0]?.ename, "NameError");
});

test("a kernel that was killed is replaced in the same call", async () => {
  await using local = await LocalSession.start();
  const session = attach(local);
  await session.runCode("x = 1");
  await local.kill();
  const file = join(local.folder, "ran");
  const code = `open(${JSON.stringify(file)}, "a").write("once")\n40 + 2`;
  assert.equal((await session.runCode(code))[0]?.text, "42");
  assert.equal(installs(local), 2);
  assert.equal(await readFile(file, "utf8"), "once");
});

test("figures and tables are given out as the libraries' users expect", async () => {
  await using local = await LocalSession.start();
  await mkdir(join(local.folder, "matplotlib"));
  // Stand-ins with the few names that the kernel touches; the libraries themselves are not on every machine.
  await writeFile(join(local.folder, "matplotlib/__init__.py"), "");
  await writeFile(
    join(local.folder, "matplotlib/pyplot.py"),
    `
class Figure:
    def __init__(self, axes): self.axes = axes
    def savefig(self, path, format): open(path, "wb").write(b"\\x89PNG")
figures = {1: Figure([1]), 2: Figure([])}
def get_fignums(): return sorted(figures)
def figure(number): return figures[number]
def close(which): figures.clear()
`,
  );
  await writeFile(
    join(local.folder, "pandas.py"),
    `
import json
class DataFrame:
    def __init__(self, rows): self.rows, self.columns = rows, list(rows[0])
    def __len__(self): return len(self.rows)
    def head(self, n): return DataFrame(self.rows[:n])
    def to_json(self, **options): return json.dumps(self.rows)
class Series: pass
`,
  );
  const session = attach(local);
  await session.runCode(`import sys; sys.path.insert(0, ${JSON.stringify(local.folder)})`);
  const [image, last] = await session.runCode("import matplotlib.pyplot\n1");
  assert.deepEqual(
    [image?.type, image?.format, image?.size, image?.data && Buffer.from(image.data).toString("latin1")],
    ["image", "png", 4, "\x89PNG"],
  );
  assert.equal(last?.text, "1");
  const [table] = await session.runCode("import pandas\npandas.DataFrame([{'a_b': i} for i in range(1001)])");
  assert.deepEqual([table?.type, table?.columns, table?.rowCount, table?.truncated], ["table", ["a_b"], 1001, true]);
  assert.equal(table?.rows?.length, 1000);
  assert.deepEqual(table?.rows?.[999], { a_b: 999 });
});

test("many pieces of code at once share one kernel and leave nothing behind", async () => {
  await using local = await LocalSession.start();
  const session = attach(local);
  const results = await Promise.all(Array.from({ length: 8 }, (_, i) => session.runCode(`${i} * 10`)));
  assert.deepEqual(
    results.map(([result]) => result?.text),
    ["0", "10", "20", "30", "40", "50", "60", "70"],
  );
  assert.equal(installs(local), 1);
  for (const folder of ["requests", "results"]) {
    assert.deepEqual(await readdir(join(local.folder, ".inis_kernel", folder)), []);
  }
});

test("a signal ends the wait", async () => {
  await using local = await LocalSession.start();
  const session = attach(local);
  await session.runCode("1");
  const call = session.runCode("import time; time.sleep(3)", { signal: AbortSignal.timeout(300) });
  await assert.rejects(call, { name: "TimeoutError" });
});
