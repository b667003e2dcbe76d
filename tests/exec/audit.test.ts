// SPDX-License-Identifier: Apache-2.0
// What was run in a session is written down, as much of it as the session's owner wants, and stays readable.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "../support/contract.js";
import { role } from "../support/footprint.js";
import { eventually, parallel } from "../support/helpers.js";
import type { RawClient } from "../support/http.js";
import { sh, TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";
import { Terminal } from "../support/terminal.js";

const t = suite();

const create = (body: JsonObject = {}) => TestSession.create(t.client, body);

async function audit(id: string, client: RawClient = t.client): Promise<JsonObject[]> {
  const { json } = await client.expect(200, "GET", `/v1/sessions/${id}/audit`);
  return json.entries as JsonObject[];
}

/** As the contract has it: each item followed by a zero byte. */
const hashOf = (...argv: string[]) =>
  createHash("sha256")
    .update(argv.map((word) => `${word}\0`).join(""))
    .digest("hex");

test("an_exec_leaves_one_entry_with_who_when_what_and_how_it_ended", async () => {
  const session = await create();
  const before = Date.now();
  await session.exec(["sh", "-c", "exit 3"], { cwd: "/tmp", env: { SECRET: "hidden-env" } });
  const [entry, ...rest] = await audit(session.id);
  assert.deepEqual(rest, []);
  const { seq, started_at, ended_at, duration_ms, cpu_ms, key_id, ...fixed } = entry!;
  assert.deepEqual(fixed, { kind: "exec", command_sha256: hashOf("sh", "-c", "exit 3"), exit_code: 3 });
  assert.equal(key_id, createHash("sha256").update(t.server.token).digest("hex").slice(0, 16));
  assert(Date.parse(started_at as string) >= before - 1000 && Date.parse(started_at as string) <= Date.now() + 1000);
  assert((ended_at as string) >= (started_at as string));
  assert([seq, duration_ms, cpu_ms].every((value) => typeof value === "number"));
  await session.destroy();
});

test("command_capture_says_what_is_kept_of_a_command", async () => {
  const secret = "argv-only-for-full";
  const kept = async (body: JsonObject) => {
    const session = await create(body);
    await session.exec(["echo", secret]);
    const [entry] = await audit(session.id);
    await session.destroy();
    const { command, command_sha256, executable } = entry!;
    return { command, command_sha256, executable };
  };
  const nothing = { command: undefined, command_sha256: undefined, executable: undefined };
  assert.deepEqual(await kept({}), { ...nothing, command_sha256: hashOf("echo", secret) });
  assert.deepEqual(await kept({ command_capture: "hash" }), { ...nothing, command_sha256: hashOf("echo", secret) });
  assert.deepEqual(await kept({ command_capture: "executable" }), { ...nothing, executable: "echo" });
  assert.deepEqual(await kept({ command_capture: "full" }), { ...nothing, command: ["echo", secret] });
});

test("a_long_command_is_kept_in_part", async () => {
  const session = await create({ command_capture: "full" });
  await session.exec(["true", "ü".repeat(40_000), "unseen"]);
  const [entry] = await audit(session.id);
  assert.equal(entry!.command_truncated, true);
  const [first, second, ...rest] = entry!.command as string[];
  assert.deepEqual([first, rest.length, second], ["true", 0, "ü".repeat((32 * 1024 - 4) / 2)]);
  await session.destroy();
});

test("every_way_to_run_something_leaves_an_entry_the_latest_first", async () => {
  const session = await create({ command_capture: "full" });
  await session.exec("echo line");
  await (await session.execStream(sh("exit 4"))).collect();
  const json = { session_ids: [session.id], command: ["sh", "-c", "exit 5"] };
  await t.client.expect(200, "POST", "/v1/sessions/batch/exec", { json });
  await session.start("named", ["sleep", "0"]);
  const terminal = await Terminal.open(session, { cmd: ["sh", "-c", "exit 6"] });
  await eventually("the terminal ends", () => terminal.exitCode !== undefined);
  await session.send("POST", "/exec", { json: { command: ["true"], cwd: "/no/such/place" } });
  await session.exec(sh("sleep 600"), { timeout_ms: 200 });
  const seen = (await audit(session.id)).map(({ kind, name, command, exit_code, timed_out, error }) => [
    kind,
    name ?? null,
    (command as string[]).join(" "),
    exit_code ?? null,
    timed_out ?? error ?? null,
  ]);
  assert.deepEqual(seen, [
    ["exec", null, "sh -c sleep 600", 124, true],
    ["exec", null, "true", null, "bad_request"],
    ["pty", null, "sh -c exit 6", 6, null],
    ["process", "named", "sleep 0", null, null],
    ["batch_exec", null, "sh -c exit 5", 5, null],
    ["exec", null, "sh -c exit 4", 4, null],
    ["exec", null, "bash -lc echo line", 0, null],
  ]);
  await session.destroy();
});

test("a_command_that_runs_is_there_without_an_end", async () => {
  const session = await create();
  const call = session.exec(sh("until [ -e go ]; do sleep 0.05; done"));
  const [entry] = await eventually("it is written", async () => {
    const entries = await audit(session.id);
    return entries.length > 0 && entries;
  });
  assert.deepEqual([entry!.ended_at, entry!.exit_code], [undefined, undefined]);
  await session.write("go", "");
  await call;
  const [ended, ...rest] = await audit(session.id);
  assert.deepEqual([ended!.seq, ended!.exit_code, rest.length], [entry!.seq, 0, 0]);
  await session.destroy();
});

test("pages_lead_through_all_entries_without_gap_or_double", async () => {
  const session = await create({ command_capture: "full" });
  await parallel(4, 25, (index) => session.exec(["echo", String(index)]));
  const seen: JsonObject[] = [];
  let cursor: string | undefined;
  do {
    const query: Record<string, string | number> = cursor ? { limit: 10, cursor } : { limit: 10 };
    const { json } = await session.expect(200, "GET", "/audit", { query });
    const entries = json.entries as JsonObject[];
    assert(entries.length <= 10);
    seen.push(...entries);
    cursor = json.next_cursor as string | undefined;
  } while (cursor);
  assert.deepEqual(
    seen.map(({ seq }) => seq),
    seen.map(({ seq }) => seq as number).sort((a, b) => b - a),
  );
  assert.deepEqual(
    new Set(seen.map(({ command }) => (command as string[])[1])),
    new Set(Array.from({ length: 25 }, (_, index) => String(index))),
  );
  assert.equal(seen.length, 25);
  await session.destroy();
});

test("the_log_is_that_of_one_session_and_outlives_it", async () => {
  const [one, other] = await Promise.all([create(), create({ max_lifetime_ms: 5000 })]);
  await Promise.all([one!.exec(["echo", "one"]), other!.exec(["echo", "other"])]);
  await one!.destroy();
  assert.deepEqual(
    (await audit(one!.id)).map(({ command_sha256 }) => command_sha256),
    [hashOf("echo", "one")],
  );
  await eventually("a lifetime is over", async () => (await other!.state()) === "ended");
  assert.deepEqual(
    (await audit(other!.id)).map(({ command_sha256 }) => command_sha256),
    [hashOf("echo", "other")],
  );
  const nobody = await t.client.send("GET", `/v1/sessions/${"a".repeat(21)}/audit`);
  assert.deepEqual([nobody.status, nobody.json.code], [404, "not_found"]);
});

test("reading_it_does_not_wake_a_paused_session", async () => {
  const session = await create();
  await session.exec(["true"]);
  await session.pause();
  assert.equal((await audit(session.id)).length, 1);
  assert.equal(await session.state(), "paused");
  await session.destroy();
});

test("L15_neither_secrets_nor_environment_nor_input_nor_output_are_kept", async () => {
  const secrets = ["sec-value-1", "env-value-2", "call-value-3", "stdin-value-4", "output-value-5", "/tmp/cwd-6"];
  const session = await create({ command_capture: "full", secrets: { A: secrets[0]! }, env: { B: secrets[1]! } });
  await session.exec(sh("mkdir -p /tmp/cwd-6; echo output-value-$((2 + 3))"));
  await session.exec(["cat"], { env: { C: secrets[2]! }, stdin: secrets[3]!, cwd: secrets[5]! });
  const entries = await audit(session.id);
  assert.equal(entries.length, 2);
  const own = JSON.stringify(entries).replace("mkdir -p /tmp/cwd-6", "");
  for (const secret of secrets) assert(!own.includes(secret), secret);
  await session.destroy();
});

test("it_survives_a_restart_and_a_kill_after_a_moment", async () => {
  const session = await create();
  await session.exec(["echo", "kept"]);
  await t.server.terminate();
  await t.server.launch();
  const again = t.server.client();
  const [entry] = await audit(session.id, again);
  assert.deepEqual([entry!.command_sha256, entry!.exit_code], [hashOf("echo", "kept"), 0]);
  await session.through(again).exec(["echo", "second"]);
  await audit(session.id, again);
  process.kill(role(t.server, "front"), "SIGKILL");
  const entries = await eventually("a new front answers", () => audit(session.id, again));
  assert.deepEqual(
    entries.map(({ command_sha256 }) => command_sha256),
    [hashOf("echo", "second"), hashOf("echo", "kept")],
  );
  assert((entries[0]!.seq as number) > (entries[1]!.seq as number));
});

test("the_hash_mode_leaves_no_argument_on_the_disk", async () => {
  const client = t.server.client();
  const session = await TestSession.create(client, {});
  await session.exec(["echo", "never-on-the-disk-7"]);
  await audit(session.id, client);
  await session.destroy();
  const folder = join(t.server.stateDir, "db");
  for (const name of readdirSync(folder))
    assert(!readFileSync(join(folder, name)).includes("never-on-the-disk-7"), name);
});
