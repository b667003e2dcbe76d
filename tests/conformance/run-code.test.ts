// SPDX-License-Identifier: Apache-2.0
// runCode and restartContext of the SDK, with the real kernel in real sessions.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Client, type Session } from "@inis-run/sdk";
import { parallel } from "../support/helpers.js";
import { scaled } from "../support/paths.js";
import { suite } from "../support/suite.js";

const t = suite();
const client = () => new Client({ baseUrl: t.server.baseUrl, token: t.server.token });

async function withSession(run: (session: Session) => Promise<void>): Promise<void> {
  const session = await client().sessions.create();
  await run(session);
  await session.destroy();
}

test("results_come_as_text_json_and_errors_in_their_order", () =>
  withSession(async (session) => {
    const code = "import sys\nprint('out ☕')\nprint('err', file=sys.stderr)\nx = 20\nx + 1";
    assert.deepEqual(await session.runCode(code), [
      { type: "text", stream: "stdout", text: "out ☕\n" },
      { type: "text", stream: "stderr", text: "err\n" },
      { type: "text", stream: "result", text: "21" },
    ]);
    assert.deepEqual(await session.runCode("{'list': [x, None], 'ü': 1.5}"), [
      { type: "json", json: { list: [20, null], ü: 1.5 } },
    ]);
    const [printed, error] = await session.runCode("print('before'); 1 / 0");
    assert.equal(printed?.text, "before\n");
    assert.deepEqual([error?.type, error?.ename, error?.evalue], ["error", "ZeroDivisionError", "division by zero"]);
    assert.match(error?.traceback ?? "", /ZeroDivisionError/);
  }));

test("code_runs_as_the_guest_user_in_the_workspace", () =>
  withSession(async (session) => {
    const [result] = await session.runCode("import os\n[os.getcwd(), os.getuid()]");
    assert.deepEqual(result?.json, ["/workspace", 999]);
  }));

test("a_restarted_context_is_empty_and_its_files_are_there", () =>
  withSession(async (session) => {
    await session.runCode("x = 1; open('/workspace/kept', 'w').write('kept')");
    await session.restartContext();
    assert.equal((await session.runCode("x"))[0]?.ename, "NameError");
    assert.equal((await session.runCode("open('/workspace/kept').read()"))[0]?.text, "'kept'");
  }));

test("code_beyond_its_time_is_told_and_the_context_stays", () =>
  withSession(async (session) => {
    await session.runCode("import os, time; x = 7");
    const code = "while not os.path.exists('/workspace/go'): time.sleep(0.05)";
    const [late] = await session.runCode(code, { timeoutMs: 300 });
    assert.equal(late?.ename, "TimeoutError");
    await session.writeFile("/workspace/go", "");
    assert.equal((await session.runCode("x"))[0]?.text, "7");
  }));

/** Whether the guest's Python has the library; else the test is skipped and says so. */
async function has(session: Session, library: string, context: TestContext): Promise<boolean> {
  const { exitCode } = await session.exec(["python3", "-c", `import ${library}`]);
  if (exitCode !== 0) context.skip(`the guest's Python has no ${library}`);
  return exitCode === 0;
}

test("a_data_frame_comes_as_a_table", (context) =>
  withSession(async (session) => {
    if (!(await has(session, "pandas", context))) return;
    const [table] = await session.runCode("import pandas\npandas.DataFrame({'n': range(1001), 's': 'x'})");
    assert.deepEqual(
      [table?.type, table?.columns, table?.rowCount, table?.rows?.length, table?.truncated],
      ["table", ["n", "s"], 1001, 1000, true],
    );
    assert.deepEqual(table?.rows?.[1], { n: 1, s: "x" });
  }));

test("a_figure_comes_as_an_image", (context) =>
  withSession(async (session) => {
    if (!(await has(session, "matplotlib", context))) return;
    const code = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3]); None";
    const [image] = await session.runCode(code, { timeoutMs: 110_000 });
    assert.deepEqual([image?.type, image?.format], ["image", "png"]);
    assert.equal(Buffer.from(image!.data!).toString("latin1", 1, 4), "PNG");
    assert.equal(image?.data?.length, image?.size);
  }));

test("P15_contexts_of_sessions_do_not_share_state", async () => {
  const count = scaled(50, 8);
  const sessions = await parallel(4, count, () => client().sessions.create());
  await parallel(4, count, async (i) => {
    assert.equal((await sessions[i]!.runCode("'x' in globals()"))[0]?.text, "False");
    assert.deepEqual(await sessions[i]!.runCode(`x = ${i}`), []);
  });
  const seen = await parallel(4, count, async (i) => (await sessions[i]!.runCode("x"))[0]?.text);
  assert.deepEqual(
    seen,
    Array.from({ length: count }, (_, i) => String(i)),
  );
  await parallel(4, count, (i) => sessions[i]!.destroy());
});

test("P16_first_runs_of_many_sessions_at_once_all_succeed", async () => {
  const count = scaled(20, 8);
  const texts = await parallel(count, count, async (i) => {
    const session = await client().sessions.create();
    const [result] = await session.runCode(`${i} * 2`, { timeoutMs: 110_000 });
    await session.destroy();
    return result?.text;
  });
  assert.deepEqual(
    texts,
    Array.from({ length: count }, (_, i) => String(i * 2)),
  );
});
