// SPDX-License-Identifier: Apache-2.0
// Sessions, the account and the common rules of requests and answers, as the published clients play them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomBytes } from "../support/helpers.js";
import { InisError, type Members } from "./clients/answers.js";
import type { CreateOptions } from "./clients/client.js";
import { exchange } from "./clients/socket.js";
import { players } from "./clients/suite.js";

const play = players();
const unique = () => randomBytes(6).toString("hex");

async function refused(work: Promise<unknown>, status: number, code: string): Promise<InisError> {
  const error = await work.then(
    () => assert.fail("it was not refused"),
    (reason: unknown) => reason,
  );
  assert(error instanceof InisError, String(error));
  assert.deepEqual([error.status, error.code], [status, code], error.message);
  return error;
}

play.both("creates_a_session_and_finds_everything_it_asked_for", async (client) => {
  const options: CreateOptions = {
    name: `the "first" ☕ ${unique()}`,
    labels: { team: "ä/b c", empty: "" },
    externalId: `key/${unique()}+ %2F`,
    idleTimeoutMs: 60_000,
    maxLifetimeMs: 3_600_000,
    pausedTtlMs: -1,
    egress: { mode: "deny" },
    size: "small",
    noSudo: true,
    onPtyDetach: "keep_live",
    commandCapture: "executable",
    env: { GREETING: "héllo" },
    secrets: { TOKEN: "s3cret" },
  };
  const info = await client.create(options);
  assert.equal(info.state, "live");
  assert.match(info.session_id, /^[a-z0-9]{21}$/);
  const want: Members = {
    name: options.name,
    labels: options.labels,
    external_id: options.externalId,
    idle_timeout_ms: 60_000,
    max_lifetime_ms: 3_600_000,
    paused_ttl_ms: -1,
    size: "small",
    no_sudo: true,
    on_pty_detach: "keep_live",
    env: options.env,
    secret_names: ["TOKEN"],
    wake_on_http: true,
  };
  const seen = await client.get(info.session_id);
  for (const [member, value] of Object.entries(want)) assert.deepEqual(seen[member], value, member);
  assert(!JSON.stringify(seen).includes("s3cret"));
  assert.equal(seen.egress.mode, "deny");
  const shown = await client.exec(info.session_id, 'printf "%s|%s" "$GREETING" "$TOKEN"');
  assert.equal(shown.stdout, "héllo|s3cret");
  const { sessions } = await client.list({ externalId: options.externalId! });
  assert.deepEqual(
    sessions.map(({ session_id }) => session_id),
    [info.session_id],
  );
  await refused(client.create({ name: options.name! }), 409, "conflict");
  await client.destroy(info.session_id);
});

play.both("walks_through_pages_of_the_list", async (client) => {
  const externalId = unique();
  const made = [];
  for (let i = 0; i < 3; i++) made.push((await client.create({ externalId })).session_id as string);
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.list({ externalId, state: "live", limit: 1, ...(cursor ? { cursor } : {}) });
    assert(page.sessions.length <= 1);
    found.push(...page.sessions.map(({ session_id }) => session_id as string));
    cursor = page.nextCursor;
  } while (cursor);
  assert.deepEqual(found, made.reverse());
  for (const id of made) await client.destroy(id);
});

play.both("pauses_and_resumes_and_may_do_so_twice", async (client, id) => {
  for (let i = 0; i < 2; i++) {
    const paused = await client.pause(id);
    assert.equal(paused.state, "paused");
    assert.equal(paused.snapshot_tier, "hot");
  }
  assert.equal((await client.get(id)).state, "paused");
  for (let i = 0; i < 2; i++) assert.equal((await client.resume(id)).state, "live");
  await client.pause(id);
  assert.equal((await client.exec(id, ["echo", "awake"])).stdout, "awake\n");
});

test("python_client_pauses_without_a_body_and_typescript_client_with_an_empty_object", async () => {
  const { session_id: id } = await play.python.create();
  assert.equal((await play.python.pause(id)).state, "paused");
  assert.equal((await play.typescript.resume(id)).state, "live");
  const { baseUrl, token } = play.python;
  const headers: [string, string][] = [["Authorization", `Bearer ${token}`]];
  const target = `/v1/sessions/${id}/pause`;
  const bare = await exchange(baseUrl, { method: "POST", target, headers });
  assert.equal(bare.status, 200, "not even a length of zero");
  assert.equal(JSON.parse((await bare.body()).toString()).state, "paused");
  await play.python.destroy(id);
});

