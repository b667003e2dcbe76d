// SPDX-License-Identifier: Apache-2.0
// Sessions: what create promises, what get and list show, and a destroy that is legal in every state.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../support/contract.js";
import { eventually, parallel, withinMs } from "../support/helpers.js";
import { TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite();

const create = (json: JsonObject, headers?: Record<string, string>) =>
  t.client.send("POST", "/v1/sessions", { json, headers });
const list = async (query: Record<string, string | number> = {}) => {
  const { json } = await t.client.expect(200, "GET", "/v1/sessions", { query });
  return { sessions: json.sessions as JsonObject[], next: json.next_cursor as string | undefined };
};
const ids = (rows: JsonObject[]) => rows.map((row) => row.session_id);

test("create_answers_a_whole_session_and_it_becomes_live", async () => {
  const session = await TestSession.create(t.client);
  const live = await eventually("it is live", async () => {
    const info = await session.get();
    return info.state === "live" && info;
  });
  assert.deepEqual([live.isolation, live.size, live.vcpus, live.mem_mb], ["container", "small", 1, 1024]);
  assert.deepEqual([live.wake_on_http, live.template, live.status_detail], [true, undefined, undefined]);
  await session.destroy();
});

test("create_with_everything_is_shown_by_get_and_list", async () => {
  const body = {
    name: "Everything ☕",
    labels: { team: "a", "with space": "b=c" },
    external_id: "ext-everything",
    max_lifetime_ms: 86_400_000,
    idle_timeout_ms: 120_000,
    idle_mode: "activity",
    idle_busy_cpu_threshold_pct: 20,
    idle_busy_network_bytes_per_sec: 1000,
    size: "medium",
    no_sudo: true,
    wake_on_http: false,
    on_pty_detach: "keep_live",
    paused_ttl_ms: -1,
    command_capture: "full",
    env: { A: "1", B: "" },
  };
  const session = await TestSession.create(t.client, { ...body, secrets: { HIDDEN: "hush-hush-value" } });
  const { command_capture: _, ...shown } = body;
  for (const info of [
    session.info,
    await session.get(),
    (await list({ external_id: "ext-everything" })).sessions[0]!,
  ]) {
    for (const [key, value] of Object.entries(shown)) assert.deepEqual(info[key], value, key);
    assert.deepEqual(info.secret_names, ["HIDDEN"]);
    assert.deepEqual([info.vcpus, info.mem_mb], [2, 4096]);
    assert(!JSON.stringify(info).includes("hush-hush-value"), "a secret is never returned");
  }
  await session.destroy();
});

test("an_empty_body_and_an_empty_object_are_the_same", async () => {
  const reply = await t.client.send("POST", "/v1/sessions");
  assert([201, 202].includes(reply.status), `${reply.status}`);
  await t.client.expect(204, "DELETE", `/v1/sessions/${reply.json.session_id}`);
});

test("unknown_fields_and_nulls_are_ignored", async () => {
  const session = await TestSession.create(t.client, {
    no_such_field: { a: [1] },
    name: null,
    labels: null,
    size: null,
  });
  assert.equal((await session.get()).name, undefined);
  await session.destroy();
});

test("names_are_unique_among_sessions_that_have_not_ended", async () => {
  const first = await TestSession.create(t.client, { name: "only one" });
  const second = await create({ name: "only one" });
  assert.deepEqual([second.status, second.json.code], [409, "conflict"]);
  await first.destroy();
  const third = await TestSession.create(t.client, { name: "only one" });
  await third.destroy();
});

test("of_many_creates_of_one_name_at_once_one_wins", async () => {
  const replies = await parallel(8, 8, () => create({ name: "contended" }));
  const won = replies.filter((reply) => reply.status < 300);
  assert.equal(won.length, 1);
  assert(replies.every((reply) => reply.status < 300 || reply.json.code === "conflict"));
  await t.client.expect(204, "DELETE", `/v1/sessions/${won[0]!.json.session_id}`);
});

test("external_ids_need_not_be_unique_and_filter_exactly", async () => {
  const twins = [
    await TestSession.create(t.client, { external_id: "twin" }),
    await TestSession.create(t.client, { external_id: "twin" }),
  ];
  const other = await TestSession.create(t.client, { external_id: "twin2" });
  assert.deepEqual(
    ids((await list({ external_id: "twin" })).sessions).sort(),
    twins.map((session) => session.id).sort(),
  );
  assert.deepEqual(ids((await list({ external_id: "none-such" })).sessions), []);
  for (const session of [...twins, other]) await session.destroy();
});

test("list_pages_newest_first_without_gap_or_repetition", async () => {
  const made = await parallel(3, 7, (i) =>
    TestSession.create(t.client, { external_id: "paged", labels: { i: String(i) } }),
  );
  const all = ids((await list({ external_id: "paged" })).sessions);
  assert.equal(all.length, 7);
  for (const limit of [1, 2, 3, 7]) {
    const seen: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await list({ external_id: "paged", limit, ...(cursor ? { cursor } : {}) });
      assert(page.sessions.length <= limit);
      seen.push(...ids(page.sessions));
      cursor = page.next;
    } while (cursor);
    assert.deepEqual(seen, all, `limit ${limit}`);
  }
  const times = (await list({ external_id: "paged" })).sessions.map((row) => Date.parse(row.created_at as string));
  assert.deepEqual(
    times,
    [...times].sort((a, b) => b - a),
  );
  assert((await list({ limit: 100_000 })).sessions.length >= 7, "a large limit is clamped");
  for (const cursor of ["nonsense", "AAAA", "%%%", "MTIz"]) {
    const reply = await t.client.expect(400, "GET", "/v1/sessions", { query: { cursor } });
    assert.equal(reply.json.field, "cursor", cursor);
  }
  for (const session of made) await session.destroy();
});

