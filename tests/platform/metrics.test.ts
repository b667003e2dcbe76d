// SPDX-License-Identifier: Apache-2.0
// GET /metrics: well formed, bounded, and its numbers are those of what was really done.
import assert from "node:assert/strict";
import { test } from "node:test";
import { operations } from "../support/contract.js";
import { role } from "../support/footprint.js";
import { eventually } from "../support/helpers.js";
import { type Labels, Metrics } from "../support/prometheus.js";
import { Server } from "../support/server.js";
import { sh, TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";
import { Terminal } from "../support/terminal.js";
import { Wire } from "../support/wire.js";

const t = suite();

const scrape = () => Metrics.scrape(t.client);

/** By how much a number grows while the work is done. */
async function growth(work: () => Promise<unknown>, name: string, labels: Labels = {}): Promise<number> {
  const before = (await scrape()).get(name, labels);
  await work();
  return (await scrape()).get(name, labels) - before;
}

test("every_metric_is_well_formed_and_says_what_it_means", async () => {
  const metrics = await scrape();
  for (const name of [
    "inis_sessions",
    "inis_session_creates_total",
    "inis_pool_ready",
    "inis_pool_target",
    "inis_pool_hits_total",
    "inis_pool_misses_total",
    "inis_execs_started_total",
    "inis_execs_ended_total",
    "inis_processes_started_total",
    "inis_terminals",
    "inis_http_requests_total",
    "inis_http_request_duration_seconds",
    "inis_http_received_bytes_total",
    "inis_http_sent_bytes_total",
    "inis_http_connections",
    "inis_broker_duration_seconds",
    "inis_store_queue",
    "inis_store_commit_duration_seconds",
    "inis_loop_turn_duration_seconds",
    "inis_agent_reconnects_total",
    "inis_limited_total",
  ])
    assert(metrics.families.has(name), name);
  assert.equal(metrics.get("inis_build_info", { version: t.server.version }), 1);
  assert(metrics.get("process_start_time_seconds") > Date.now() / 1000 - 3600);
});

test("L6_creates_and_what_the_pool_had_for_them_are_counted", async () => {
  const before = await scrape();
  const made: TestSession[] = [];
  for (let i = 0; i < 3; i++) made.push(await TestSession.create(t.client));
  const after = await scrape();
  const ends = (metrics: Metrics, result: string) => metrics.get("inis_session_creates_total", { result });
  const created = (metrics: Metrics) => ends(metrics, "pooled") + ends(metrics, "unpooled");
  assert.equal(created(after) - created(before), 3);
  assert.equal(after.get("inis_pool_hits_total"), ends(after, "pooled"));
  assert.equal(after.get("inis_pool_misses_total"), ends(after, "unpooled"));
  const live = (metrics: Metrics) => metrics.get("inis_sessions", { state: "live" });
  assert.equal(live(after) - live(before), 3);
  assert.equal(
    after.get("inis_broker_duration_seconds_count", { verb: "create" }) -
      before.get("inis_broker_duration_seconds_count", { verb: "create" }),
    3,
  );
  assert(after.get("inis_store_writes_total") - before.get("inis_store_writes_total") >= 3);
  const refused = await growth(
    () => t.client.expect(400, "POST", "/v1/sessions", { json: { size: "absurd" } }),
    "inis_session_creates_total",
    { result: "refused" },
  );
  assert.equal(refused, 1);
  for (const session of made) await session.destroy();
  assert.equal(live(await scrape()), live(before));
});

test("a_pool_of_none_has_no_hits", async () => {
  const server = await Server.start({ pool: 0 });
  try {
    const client = server.client();
    for (let i = 0; i < 2; i++) await TestSession.create(client);
    const metrics = await Metrics.scrape(client);
    // The first unit, which proves at the start that there can be any, serves one.
    assert.equal(metrics.get("inis_pool_target"), 0);
    assert.equal(metrics.get("inis_pool_hits_total") + metrics.get("inis_pool_misses_total"), 2);
    assert(metrics.get("inis_pool_misses_total") >= 1);
  } finally {
    await server.stop();
  }
});

test("a_pool_that_is_full_says_so", async () => {
  await eventually("the pool is filled", async () => {
    const metrics = await scrape();
    assert.equal(metrics.get("inis_pool_ready"), metrics.get("inis_pool_target"));
    return metrics.get("inis_pool_target") === 4;
  });
});

test("commands_are_counted_by_how_they_ended", async () => {
  const ended = (outcome: string, work: () => Promise<unknown>) => growth(work, "inis_execs_ended_total", { outcome });
  assert.equal(await growth(() => t.session.output("true"), "inis_execs_started_total"), 1);
  assert.equal(await ended("exited", () => t.session.exec(sh("exit 3"))), 1);
  assert.equal(await ended("timed_out", () => t.session.exec(["sleep", "60"], { timeout_ms: 50 })), 1);
  const nowhere = { json: { command: ["true"], cwd: "/nowhere" } };
  assert.equal(await ended("not_started", () => t.session.expect(400, "POST", "/exec", nowhere)), 1);
  const cancelled = await ended("cancelled", async () => {
    const running = t.session.exec(["sleep", "600"], { exec_id: "metrics" });
    await eventually("it runs", async () => (await scrape()).get("inis_execs_running") === 1);
    await eventually("it is cancelled", async () => (await t.session.send("DELETE", "/execs/metrics")).status < 300);
    await running;
  });
  assert.equal(cancelled, 1);
  const other = await TestSession.create(t.client);
  const lost = await ended("lost", async () => {
    const stream = await other.execStream(["sleep", "600"]);
    await eventually("it runs", async () => (await scrape()).get("inis_execs_running") === 1);
    await other.destroy();
    await stream.collect();
  });
  assert.equal(lost, 1);
  const metrics = await scrape();
  assert.equal(metrics.get("inis_execs_running"), 0);
  assert.equal(metrics.get("inis_execs_started_total"), metrics.sum("inis_execs_ended_total"));
});

test("processes_and_terminals_are_counted", async () => {
  assert.equal(await growth(() => t.session.start("counted", ["true"]), "inis_processes_started_total"), 1);
  const attached = await growth(async () => {
    const terminal = await Terminal.open(t.session, { cmd: ["cat"] });
    assert.equal((await scrape()).get("inis_terminals"), 1);
    terminal.socket.socket.destroy();
    await eventually("it is gone", async () => (await scrape()).get("inis_terminals") === 0);
  }, "inis_terminals_attached_total");
  assert.equal(attached, 1);
});

test("requests_are_counted_by_route_and_class_never_by_path", async () => {
  const before = await scrape();
  const ids = Array.from({ length: 20 }, (_, i) => `${i}`.padStart(21, "x"));
  for (const id of ids) await t.client.expect(404, "GET", `/v1/sessions/${id}`);
  for (const id of ids) await t.client.expect(404, "GET", `/no-such-route/${id}`);
  for (const id of ids) await t.client.expect(404, "GET", `/v1/sessions/${t.session.id}/processes/${id}`);
  const after = await scrape();
  const grown = (method: string, route: string, status: string) =>
    after.get("inis_http_requests_total", { method, route, status }) -
    before.get("inis_http_requests_total", { method, route, status });
  assert.equal(grown("GET", "/v1/sessions/{id}", "4xx"), 20);
  assert.equal(grown("", "", "4xx"), 20);
  assert.equal(grown("GET", "/v1/sessions/{id}/processes/{name}", "4xx"), 20);
  const routes = new Set(operations.map(({ method, path }) => `${method} ${path}`));
  for (const { name, labels } of after.samples) {
    for (const id of ids) assert(!Object.values(labels).some((value) => value.includes(id)), `${name} names a path`);
    if (name !== "inis_http_requests_total" || labels.route === "") continue;
    assert(routes.has(`${labels.method} ${labels.route}`), `${labels.method} ${labels.route}`);
  }
  const durations = { method: "GET", route: "/v1/sessions/{id}" };
  assert.equal(
    after.get("inis_http_request_duration_seconds_count", durations) -
      before.get("inis_http_request_duration_seconds_count", durations),
    20,
  );
});

test("bytes_connections_and_malformed_requests_are_counted", async () => {
  const big = Buffer.alloc(3_000_000, "x");
  const upload = () => t.session.send("PUT", "/files/stream", { query: { path: "big" }, body: big });
  const received = await growth(upload, "inis_http_received_bytes_total");
  assert(received >= big.length && received < big.length + 100_000, `${received}`);
  const sent = await growth(() => t.session.download("big"), "inis_http_sent_bytes_total");
  assert(sent >= big.length && sent < big.length + 200_000, `${sent}`);
  const malformed = await growth(async () => {
    const wire = await Wire.open(t.server);
    wire.send("NONSENSE\r\n\r\n");
    await wire.refusal(400, "bad_request");
    wire.close();
  }, "inis_http_malformed_total");
  assert.equal(malformed, 1);
  const open = (await scrape()).get("inis_http_connections");
  const wire = await Wire.open(t.server);
  await eventually("it is counted", async () => (await scrape()).get("inis_http_connections") > open);
  wire.close();
});

test("counters_begin_anew_with_the_http_side", async () => {
  const before = role(t.server, "front");
  process.kill(before, "SIGKILL");
  await eventually("another front serves", async () => {
    await t.client.expect(200, "GET", "/v1/healthz");
    return role(t.server, "front") !== before;
  });
  assert.equal(await t.session.output("echo back"), "back\n");
  assert.equal((await scrape()).get("inis_session_creates_total", { result: "pooled" }), 0, "counters begin anew");
});

test("the_metrics_need_a_key_unless_they_are_opened_to_this_machine", async () => {
  assert.equal((await t.client.send("GET", "/metrics", { token: null })).status, 401);
  const open = await Server.start({ metrics_local: true });
  try {
    const client = open.client();
    assert.equal((await client.send("GET", "/metrics", { token: null })).status, 200);
    for (const headers of [
      { "x-forwarded-for": "203.0.113.9" },
      { forwarded: "for=203.0.113.9" },
      { "x-real-ip": "203.0.113.9" },
      { via: "1.1 proxy" },
    ] as Record<string, string>[]) {
      const reply = await client.send("GET", "/metrics", { token: null, headers });
      assert.equal(reply.status, 401, JSON.stringify(headers));
      assert.equal((await client.send("GET", "/metrics", { headers })).status, 200);
    }
    assert.equal((await client.send("GET", "/v1/org", { token: null })).status, 401);
  } finally {
    await open.stop();
  }
});

test("a_stuck_broker_does_not_keep_the_metrics_back", async () => {
  const broker = role(t.server, "broker");
  process.kill(broker, "SIGSTOP");
  try {
    const metrics = await scrape();
    assert.equal(metrics.get("inis_pool_target"), 4, "as it said last");
  } finally {
    process.kill(broker, "SIGCONT");
  }
  await t.session.output("true");
});
