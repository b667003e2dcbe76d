// SPDX-License-Identifier: Apache-2.0
// One command in several sessions: a result for each, in order, whatever becomes of the others.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../support/contract.js";
import { residentKb, role } from "../support/footprint.js";
import { eventually } from "../support/helpers.js";
import { sh, TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite();
const MiB = 1024 * 1024;
const NOBODY = "a".repeat(21);

const create = (body: JsonObject = {}) => TestSession.create(t.client, body);

async function batch(ids: string[], command: string[] | string, more: JsonObject = {}): Promise<JsonObject[]> {
  const json = { session_ids: ids, command, ...more };
  const reply = await t.client.expect(200, "POST", "/v1/sessions/batch/exec", { json });
  return reply.json.results as JsonObject[];
}

test("each_session_has_its_own_result_in_the_order_of_the_request", async () => {
  const sessions = await Promise.all(["a", "b", "c"].map((name) => create({ env: { WHO: name } })));
  const ids = sessions.map(({ id }) => id).reverse();
  const results = await batch(ids, ["sh", "-c", "echo $WHO; echo err >&2; pwd; [ $WHO != b ]"], { cwd: "/tmp" });
  assert.deepEqual(
    results.map(({ session_id, stdout, stderr, exit_code }) => [session_id, stdout, stderr, exit_code]),
    [
      [ids[0], "c\n/tmp\n", "err\n", 0],
      [ids[1], "b\n/tmp\n", "err\n", 1],
      [ids[2], "a\n/tmp\n", "err\n", 0],
    ],
  );
  await Promise.all(sessions.map((session) => session.destroy()));
});

test("a_session_that_cannot_be_used_never_fails_the_call", async () => {
  const [destroyed, ended] = await Promise.all([create(), create({ max_lifetime_ms: 1000 })]);
  await destroyed!.destroy();
  await eventually("a lifetime is over", async () => (await ended!.state()) === "ended");
  const results = await batch([NOBODY, t.session.id, "../x", destroyed!.id, ended!.id], "echo here");
  assert.deepEqual(
    results.map(({ session_id, stdout }) => [session_id, stdout]),
    [
      [NOBODY, undefined],
      [t.session.id, "here\n"],
      ["../x", undefined],
      [destroyed!.id, undefined],
      [ended!.id, undefined],
    ],
  );
  for (const index of [0, 2, 3]) assert.match(results[index]!.error as string, /does not exist/);
  assert.match(results[4]!.error as string, /has ended/);
  const [nowhere] = await batch([t.session.id], ["true"], { cwd: "/no/such/place" });
  assert.match(nowhere!.error as string, /cwd.*\/no\/such\/place/);
});

test("a_paused_session_is_resumed_and_a_session_named_twice_runs_it_twice", async () => {
  const session = await create();
  await session.pause();
  const results = await batch([session.id, session.id], ["sh", "-c", "echo x >>twice; hostname"]);
  assert.deepEqual(
    results.map(({ stdout }) => stdout),
    [`${session.id}\n`, `${session.id}\n`],
  );
  assert.equal(await session.output("cat twice"), "x\nx\n");
  assert.equal(await session.state(), "live");
  await session.destroy();
});

test("a_time_limit_holds_in_each_session", async () => {
  const results = await batch([t.session.id, t.session.id], ["sh", "-c", "printf part; sleep 600"], {
    timeout_ms: 500,
  });
  for (const result of results)
    assert.deepEqual([result.timed_out, result.exit_code, result.stdout], [true, 124, "part"]);
});

test("bytes_that_are_no_text_are_base64_of_that_stream_only", async () => {
  const [result] = await batch([t.session.id], ["sh", "-c", "printf 'a\\377'; printf ok >&2"]);
  assert.deepEqual(
    [result!.stdout, result!.stdout_encoding, result!.stderr, result!.stderr_encoding],
    [Buffer.from([0x61, 0xff]).toString("base64"), "base64", "ok", undefined],
  );
});

test("env_is_for_that_command_only", async () => {
  const [first] = await batch([t.session.id], ["printenv", "ONLY"], { env: { ONLY: "now" } });
  const [second] = await batch([t.session.id], ["printenv", "ONLY"]);
  assert.deepEqual([first!.stdout, second!.exit_code], ["now\n", 1]);
});

test("O4_output_of_all_sessions_together_is_bounded_and_what_was_cut_says_so", async () => {
  const front = role(t.server, "front");
  const ids = Array.from({ length: 100 }, () => t.session.id);
  const results = await batch(ids, ["sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x"]);
  const part = Math.floor((32 * MiB) / 2 / 100);
  for (const result of results)
    assert.deepEqual([(result.stdout as string).length, result.truncated, result.exit_code], [part, true, 0]);
  assert.equal(results[0]!.stdout_bytes, 1000000, "what was written is counted all the same");
  assert(residentKb(front) < 256 * 1024, `the front uses ${residentKb(front)} kB`);
  const [alone] = await batch([t.session.id], ["sh", "-c", "head -c 5000000 /dev/zero | tr '\\0' x"]);
  assert.deepEqual([(alone!.stdout as string).length, alone!.truncated], [4 * MiB, true]);
});

test("more_sessions_than_run_at_a_time_all_run", async () => {
  const script =
    "n=$(ls running 2>/dev/null | wc -l); mkdir -p running; f=running/$$; : >$f; sleep 0.2; rm $f; echo $n";
  const results = await batch(
    Array.from({ length: 20 }, () => t.session.id),
    ["sh", "-c", script],
  );
  assert.deepEqual(new Set(results.map(({ exit_code }) => exit_code)), new Set([0]));
  assert(Math.max(...results.map(({ stdout }) => Number(stdout))) < 8, "never more than eight at once");
});

test("the_commands_run_to_their_end_when_the_client_goes_away", async () => {
  const leave = new AbortController();
  const ids = Array.from({ length: 12 }, () => t.session.id);
  const json = {
    session_ids: ids,
    command: sh("echo begun >>left; until [ -e go ]; do sleep 0.05; done; echo ended >>left"),
  };
  const call = t.client.send("POST", "/v1/sessions/batch/exec", { json, signal: leave.signal });
  await eventually("the first ones run", async () => (await t.session.output("cat left")).split("\n").length > 8);
  leave.abort();
  await assert.rejects(call);
  await t.session.write("go", "");
  await eventually("all have ended", async () => (await t.session.output("grep -c ended left")) === "12\n");
});

test("a_session_that_is_destroyed_meanwhile_is_an_item_with_an_error", async () => {
  const session = await create();
  const call = batch([session.id, t.session.id], sh(`[ $(hostname) != ${session.id} ] || { : >up; sleep 600; }`));
  await eventually("it runs", async () => (await session.exec(["test", "-e", "up"])).exit_code === 0);
  await session.destroy();
  const [gone, other] = await call;
  assert.match(gone!.error as string, /does not exist/);
  assert.equal(other!.exit_code, 0);
});

test("destroy_on_completion_counts_a_batch_as_a_command", async () => {
  const session = await create({ destroy_on_completion: true });
  const [result] = await batch([session.id], ["true"]);
  assert.equal(result!.exit_code, 0);
  await eventually("it is gone", async () => (await session.send("GET", "")).status === 404);
});
