// SPDX-License-Identifier: Apache-2.0
// A program in a session of its own: the result comes back, and the session never stays, whatever happens.
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "../support/contract.js";
import { descendants, role, settledFootprint } from "../support/footprint.js";
import { eventually, parallel, withinMs } from "../support/helpers.js";
import type { RawClient } from "../support/http.js";
import { suite } from "../support/suite.js";

const t = suite();

async function once(body: JsonObject, client: RawClient = t.client): Promise<JsonObject> {
  return (await client.expect(200, "POST", "/v1/sessions/exec", { json: body })).json;
}
const python = (code: string, more: JsonObject = {}) => once({ language: "python", code, ...more });

async function listed(client: RawClient = t.client, query: Record<string, string> = {}): Promise<string[]> {
  const { json } = await client.expect(200, "GET", "/v1/sessions", { query });
  return (json.sessions as JsonObject[]).map(({ session_id }) => session_id as string);
}

/** The only sessions there are: the shared one of this file. */
async function assertNoSessionStayed(client: RawClient = t.client): Promise<void> {
  assert.deepEqual(await listed(client), [t.session.id]);
}

const runs = (text: string) => descendants(t.server.pid).some(({ command }) => command.join(" ").includes(text));

/** What the machine's own installers are made of is there without a network: the session sees the same /usr. */
const WHEEL = ["/usr/share/python-wheels"]
  .filter(existsSync)
  .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  .find((file) => /\/setuptools-[^/]*\.whl$/.test(file));
const NPM_PACKAGE = "/usr/lib/node_modules/npm/node_modules/ms";

test("a_python_program_runs_and_its_session_is_gone_with_the_answer", async () => {
  const result = await python(
    "import os, sys\nprint(2 ** 10, os.getcwd())\nprint('err', file=sys.stderr)\nsys.exit(3)",
  );
  const { stdout, stderr, exit_code, timed_out, phase, install_ms, session_id } = result;
  assert.deepEqual([stdout, stderr, exit_code, timed_out], ["1024 /workspace\n", "err\n", 3, false]);
  assert.deepEqual([phase, install_ms], ["run", undefined]);
  for (const member of ["duration_ms", "restore_ms", "cpu_ms", "peak_memory_bytes", "stdout_bytes"])
    assert.equal(typeof result[member], "number", member);
  await assertNoSessionStayed();
  assert.equal((await t.client.send("GET", `/v1/sessions/${session_id}`)).status, 404);
});

test("a_node_program_runs", async () => {
  const code = "const { cpus } = require('node:os'); console.log(typeof cpus, [1, 2].map((n) => n * 2).join())";
  assert.equal((await once({ language: "node", code })).stdout, "function 2,4\n");
});

test("an_interpreter_that_is_not_there_is_127_with_a_message", async () => {
  const result = await once({ language: "bun", code: "console.log(1)" });
  if (result.exit_code === 0) assert.equal(result.stdout, "1\n", "this machine has one");
  else {
    assert.deepEqual([result.exit_code, result.phase], [127, "run"]);
    assert.match(result.stderr as string, /bun: command not found/);
  }
  const missing = await once({ language: "bun", code: "1", dependencies: ["left-pad"] });
  if (result.exit_code === 127) assert.deepEqual([missing.exit_code, missing.phase], [127, "install"]);
});

test("source_may_be_larger_than_any_argument_and_hold_any_text", async () => {
  const text = `${"日本語☕ ' \" \\\\ $HOME `id` \\n".repeat(40_000)}end`;
  const result = await python(`text = r'''${text.replaceAll("'", "")}'''\nprint(len(text))`);
  assert.deepEqual([result.exit_code, result.stdout], [0, `${[...text.replaceAll("'", "")].length}\n`]);
  assert.equal((await python("")).exit_code, 0, "an empty program");
  const large = await t.client.send("POST", "/v1/sessions/exec", {
    json: { language: "python", code: "#".repeat(8 * 1024 * 1024 + 1) },
  });
  assert.deepEqual([large.status, large.json.code, large.json.field], [400, "payload_too_large", "code"]);
  await assertNoSessionStayed();
});