test("list_filters_by_state_and_keeps_ended_ones_as_history", async () => {
  const session = await TestSession.create(t.client, { external_id: "history", name: "was here" });
  await session.exec(["true"]);
  assert(ids((await list({ state: "live" })).sessions).includes(session.id));
  assert(!ids((await list({ state: "ended" })).sessions).includes(session.id));
  await session.expect(204, "DELETE", "?reason=shell_exit");
  assert(!ids((await list()).sessions).includes(session.id));
  const [row] = (await list({ state: "ended", external_id: "history" })).sessions;
  assert.deepEqual([row?.session_id, row?.end_reason, row?.name], [session.id, "shell_exit", "was here"]);
  const bad = await t.client.expect(400, "GET", "/v1/sessions", { query: { state: "sleeping" } });
  assert.equal(bad.json.field, "state");
});

test("ended_history_is_paged_too", async () => {
  const made = await parallel(2, 5, () => TestSession.create(t.client, { external_id: "old" }));
  for (const session of made) await session.destroy();
  const seen: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await list({ state: "ended", external_id: "old", limit: 2, ...(cursor ? { cursor } : {}) });
    seen.push(...ids(page.sessions));
    cursor = page.next;
  } while (cursor);
  assert.deepEqual([...seen].sort(), made.map((session) => session.id).sort());
});

test("a_destroyed_session_is_404_for_everything", async () => {
  const session = await TestSession.create(t.client);
  await session.exec(["true"]);
  await session.destroy();
  const calls: [string, string, JsonObject?][] = [
    ["GET", ""],
    ["DELETE", ""],
    ["POST", "/exec", { command: ["true"] }],
    ["POST", "/exec?stream=true", { command: ["true"] }],
    ["GET", "/processes"],
    ["GET", "/processes/x/logs?follow=true"],
    ["PUT", "/files", { path: "x", content: "x" }],
    ["GET", "/files?op=list&path=."],
    ["GET", "/egress"],
  ];
  for (const [method, rest, json] of calls) {
    const reply = await session.expect(404, method, rest, { json });
    assert.equal(reply.json.code, "not_found", `${method} ${rest}`);
  }
});

test("L2_destroy_is_legal_right_after_create", async () => {
  for (let i = 0; i < 10; i++) await (await TestSession.create(t.client)).destroy();
});

test("L2_destroy_is_legal_while_commands_run", async () => {
  const session = await TestSession.create(t.client);
  await session.start("busy", ["sh", "-c", "while :; do :; done"]);
  const running = session.send("POST", "/exec", { json: { command: ["sleep", "600"] } });
  await eventually("it runs", async () => (await session.running("sleep 600")).length > 0);
  await withinMs("destroy", 60_000, session.destroy());
  await withinMs("the running exec is answered", 60_000, running);
});

