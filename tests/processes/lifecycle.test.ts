// SPDX-License-Identifier: Apache-2.0
// Named processes belong to the session, not to the client that started them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, parallel, sleep, withinMs } from "../support/helpers.js";
import { sh, TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite();

test("P1_a_process_outlives_its_client_and_is_found_again_by_name", async () => {
  const starter = t.server.client();
  const started = await t.session
    .through(starter)
    .start("server", sh("i=0; while :; do i=$((i+1)); echo tick $i; sleep 0.2; done"));
  assert.equal(started.state, "running");
  starter.close();
  await sleep(process.env.INIS_TEST_LONG ? 60 * 60_000 : 30_000);
  const other = t.session.through(t.server.client());
  assert.equal((await other.process("server")).state, "running");
  const logs = await other.logs("server");
  assert(logs.stdout.startsWith("tick 1\ntick 2\n"), "from the very start");
  assert(logs.stdout.split("\n").length > 40, "and it has gone on");
  const killed = await other.kill("server");
  assert.deepEqual([killed.state, killed.killed, killed.exit_code], ["exited", true, 143]);
});

test("P12_list_shows_every_process_whoever_started_it", async () => {
  await t.session.start("mine", ["sleep", "600"]);
  await t.session.through(t.server.client()).start("yours", sh("exit 3"));
  await t.session.exited("yours");
  const { json } = await t.session.expect(200, "GET", "/processes");
  const rows = json.processes as { name: string; state: string; exit_code?: number }[];
  assert.equal(rows.find((row) => row.name === "mine")?.state, "running");
  assert.equal(rows.find((row) => row.name === "yours")?.exit_code, 3);
  await t.session.kill("mine");
});

test("a_process_object_says_what_runs", async () => {
  const command = ["sleep", "61.5"];
  const started = await t.session.start("object", command, { keep_alive: true });
  assert.deepEqual([started.command, started.keep_alive, started.exit_code], [command, true, undefined]);
  const seen = await t.session.output(`tr '\\0' ' ' </proc/${started.pid}/cmdline`);
  assert.equal(seen, "sleep 61.5 ", "pid is the guest's");
  await t.session.kill("object");
});

test("exit_codes_are_reported_zero_included", async () => {
  for (const code of [0, 1, 7, 255]) {
    await t.session.start(`exit-${code}`, sh(`exit ${code}`));
    const ended = await t.session.exited(`exit-${code}`);
    assert.deepEqual([ended.state, ended.exit_code, ended.killed], ["exited", code, undefined]);
  }
});

test("death_by_a_signal_of_its_own_is_128_plus_signal", async () => {
  await t.session.start("suicide", sh("kill -KILL $$"));
  const ended = await t.session.exited("suicide");
  assert.deepEqual([ended.exit_code, ended.signal], [137, 9]);
});

test("names_of_running_processes_are_taken_and_those_of_exited_ones_are_free", async () => {
  await t.session.start("taken", ["sleep", "600"]);
  const json = { name: "taken", command: ["true"], keep_alive: false };
  assert.equal((await t.session.expect(409, "POST", "/processes", { json })).json.code, "conflict");
  await t.session.kill("taken");
  await t.session.start("taken", sh("echo second; exit 5"));
  assert.equal((await t.session.exited("taken")).exit_code, 5);
  assert.equal((await t.session.logs("taken")).stdout, "second\n", "the history was replaced");
});

test("two_starts_of_one_name_at_once_give_one_process", async () => {
  for (let round = 0; round < 5; round++) {
    const json = { name: `race-${round}`, command: ["sleep", "600"], keep_alive: false };
    const replies = await parallel(8, 8, () => t.session.send("POST", "/processes", { json }));
    const statuses = replies.map((reply) => reply.status).sort();
    assert.deepEqual(statuses, [200, 409, 409, 409, 409, 409, 409, 409]);
    await t.session.kill(`race-${round}`, { grace_ms: 0 });
  }
});

test("names_of_43_and_64_characters_are_legal_and_others_are_refused", async () => {
  for (const name of [`mastra-${"0".repeat(36)}`, "a".repeat(64), "A.b_c-9", "..."]) {
    await t.session.start(name, ["true"]);
    await t.session.exited(name);
  }
  for (const name of ["", "a".repeat(65), "a b", "a/b", "é", ".", "..", "a\n"]) {
    const json = { name, command: ["true"], keep_alive: false };
    const reply = await t.session.expect(400, "POST", "/processes", { json });
    assert.equal(reply.json.field, "name", JSON.stringify(name));
  }
});

test("an_unknown_process_is_404_everywhere", async () => {
  const wanted = /process "ghost" not found/;
  for (const [method, rest] of [
    ["GET", "/processes/ghost"],
    ["DELETE", "/processes/ghost"],
    ["GET", "/processes/ghost/logs"],
    ["GET", "/processes/ghost/logs?follow=true"],
    ["POST", "/processes/ghost/stdin"],
  ] as const) {
    const reply = await t.session.expect(404, method, rest);
    assert.equal(reply.json.code, "not_found", rest);
    assert.match(reply.json.error as string, wanted);
  }
});

test("a_process_that_cannot_be_run_exits_with_127_or_126_and_says_why", async () => {
  await t.session.start("missing", ["no-such-program"]);
  assert.equal((await t.session.exited("missing")).exit_code, 127);
  assert.match((await t.session.logs("missing")).stderr, /no-such-program/);
  await t.session.start("directory", ["/workspace"]);
  assert.equal((await t.session.exited("directory")).exit_code, 126);
});

test("X21_a_bad_cwd_of_a_process_is_400_and_leaves_no_process", async () => {
  const json = { name: "nowhere", command: ["true"], cwd: "/nope", keep_alive: false };
  assert.equal((await t.session.expect(400, "POST", "/processes", { json })).json.field, "cwd");
  await t.session.expect(404, "GET", "/processes/nowhere");
});

test("process_env_wins_over_the_session_and_cwd_is_used", async () => {
  const session = await TestSession.create(t.client, { env: { A: "session", B: "kept" } });
  await session.start("env", sh('echo "$A $B"; pwd'), { env: { A: "process" }, cwd: "/tmp" });
  await session.exited("env");
  assert.equal((await session.logs("env")).stdout, "process kept\n/tmp\n");
  await session.destroy();
});

test("process_timeout_ends_it_and_says_so", async () => {
  await t.session.start("limited", sh("echo before; setsid sleep 62.5 & sleep 62.5"), { timeout_ms: 500 });
  const ended = await withinMs("the time limit", 60_000, t.session.exited("limited"));
  assert.deepEqual([ended.timed_out, ended.exit_code], [true, 124]);
  assert.equal((await t.session.logs("limited")).stdout, "before\n");
  assert.deepEqual(await t.session.running("sleep 62.5"), []);
  await t.session.start("unlimited", sh("sleep 0.5; exit 4"), { timeout_ms: 0 });
  assert.equal((await t.session.exited("unlimited")).exit_code, 4);
});

test("kill_waits_for_the_end_and_takes_everything_along", async () => {
  await t.session.start("family", sh('trap "" TERM; setsid sleep 63.5 & while :; do sleep 63.5; done'));
  await eventually("it runs", async () => (await t.session.running("sleep 63.5")).length >= 2);
  const killed = await t.session.kill("family", { grace_ms: 300 });
  assert.deepEqual([killed.state, killed.killed, killed.exit_code, killed.signal], ["exited", true, 137, 9]);
  assert.deepEqual(await t.session.running("sleep 63.5"), []);
});

test("kill_leaves_time_to_clean_up", async () => {
  await t.session.start("tidy", sh('trap "echo cleaned; exit 9" TERM; echo ready; while :; do sleep 0.05; done'));
  await eventually("it is ready", async () => (await t.session.logs("tidy")).stdout === "ready\n");
  const killed = await t.session.kill("tidy", { grace_ms: 30_000 });
  assert.deepEqual([killed.exit_code, killed.killed], [9, true]);
  assert.equal((await t.session.logs("tidy")).stdout, "ready\ncleaned\n");
});

test("kill_of_an_exited_process_changes_nothing", async () => {
  await t.session.start("over", sh("exit 6"));
  await t.session.exited("over");
  for (let i = 0; i < 2; i++) {
    const again = await t.session.kill("over");
    assert.deepEqual([again.state, again.exit_code, again.killed], ["exited", 6, false]);
  }
});

test("only_one_of_many_kills_did_it", async () => {
  await t.session.start("popular", ["sleep", "600"]);
  const answers = await parallel(6, 6, () => t.session.kill("popular"));
  assert.equal(answers.filter((answer) => answer.killed).length, 1);
  assert(answers.every((answer) => answer.state === "exited" && answer.exit_code === 143));
});

test("X4_a_background_child_of_an_exited_process_does_not_hold_its_end", async () => {
  await t.session.start("daemoniser", sh("sleep 64.5 & echo gone"));
  const { stdout, terminal } = await withinMs("eof", 30_000, (await t.session.follow("daemoniser")).collect());
  assert.deepEqual([stdout.toString(), terminal?.event], ["gone\n", "eof"]);
});

test("X11_a_silent_process_stays_running", async () => {
  await t.session.start("silent", ["sleep", "600"]);
  await sleep(process.env.INIS_TEST_LONG ? 600_000 : 5000);
  assert.equal((await t.session.process("silent")).state, "running");
  await t.session.kill("silent");
});

test("no_more_than_64_processes_run_at_a_time", async () => {
  const session = await TestSession.create(t.client);
  await parallel(8, 64, (i) => session.start(`p${i}`, ["sleep", "600"]));
  const json = { name: "one-more", command: ["sleep", "600"], keep_alive: false };
  assert.equal((await session.expect(409, "POST", "/processes", { json })).json.code, "conflict");
  await session.kill("p0", { grace_ms: 0 });
  await session.start("one-more", ["sleep", "600"]);
  assert.equal(await session.output("echo exec still works"), "exec still works\n");
  await session.destroy();
});

test("P11_zombies_are_reaped", async () => {
  await t.session.output('for i in $(seq 50); do (sh -c "exit 0" &) ; done; sleep 0.5');
  const count = "cat /proc/[0-9]*/stat 2>/dev/null | grep -c ') Z ' || true";
  await eventually("no zombie is left", async () => (await t.session.output(count)).trim() === "0");
});
