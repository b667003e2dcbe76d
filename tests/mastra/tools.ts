// SPDX-License-Identifier: Apache-2.0
// Mastra's own workspace tools, driven by an agent whose model follows a script.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Agent } from "@mastra/core/agent";
import { LocalFilesystem, WORKSPACE_TOOLS, Workspace } from "@mastra/core/workspace";
import { eventually, withinMs } from "../support/helpers.js";
import { newest } from "./support/core.js";
import { onSandbox, runningIn } from "./support/sandbox.js";
import { ScriptedModel, type Step } from "./support/scripted-model.js";

const { EXECUTE_COMMAND, GET_PROCESS_OUTPUT, KILL_PROCESS } = WORKSPACE_TOOLS.SANDBOX;
const FILES = WORKSPACE_TOOLS.FILESYSTEM;
const SOON_MS = 60_000;

const execute = (input: Record<string, unknown>) => ({ tool: EXECUTE_COMMAND, input });
const output = (input: Record<string, unknown>) => ({ tool: GET_PROCESS_OUTPUT, input });

/** The pid in the answer of a background command. */
function pidIn(result: string | undefined): string {
  const pid = /PID: (\S+?)\)/.exec(result ?? "")?.[1];
  assert(pid, `no pid in ${result}`);
  return pid;
}