test("L2_of_many_destroys_at_once_each_is_answered_and_one_counts", async () => {
  const session = await TestSession.create(t.client);
  const replies = await parallel(6, 6, () => session.send("DELETE", ""));
  assert(
    replies.every((reply) => [204, 404, 409].includes(reply.status)),
    String(replies.map((reply) => reply.status)),
  );
  assert(replies.some((reply) => reply.status === 204));
  await session.expect(404, "GET", "");
});

test("operations_on_a_session_that_is_still_creating_wait_for_it", async () => {
  await parallel(6, 12, async () => {
    const session = await TestSession.create(t.client);
    assert.equal(await session.output("echo ready"), "ready\n");
    await session.destroy();
  });
});

test("ids_are_21_lower_case_characters_and_anything_else_is_404", async () => {
  assert.match(t.session.id, /^[a-z0-9]{21}$/);
  for (const id of [
    "x",
    "a".repeat(21),
    "A".repeat(21),
    "..",
    "%2e%2e",
    "a".repeat(300),
    t.session.id.toUpperCase(),
    `${t.session.id}%00`,
  ]) {
    const reply = await t.client.send("GET", `/v1/sessions/${id}`);
    assert([404, 400].includes(reply.status), `${id}: ${reply.status}`);
  }
});

test("activity_mode_raises_a_short_idle_timeout", async () => {
  const session = await TestSession.create(t.client, { idle_mode: "activity", idle_timeout_ms: 1000 });
  assert.equal((await session.get()).idle_timeout_ms, 30_000);
  await session.destroy();
});

test("destroy_on_completion_ends_the_session_with_its_first_exec", async () => {
  const session = await TestSession.create(t.client, { destroy_on_completion: true, external_id: "one-shot" });
  assert.equal(await session.output("echo once"), "once\n");
  await eventually("it has ended", async () => {
    const { sessions } = await list({ state: "ended", external_id: "one-shot" });
    return sessions[0]?.end_reason === "client_destroy";
  });
});

test("idempotency_key_gives_the_same_session_for_the_same_content_only", async () => {
  const headers = { "idempotency-key": "key-1" };
  const body = { labels: { b: "2", a: "1" }, env: { X: "y" } };
  const first = await create(body, headers);
  assert(first.status < 300);
  const again = await create({ env: { X: "y" }, labels: { a: "1", b: "2" } }, headers);
  assert(again.status < 300, `${again.status} ${again.body}`);
  assert.equal(again.json.session_id, first.json.session_id);
  const other = await create({ ...body, env: { X: "z" } }, headers);
  assert.deepEqual([other.status, other.json.code], [409, "conflict"]);
  await t.client.expect(204, "DELETE", `/v1/sessions/${first.json.session_id}`);
  const fresh = await create(body, headers);
  assert(fresh.status < 300);
  assert.notEqual(fresh.json.session_id, first.json.session_id, "the key ended with its session");
  await t.client.expect(204, "DELETE", `/v1/sessions/${fresh.json.session_id}`);
});

test("idempotency_key_at_once_makes_one_session", async () => {
  const replies = await parallel(8, 8, () => create({ external_id: "once" }, { "idempotency-key": "key-2" }));
  const made = new Set(replies.filter((reply) => reply.status < 300).map((reply) => reply.json.session_id));
  assert.equal(made.size, 1);
  assert(replies.every((reply) => reply.status < 300 || reply.json.code === "idempotency_key_in_progress"));
  assert.equal((await list({ external_id: "once" })).sessions.length, 1);
  for (const key of ["", "x".repeat(256), "caf\u00e9", "tab\tinside"]) {
    const reply = await create({}, { "idempotency-key": key });
    assert.equal(reply.status, 400, JSON.stringify(key));
  }
});

test("getOrganisation_counts_running_sessions", async () => {
  const capacity = async () => {
    const { json } = await t.client.expect(200, "GET", "/v1/org");
    return json.capacity as { running: number; warm: number };
  };
  const before = await capacity();
  const session = await TestSession.create(t.client);
  assert.deepEqual(await capacity(), { ...before, running: before.running + 1 });
  await session.destroy();
  assert.deepEqual(await capacity(), before);
});
