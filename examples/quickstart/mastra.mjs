// SPDX-License-Identifier: Apache-2.0
// A Mastra workspace on inis sandboxes, from the first command to the last. Every step checks what it
// shows and ends the program with an error when it is not so.
//
//   make quickstart          or, once built:   node examples/quickstart/mastra.mjs
import assert from "node:assert/strict";
import { InisSandbox } from "@inis-run/mastra";
import { Client } from "@inis-run/sdk";
import { Workspace } from "@mastra/core/workspace";

const began = Date.now();

async function step(what, work) {
  const started = Date.now();
  const shown = await work();
  console.log(`${`${Date.now() - started} ms`.padStart(8)}  ${what}`);
  for (const line of shown ? String(shown).trimEnd().split("\n") : []) console.log(`          | ${line}`);
}

// No key and no URL: the engine of this machine is found, or started.
const client = new Client();

console.log("\nA session of ours, attached to a workspace\n");

let session;
await step("create a session that cannot reach the network", async () => {
  session = await client.sessions.create({ egress: { mode: "deny" } });
  const { state, isolation, egress } = await client.sessions.get(session.sessionId);
  assert.equal(state, "live");
  return `session ${session.sessionId} on ${client.baseUrl}, ${isolation ?? "isolated"}, egress ${egress.mode}`;
});

try {
  const workspace = new Workspace({ sandbox: new InisSandbox({ session }) });

  await step("ls /workspace", async () => {
    const result = await workspace.sandbox.executeCommand("ls /workspace");
    assert.equal(result.exitCode, 0);
    return result.stdout || "(empty)";
  });

  await step("write 12 files in one call", async () => {
    const numbers = Array.from({ length: 10 }, (_, i) => ({ path: `data/${i}.txt`, content: `${i * i}\n` }));
    const sum = "import pathlib\nprint('sum', sum(int(p.read_text()) for p in pathlib.Path('data').iterdir()))\n";
    const count = "console.log('files', require('node:fs').readdirSync('data').length);\n";
    await workspace.sandbox.writeFiles([
      ...numbers,
      { path: "sum.py", content: sum },
      { path: "count.cjs", content: Buffer.from(count) },
    ]);
    const { stdout } = await workspace.sandbox.executeCommand("ls", ["/workspace"]);
    assert.deepEqual(stdout.trim().split(/\s+/).sort(), ["count.cjs", "data", "sum.py"]);
    return stdout;
  });

  await step("run a Python program on them", async () => {
    const { stdout, exitCode } = await workspace.sandbox.executeCommand("python3 sum.py");
    assert.deepEqual([exitCode, stdout], [0, "sum 285\n"]);
    return stdout;
  });

  await step("run a Node.js program on them", async () => {
    const { stdout, exitCode } = await workspace.sandbox.executeCommand("node", ["count.cjs"]);
    assert.deepEqual([exitCode, stdout], [0, "files 10\n"]);
    return stdout;
  });

  await step("stream the output of a longer command", async () => {
    const arrivals = [];
    const started = Date.now();
    const result = await workspace.sandbox.executeCommand("for i in 1 2 3 4; do echo line $i; sleep 0.3; done", [], {
      onStdout: (text) => arrivals.push(`${text.trim()} after ${Date.now() - started} ms`),
    });
    assert.equal(result.stdout, "line 1\nline 2\nline 3\nline 4\n");
    assert.ok(arrivals.length > 1, "the output came in one piece");
    return arrivals.join("\n");
  });

  await step("start a background process, talk to its stdin, follow its log, kill it", async () => {
    const program =
      "import sys\nprint('ready', flush=True)\nfor line in sys.stdin: print('heard', line.strip(), flush=True)\n";
    await workspace.sandbox.writeFiles([{ path: "listen.py", content: program }]);
    let log = "";
    const waiters = [];
    const handle = await workspace.sandbox.processes.spawn("exec python3 listen.py", {
      onStdout: (text) => {
        log += text;
        for (const check of waiters) check();
      },
    });
    const logged = (text) =>
      new Promise((resolve) => {
        const check = () => log.includes(text) && resolve();
        waiters.push(check);
        check();
      });
    await logged("ready");
    await handle.sendStdin("hello\n");
    await logged("heard hello");
    const running = (await workspace.sandbox.processes.list()).filter((process) => process.running);
    assert.deepEqual(
      running.map((process) => process.pid),
      [handle.pid],
    );
    assert.equal(await handle.kill(), true);
    const result = await handle.wait();
    assert.equal(result.killed, true);
    assert.equal(await handle.kill(), false, "a second kill has nothing to do");
    return `${log}killed, exit code ${result.exitCode}`;
  });

  await step("cancel a command with an AbortSignal", async () => {
    const controller = new AbortController();
    const result = await workspace.sandbox.executeCommand("echo working; exec sleep 600", [], {
      abortSignal: controller.signal,
      onStdout: () => controller.abort(),
    });
    assert.equal(result.success, false);
    assert.equal(result.stdout, "working\n");
    const left = await session.exec(
      "for f in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$f; echo; done 2>/dev/null | grep -c '^sleep 600 '",
    );
    assert.equal(left.stdout, "0\n", "the command outlived its cancellation");
    return `ended with exit code ${result.exitCode}; its output so far is kept`;
  });
} finally {
  await step("session.destroy()", () => session.destroy());
}
await assert.rejects(client.sessions.get(session.sessionId), { status: 404 });

console.log("\nA session owned by the sandbox, made when it is first needed\n");

const workspace = new Workspace({ sandbox: new InisSandbox({ egressDefault: "deny" }) });
const clone = new Workspace({ sandbox: workspace.sandbox.clone() });
const ids = [];
try {
  await step("the first command creates the session", async () => {
    assert.equal(workspace.sandbox.status, "pending");
    const { stdout } = await workspace.sandbox.executeCommand("echo original > note && cat note");
    assert.deepEqual([stdout, workspace.sandbox.status], ["original\n", "running"]);
    ids.push(workspace.sandbox.session.sessionId);
    return `session ${ids[0]}`;
  });

  await step("clone() has a session of its own", async () => {
    const { stdout } = await clone.sandbox.executeCommand("cat note 2>/dev/null || echo nothing here");
    assert.equal(stdout, "nothing here\n");
    ids.push(clone.sandbox.session.sessionId);
    assert.notEqual(ids[0], ids[1]);
    return `session ${ids[1]}`;
  });
} finally {
  await step("workspace.destroy(), both", () => Promise.all([workspace.destroy(), clone.destroy()]).then(() => ""));
}
for (const id of ids) await assert.rejects(client.sessions.get(id), { status: 404 });

console.log(`\nAll of it took ${((Date.now() - began) / 1000).toFixed(1)} s. Nothing is left behind.`);