play.both("sees_one_session_for_one_idempotency_key", async (client) => {
  const options = { idempotencyKey: `key ${unique()}`, labels: { a: "1", b: "2" } };
  const first = await client.create(options);
  const again = await client.create({ ...options, labels: { b: "2", a: "1" } });
  assert.equal(again.session_id, first.session_id);
  await refused(client.create({ ...options, labels: { a: "2" } }), 409, "conflict");
  await client.destroy(first.session_id);
});

play.both("is_told_404_after_it_destroyed_a_session", async (client) => {
  const { session_id: id } = await client.create({ externalId: unique() });
  await client.destroy(id, "shell_exit");
  await refused(client.get(id), 404, "not_found");
  await refused(client.exec(id, "true"), 404, "not_found");
  await refused(client.destroy(id), 404, "not_found");
  const { sessions } = await client.list({ state: "ended", limit: 200 });
  const row = sessions.find(({ session_id }) => session_id === id);
  assert.equal(row?.end_reason, "shell_exit");
  assert.match(row?.ended_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
});

play.both("reads_the_egress_policy_and_the_capacity", async (client, id) => {
  const policy = await client.egress(id);
  assert.equal(policy.session_id, id);
  assert(["allow", "deny"].includes(policy.mode));
  assert(Array.isArray(policy.allow));
  const before = await client.capacity();
  assert(before.running >= 1);
  await client.pause(id);
  const after = await client.capacity();
  assert.deepEqual([after.running, after.warm], [before.running - 1, before.warm + 1]);
});

play.both("lists_templates_and_cannot_delete_the_server_s_own", async (client) => {
  const templates = await client.templates();
  const host = templates.find(({ name }) => name === "host");
  assert.deepEqual([host?.kind, host?.status], ["official", "ready"]);
  await refused(client.deleteTemplate("host"), 403, "forbidden");
  await refused(client.deleteTemplate("no-such-template"), 404, "not_found");
  const { session_id: id } = await client.create({ template: "host" });
  assert.equal((await client.exec(id, ["true"])).exit_code, 0);
  await client.destroy(id);
  await refused(client.create({ template: "no-such-template" }), 404, "not_found");
});

play.both("is_refused_with_a_wrong_key_by_every_kind_of_call", async (client, id) => {
  const Kind = client.constructor as new (baseUrl: string, token: string) => typeof client;
  const stranger = new Kind(client.baseUrl, "sk_wrong");
  for (const call of [
    stranger.list(),
    stranger.create(),
    stranger.exec(id, "true"),
    stranger.download(id, "x"),
    stranger.upload(id, "x", Buffer.from("x")),
    stranger.execStream(id, "true").next(),
    stranger.destroy(id),
  ])
    assert.equal((await refused(call, 401, "unauthenticated")).retryable, false);
});

test("python_client_runs_one_command_in_a_session_of_its_own_without_waiting_for_it", async () => {
  const before = await play.python.list({ limit: 200 });
  const result = await play.python.execOnce("echo once; exit 4");
  assert.deepEqual([result.stdout, result.exit_code], ["once\n", 4]);
  const after = await play.python.list({ limit: 200 });
  assert.equal(after.sessions.length, before.sessions.length);
});

test("health_is_told_without_a_key", async () => {
  const answer = await exchange(play.typescript.baseUrl, { method: "GET", target: "/v1/healthz", headers: [] });
  assert.equal(answer.status, 200);
  assert.equal(JSON.parse((await answer.body()).toString()).status, "ok");
});

test("paths_are_never_answered_with_a_redirect", async () => {
  const { baseUrl, token } = play.python;
  const headers: [string, string][] = [["Authorization", `Bearer ${token}`]];
  for (const target of ["/", "/v1", "/v1/", "/v1/sessions/", "//v1/sessions", "/v1/sessions/../sessions", "/v1/nope"]) {
    const answer = await exchange(baseUrl, { method: "GET", target, headers });
    assert(answer.status < 300 || answer.status >= 400, `${target}: ${answer.status}`);
    assert.equal(answer.headers.get("location"), undefined);
    answer.close();
  }
});
