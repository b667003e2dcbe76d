// SPDX-License-Identifier: Apache-2.0
// Idle time, lifetime, time paused and leases: when each ends what, and what suspends it.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../support/contract.js";
import { footprint, settledFootprint } from "../support/footprint.js";
import { eventually, sleep } from "../support/helpers.js";
import { scale } from "../support/paths.js";
import { sh, TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite();

const IDLE = { idle_timeout_ms: 1000 };

const becomes = (session: TestSession, state: string): Promise<JsonObject> =>
  eventually(`it is ${state}`, async () => {
    const info = await session.get();
    return info.state === state && info;
  });

test("a_session_that_nobody_uses_is_paused_and_looking_at_it_is_no_use", async () => {
  const session = await TestSession.create(t.client, IDLE);
  const info = await becomes(session, "paused");
  assert.equal(info.snapshot_tier, "hot");
  assert.equal(await session.output("echo awake"), "awake\n");
  await becomes(session, "paused");
  await session.resume();
  await becomes(session, "paused");
  await session.destroy();
});

test("S10_an_operation_longer_than_the_idle_time_is_not_paused", async () => {
  const session = await TestSession.create(t.client, IDLE);
  const buffered = session.exec(sh("sleep 3; cat /run/inis/generation"));
  const stream = await session.execStream(sh("sleep 3; echo silent"));
  assert.equal((await buffered).stdout.split("\n")[0], "0", "it was never paused");
  assert.equal((await stream.collect()).stdout.toString(), "silent\n");
  await session.start("quiet", ["sleep", "600"]);
  const log = await session.follow("quiet");
  await sleep(2500);
  assert.equal(await session.state(), "live", "somebody follows a log");
  log.response.destroy();
  await becomes(session, "paused");
  await session.destroy();
});

test("S10_a_keep_alive_process_keeps_the_session_awake_as_long_as_it_runs", async () => {
  const session = await TestSession.create(t.client, IDLE);
  await session.start("server", sh("sleep 7; cat /run/inis/generation"), { keep_alive: true });
  await session.start("other", ["sleep", "600"]);
  await sleep(3000);
  assert.equal(await session.state(), "live");
  await becomes(session, "paused");
  assert.equal((await session.logs("server")).stdout.split("\n")[0], "0");
  assert.equal((await session.process("other")).state, "running");
  await session.destroy();
});

test("a_process_without_keep_alive_is_frozen_with_its_session", async () => {
  const session = await TestSession.create(t.client, IDLE);
  await session.start("server", ["sleep", "600"]);
  await becomes(session, "paused");
  assert.equal((await session.process("server")).state, "running");
  await session.destroy();
});

test("S10_in_mode_activity_a_busy_processor_defers_the_pause", { skip: scale < 1 && "takes two minutes" }, async () => {
  const session = await TestSession.create(t.client, { idle_timeout_ms: 1000, idle_mode: "activity" });
  assert.equal(session.info.idle_timeout_ms, 30_000);
  await session.start("busy", sh("while :; do :; done"));
  await sleep(50_000);
  assert.equal(await session.state(), "live");
  await session.kill("busy");
  await eventually("it idles", async () => (await session.state()) === "paused", 120_000);
  await session.destroy();
});

test("a_live_session_ends_with_its_lifetime_and_says_so", async () => {
  const session = await TestSession.create(t.client, { max_lifetime_ms: 1500, external_id: "short" });
  const running = session.send("POST", "/exec", { json: { command: ["sleep", "60"] } });
  const info = await becomes(session, "ended");
  assert.equal(info.end_reason, "max_lifetime");
  assert(Date.parse(info.ended_at as string) >= Date.parse(info.created_at as string) + 1500);
  assert.deepEqual([(await running).status, (await running).json.code], [410, "session_ended"]);
  const calls: [string, string][] = [
    ["POST", "/pause"],
    ["POST", "/resume"],
    ["GET", "/processes"],
  ];
  for (const [method, rest] of calls)
    assert.equal((await session.expect(410, method, rest)).json.code, "session_ended", rest);
  const { json } = await t.client.expect(200, "GET", "/v1/sessions", {
    query: { state: "ended", external_id: "short" },
  });
  assert.deepEqual((json.sessions as JsonObject[])[0], await session.get());
});

test("S7_a_pause_stretches_no_lifetime_and_an_expired_session_never_wakes", async () => {
  const session = await TestSession.create(t.client, { max_lifetime_ms: 5000 });
  await session.pause();
  await session.resume();
  await session.pause();
  const info = await becomes(session, "lifetime_expired");
  assert(Date.now() >= Date.parse(info.created_at as string) + 5000);
  for (const rest of ["/resume", "/exec"]) {
    const reply = await session.expect(410, "POST", rest, { json: { command: ["true"] } });
    assert.equal(reply.json.code, "session_ended");
  }
  assert.equal((await session.pause()).state, "lifetime_expired");
  await session.destroy();
  await session.expect(404, "GET", "");
});

test("a_session_paused_for_too_long_ends_and_a_negative_time_means_never", async () => {
  const session = await TestSession.create(t.client, { paused_ttl_ms: 3000 });
  const never = await TestSession.create(t.client, { paused_ttl_ms: -1 });
  const past = await TestSession.create(t.client, { paused_ttl_ms: 5000, max_lifetime_ms: 4000 });
  await past.pause();
  await session.pause();
  await session.resume();
  await sleep(3500);
  assert.equal(await session.state(), "live", "only time paused counts");
  await session.pause();
  await never.pause();
  assert.equal((await becomes(session, "ended")).end_reason, "paused_ttl");
  assert.equal((await becomes(past, "ended")).end_reason, "paused_ttl");
  assert.equal(await never.state(), "paused");
  await never.destroy();
});

test("S8_pauses_and_resumes_change_none_of_the_timers", async () => {
  const knobs = {
    idle_timeout_ms: 77_000,
    max_lifetime_ms: 9_999_000,
    paused_ttl_ms: 55_000,
    on_pty_detach: "keep_live",
  };
  const session = await TestSession.create(t.client, knobs);
  for (let i = 0; i < 3; i++) {
    for (const info of [await session.pause(), await session.resume()])
      for (const [name, value] of Object.entries(knobs)) assert.equal(info[name], value, name);
  }
  await session.destroy();
});

test("X22_odd_values_of_timers_are_refused_or_kept_never_bent", async () => {
  const large = 3_153_600_000_000;
  const bad: [string, unknown[]][] = [
    ["idle_timeout_ms", [0, 999, -1, large + 1, 2 ** 53, 1e300, 1.5, "1000", true]],
    ["max_lifetime_ms", [0, 999, -1, large + 1, 2 ** 53, "1000"]],
    ["paused_ttl_ms", [large + 1, 2 ** 53, -(2 ** 53), 0.5, "0"]],
    ["lease_ms", [0, 999, -1, large + 1, 2 ** 53, false]],
  ];
  for (const [field, values] of bad) {
    for (const value of values) {
      const reply = await t.client.expect(400, "POST", "/v1/sessions", { json: { [field]: value } as JsonObject });
      assert.equal(reply.json.field, field, `${field} ${value}`);
    }
  }
  const fine = {
    idle_timeout_ms: [1000, 2 ** 31, large],
    max_lifetime_ms: [2 ** 31, large],
    paused_ttl_ms: [0, -1, -(2 ** 31), large],
  };
  for (const [field, values] of Object.entries(fine)) {
    for (const value of values) {
      const session = await TestSession.create(t.client, { [field]: value });
      assert.equal((await session.get())[field], value);
      await session.pause();
      assert.equal(await session.output("echo fine"), "fine\n");
      await session.destroy();
    }
  }
});

test("L1_a_session_whose_lease_is_not_renewed_ends_and_leaves_nothing", async () => {
  const before = await settledFootprint(t.server);
  const sessions = [
    await TestSession.create(t.client, { lease_ms: 1500 }),
    await TestSession.create(t.client, { lease_ms: 1500 }),
  ];
  await sessions[0]!.start("p", ["sleep", "600"], { keep_alive: true });
  await sessions[1]!.pause();
  for (const session of sessions) {
    const info = await becomes(session, "ended");
    assert.deepEqual([info.end_reason, info.lease_ms], ["lease_expired", 1500]);
    await session.expect(410, "POST", "/lease");
    await session.expect(410, "POST", "/exec", { json: { command: ["true"] } });
  }
  await eventually("everything is as before", () => {
    const { frontFiles: _, brokerFiles: __, ...now } = footprint(t.server);
    const { frontFiles: ___, brokerFiles: ____, ...then } = before;
    assert.deepEqual(now, then);
    return true;
  });
});

test("a_lease_that_is_renewed_holds_whatever_the_session_does", async () => {
  const session = await TestSession.create(t.client, { lease_ms: 2000 });
  for (let i = 0; i < 8; i++) {
    await sleep(500);
    if (i === 2) await session.pause();
    if (i === 5) await session.resume();
    const { json } = await session.expect(200, "POST", "/lease", { json: {} });
    assert.equal(json.lease_ms, 2000);
    assert(Date.parse(json.expires_at as string) > Date.now());
  }
  assert.equal(await session.state(), "live");
  await session.destroy();
  await session.expect(404, "POST", "/lease");
  const without = await TestSession.create(t.client);
  assert.equal((await without.expect(409, "POST", "/lease")).json.code, "conflict");
  await without.destroy();
});