test("O2_output_is_encoded_and_cut_as_that_of_an_exec", async () => {
  const result = await python(
    "import sys\nsys.stdout.buffer.write(b'\\xff' * 10)\nprint('x' * 6000000, file=sys.stderr)",
  );
  assert.deepEqual(
    [result.stdout, result.stdout_encoding, (result.stderr as string).length, result.truncated, result.stderr_bytes],
    [Buffer.alloc(10, 0xff).toString("base64"), "base64", 4 * 1024 * 1024, true, 6000001],
  );
});

test("size_sudo_and_capture_are_those_of_the_session", async () => {
  const code = "import subprocess\nprint(subprocess.run(['sudo', '-n', 'true']).returncode)";
  assert.notEqual((await python(code, { no_sudo: true })).stdout, "0\n");
  const { session_id } = await python("1", { size: "medium", command_capture: "full" });
  const { json } = await t.client.expect(200, "GET", `/v1/sessions/${session_id}/audit`);
  const [entry, ...rest] = json.entries as JsonObject[];
  assert.deepEqual([entry!.kind, entry!.exit_code, rest.length], ["one_shot", 0, 0]);
  assert.deepEqual((entry!.command as string[])[0], "python3");
  const { json: ended } = await t.client.expect(200, "GET", "/v1/sessions", { query: { state: "ended" } });
  const row = (ended.sessions as JsonObject[]).find((session) => session.session_id === session_id);
  assert.deepEqual([row!.size, row!.end_reason], ["medium", "client_destroy"]);
});

const noWheel = WHEEL ? false : "no wheel on this machine";
const noPackage = existsSync(NPM_PACKAGE) ? false : "no package on this machine";

test("python_packages_are_installed_first_and_found", { skip: noWheel }, async () => {
  const code = "import setuptools\nprint(setuptools.__file__)";
  const result = await python(code, { dependencies: [`file://${WHEEL}`], timeout_ms: 300_000 });
  assert.deepEqual([result.phase, result.exit_code], ["run", 0], JSON.stringify(result));
  assert.match(result.stdout as string, /^\/workspace\/.*setuptools/, "it is the one that was installed");
  assert((result.install_ms as number) > 0);
  const { json } = await t.client.expect(200, "GET", `/v1/sessions/${result.session_id}/audit`);
  assert.equal((json.entries as JsonObject[]).length, 2, "the installation and the program");
});

test("node_packages_are_installed_first_and_found", { skip: noPackage }, async () => {
  const code = "console.log(require('ms')('2 days'))";
  const result = await once({ language: "node", code, dependencies: [`file:${NPM_PACKAGE}`], timeout_ms: 300_000 });
  assert.deepEqual([result.phase, result.exit_code], ["run", 0], JSON.stringify(result));
  assert.equal(result.stdout, "172800000\n");
  assert((result.install_ms as number) > 0);
});

test("the_time_limit_is_for_installation_and_program_together", { skip: noWheel }, async () => {
  const dependencies = [`file://${WHEEL}`];
  const late = await python("print('never')", { dependencies, timeout_ms: 10 });
  assert.deepEqual([late.phase, late.timed_out, late.exit_code, late.stdout], ["install", true, 124, ""]);
});

test("an_installation_that_fails_is_the_result_and_the_program_is_not_run", async () => {
  const result = await python("print('never')", { dependencies: ["/no/such/package.whl"], timeout_ms: 120_000 });
  assert.deepEqual([result.phase, result.stdout === "never\n"], ["install", false]);
  assert.notEqual(result.exit_code, 0);
  assert.match(`${result.stdout}${result.stderr}`, /no\/such\/package/);
  assert.equal(typeof result.install_ms, "number");
  const npm = await once({ language: "node", code: "console.log('never')", dependencies: ["file:/no/such/package"] });
  assert.deepEqual([npm.phase, npm.stdout === "never\n"], ["install", false]);
  assert.notEqual(npm.exit_code, 0);
  await assertNoSessionStayed();
});

test("X6_the_time_limit_ends_the_program_and_its_output_so_far_is_kept", async () => {
  const result = await withinMs(
    "it ends long before the program would",
    120_000,
    python("print('so far', flush=True)\nimport time\ntime.sleep(600)", { timeout_ms: 2000 }),
  );
  assert.deepEqual([result.timed_out, result.exit_code, result.stdout], [true, 124, "so far\n"]);
  await assertNoSessionStayed();
});