onSandbox("tools", {}, (sandbox) => {
  const host = mkdtempSync(join(tmpdir(), "inis-tools-"));
  after(() => rmSync(host, { recursive: true, force: true }));

  async function run(steps: Step[], workspaceOptions: object = {}, agentOptions: object = {}) {
    const model = new ScriptedModel(steps);
    const workspace = new Workspace({ sandbox: sandbox(), ...workspaceOptions });
    const agent = new Agent({ id: "tester", name: "tester", instructions: "Follow the script.", model, workspace });
    const answer = await withinMs("agent", SOON_MS, agent.generate("go", { maxSteps: 20, ...agentOptions }));
    return { model, text: answer.text };
  }

  test("execute_command_in_the_foreground", async () => {
    const { model, text } = await run([
      execute({ command: "echo out; echo err >&2" }),
      execute({ command: "seq 1000 | tail -3" }),
      execute({ command: "pwd; exit 4", cwd: "/tmp" }),
      execute({ command: "echo part; sleep 600", timeout: 1 }),
      execute({ command: "cat" }),
      "all done",
    ]);
    assert.equal(text, "all done");
    const [both, tail, failed, late, input] = model.results;
    assert.match(both!, /out/);
    if (newest) assert.match(both!, /err/, "23679: stderr is shown on success");
    assert.deepEqual(tail!.match(/\d+/g)?.slice(-3), ["998", "999", "1000"]);
    assert.match(failed!, /\/tmp[\s\S]*Exit code: 4/);
    assert.match(late!, /part[\s\S]*timed out after 1000 ms[\s\S]*Exit code: 124/);
    assert.match(input!, /no output/);
    assert(model.offered.includes(EXECUTE_COMMAND) && model.offered.includes(KILL_PROCESS));
  });

  test("a_command_that_cannot_start_is_an_answer_to_the_model", async () => {
    const { model } = await run([execute({ command: "true", cwd: "/no/such/place" }), "ok"]);
    assert.match(model.results[0]!, /Error: .*\/no\/such\/place/);
  });

  test("background_command_output_with_and_without_waiting_and_kill", async () => {
    const { model } = await run([
      execute({ command: "echo begun; until [ -e /tmp/tool-go ]; do sleep 0.05; done; echo ended", background: true }),
      (results) => output({ pid: pidIn(results[0]) }),
      execute({ command: "touch /tmp/tool-go" }),
      (results) => output({ pid: pidIn(results[0]), wait: true }),
      execute({ command: "echo up; sleep 7601", background: true }),
      (results) => ({ tool: KILL_PROCESS, input: { pid: pidIn(results[4]) } }),
      (results) => output({ pid: pidIn(results[4]) }),
      "ok",
    ]);
    const [, early, , complete, , killed, after] = model.results;
    assert.doesNotMatch(early!, /ended|Exit code/);
    assert.match(complete!, /begun\nended[\s\S]*Exit code: 0/);
    assert.match(killed!, /killed/);
    assert.match(after!, /No background process/);
    assert.deepEqual(await runningIn(sandbox(), "sleep 7601"), []);
  });

  // Older cores do not say that a background command is to have no input.
  if (newest) {
    test("24336_background_command_that_reads_stdin_ends", async () => {
      const { model } = await run([
        execute({ command: "cat; echo over", background: true }),
        (results) => output({ pid: pidIn(results[0]), wait: true }),
        "ok",
      ]);
      assert.match(model.results[1]!, /over[\s\S]*Exit code: 0/);
    });
  }

  test("callbacks_of_background_processes_know_the_pid", async () => {
    const heard: string[] = [];
    const exits: unknown[] = [];
    const tools = {
      [EXECUTE_COMMAND]: {
        backgroundProcesses: {
          onStdout: (text: string, { pid }: { pid: string }) => heard.push(`${pid}:${text}`),
          onExit: ({ pid, exitCode }: { pid: string; exitCode: number }) => exits.push([pid, exitCode]),
        },
      },
    };
    const { model } = await run(
      [
        execute({ command: "echo at once; exit 5", background: true }),
        (results) => output({ pid: pidIn(results[0]), wait: true }),
        "ok",
      ],
      { tools },
    );
    const pid = pidIn(model.results[0]);
    assert.deepEqual(heard, [`${pid}:at once\n`]);
    await eventually("the exit callback", () => exits.length > 0);
    assert.deepEqual(exits, [[pid, 5]]);
  });

  test("13597_aborting_the_agent_ends_the_command_in_the_guest", async () => {
    const controller = new AbortController();
    const running = run([execute({ command: "sleep 7602" }), "never"], {}, { abortSignal: controller.signal });
    running.catch(() => {});
    await eventually("it runs", async () => (await runningIn(sandbox(), "sleep 7602")).length > 0);
    controller.abort();
    await running.catch(() => {});
    await eventually("it is gone", async () => (await runningIn(sandbox(), "sleep 7602")).length === 0);
  });

  test("output_is_streamed_to_the_reader_of_the_agent", async () => {
    const model = new ScriptedModel([execute({ command: "echo live; echo oops >&2; exit 3" }), "done"]);
    const workspace = new Workspace({ sandbox: sandbox() });
    const agent = new Agent({ id: "streamer", name: "streamer", instructions: "Follow.", model, workspace });
    const stream = await agent.stream("go", { maxSteps: 5 });
    const data: Record<string, unknown[]> = {};
    for await (const part of stream.fullStream) {
      if (part.type.startsWith("data-"))
        data[part.type] = [...(data[part.type] ?? []), (part as { data: unknown }).data];
    }
    const text = (type: string) => (data[type] as { output: string }[]).map((entry) => entry.output).join("");
    assert.deepEqual([text("data-sandbox-stdout"), text("data-sandbox-stderr")], ["live\n", "oops\n"]);
    const [exit] = data["data-sandbox-exit"] as { exitCode: number; success: boolean }[];
    assert.deepEqual([exit?.exitCode, exit?.success], [3, false]);
    const [metadata] = data["data-workspace-metadata"] as { sandbox: { provider: string; status: string } }[];
    assert.deepEqual([metadata?.sandbox.provider, metadata?.sandbox.status], ["inis", "running"]);
  });

  test("the_model_is_told_about_the_sandbox", async () => {
    const { model } = await run(["ok"]);
    assert.match(model.system, /isolated Linux sandbox/);
    assert.match(model.system, /\/workspace/);
  });

  test("file_tools_work_beside_the_sandbox", async () => {
    const { model } = await run(
      [
        { tool: FILES.WRITE_FILE, input: { path: "notes/a.txt", content: "one\ntwo\n" } },
        { tool: FILES.READ_FILE, input: { path: "notes/a.txt" } },
        { tool: FILES.EDIT_FILE, input: { path: "notes/a.txt", old_string: "two", new_string: "three" } },
        { tool: FILES.LIST_FILES, input: { path: "notes" } },
        { tool: FILES.FILE_STAT, input: { path: "notes/a.txt" } },
        { tool: FILES.GREP, input: { pattern: "three" } },
        { tool: FILES.MKDIR, input: { path: "made" } },
        execute({ command: "echo still fine" }),
        { tool: FILES.DELETE, input: { path: "made", recursive: true } },
        "ok",
      ],
      { filesystem: new LocalFilesystem({ basePath: host }) },
    );
    assert.equal(readFileSync(join(host, "notes/a.txt"), "utf8"), "one\nthree\n");
    const [, read, , list, stat, grep, , command] = model.results;
    assert.match(read!, /one[\s\S]*two/);
    assert.match(list!, /a\.txt/);
    assert.match(stat!, /10 bytes/);
    assert.match(grep!, /three/);
    assert.equal(command!.trim(), "still fine");
  });
});