test("the_session_goes_at_once_when_the_client_goes_away", async () => {
  const leave = new AbortController();
  const json = { language: "python", code: "import time\ntime.sleep(7611)" };
  const call = t.client.send("POST", "/v1/sessions/exec", { json, signal: leave.signal });
  await eventually("the program runs", async () => runs(".inis-program") && (await listed()).length === 2);
  leave.abort();
  await assert.rejects(call);
  await eventually("its session is gone", async () => (await listed()).length === 1);
  await eventually("its processes are gone", () => !runs(".inis-program"));
});

test("a_session_that_somebody_destroys_meanwhile_is_503", async () => {
  const json = { language: "python", code: "import time\ntime.sleep(7612)" };
  const call = t.client.send("POST", "/v1/sessions/exec", { json });
  const id = await eventually("the program runs", async () =>
    runs(".inis-program") ? (await listed()).find((one) => one !== t.session.id)! : false,
  );
  await t.client.expect(204, "DELETE", `/v1/sessions/${id}`);
  const reply = await call;
  assert.deepEqual([reply.status, reply.json.code], [503, "session_unavailable"]);
  await assertNoSessionStayed();
});

test("a_wrong_request_makes_no_session", async () => {
  const wrong: [JsonObject, number, string | undefined][] = [
    [{ language: "cobol", code: "1" }, 400, "language"],
    [{ language: "python" }, 400, "code"],
    [{ language: "python", code: "1", dependencies: ["-r", "x"] }, 400, "dependencies"],
    [{ language: "python", code: "1", dependencies: "requests" }, 400, "dependencies"],
    [{ language: "python", code: "1", size: "huge" }, 400, "size"],
    [{ language: "python", code: "1", template: "no-such-template" }, 404, undefined],
    [{ language: "python", code: "1", volume_id: "vol_x" }, 404, undefined],
  ];
  const before = await listed(t.client, { state: "ended" });
  for (const [json, status, field] of wrong) {
    const reply = await t.client.send("POST", "/v1/sessions/exec", { json });
    assert.deepEqual([reply.status, reply.json.field], [status, field], JSON.stringify(json));
  }
  assert.deepEqual(await listed(t.client, { state: "ended" }), before);
  await assertNoSessionStayed();
});

test("L1_many_of_them_at_once_leave_nothing", async () => {
  // Connections that stay are part of the footprint.
  await parallel(6, 12, () => python("1"));
  const before = await settledFootprint(t.server);
  const results = await parallel(6, 24, (index) => {
    if (index % 4 === 0) return python("import time\ntime.sleep(600)", { timeout_ms: 300 });
    if (index % 4 === 1) return python(`import os\nos.system('setsid sleep 7613 &')\nprint(${index})`);
    return python(`print(${index})`);
  });
  results.forEach((result, index) => {
    if (index % 4 !== 0) assert.equal(result.stdout, `${index}\n`);
  });
  await assertNoSessionStayed();
  await eventually("no process stayed", () => !runs("7613"));
  assert.deepEqual(await settledFootprint(t.server), before);
});

/** A program that runs; how its call ends is not known to be good. */
async function begin(client: RawClient): Promise<{ outcome: Promise<unknown> }> {
  const json = { language: "python", code: "import time\ntime.sleep(7614)" };
  const outcome = client.send("POST", "/v1/sessions/exec", { json }).catch((error: unknown) => error);
  await eventually("the program runs", () => runs(".inis-program"));
  return { outcome };
}

test("L1_a_server_that_is_killed_or_ends_keeps_no_session_of_one", async () => {
  const lost = await begin(t.client);
  process.kill(role(t.server, "front"), "SIGKILL");
  assert((await lost.outcome) instanceof Error, "nobody answers");
  await eventually("a new front has cleared it away", async () => (await listed()).length === 1);
  await eventually("its processes are gone", () => !runs(".inis-program"));

  const stopped = await begin(t.client);
  await t.server.terminate();
  await stopped.outcome;
  await t.server.launch();
  const again = t.server.client();
  await eventually("the next server has cleared it away", async () => (await listed(again)).length === 1);
  await eventually("its processes are gone", () => !runs(".inis-program"));
});
