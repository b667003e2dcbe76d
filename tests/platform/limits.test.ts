// SPDX-License-Identifier: Apache-2.0
// Limits: what is over one is told so and when to come again, and nothing that makes room is ever held back.
import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { test } from "node:test";
import { Client, InisError } from "@inis-run/sdk";
import type { JsonObject } from "../support/contract.js";
import { eventually, parallel, randomBytes, sleep } from "../support/helpers.js";
import type { RawClient, Reply } from "../support/http.js";
import { Metrics } from "../support/prometheus.js";
import { Server } from "../support/server.js";
import { TestSession } from "../support/session.js";
import { head, Wire } from "../support/wire.js";

async function withServer(config: JsonObject, use: (server: Server, client: RawClient) => Promise<void>) {
  const server = await Server.start(config);
  try {
    await use(server, server.client());
  } finally {
    await server.stop();
  }
}

function assertLimited(reply: Reply, what: string): void {
  assert.deepEqual([reply.status, reply.json.code], [429, "rate_limited"], `${what}: ${reply.body}`);
  assert.equal(reply.headers["retry-after"], "1", what);
}

const create = (client: RawClient) => client.send("POST", "/v1/sessions", { json: {} });
const limited = async (client: RawClient, limit: string) =>
  (await Metrics.scrape(client)).get("inis_limited_total", { limit });

/** A second key, which needs a start of its own to count. */
async function addKey(server: Server): Promise<string> {
  const key = `sk_${randomBytes(33).toString("base64url").replace(/[-_]/g, "0").slice(0, 43)}`;
  await server.terminate();
  appendFileSync(server.keyFile, `${key}\n`);
  await server.launch();
  return key;
}

test("L9_at_the_cap_of_sessions_a_create_is_429_and_succeeds_after_a_release", async () => {
  await withServer({ sessions_max: 2 }, async (server, client) => {
    const first = await TestSession.create(client);
    await TestSession.create(client);
    for (let i = 0; i < 3; i++) assertLimited(await create(client), "a third session");
    assert.equal(await limited(client, "sessions"), 3);
    const { json } = await client.expect(200, "GET", "/v1/org");
    assert.deepEqual(json.capacity, { running: 2, warm: 0, limits: { running: 2, warm: 2 } });

    const sdk = new Client({ baseUrl: server.baseUrl, token: server.token });
    const refusal = await sdk.sessions.create().catch((error: unknown) => error);
    assert(refusal instanceof InisError, `${refusal}`);
    assert.deepEqual(
      [refusal.code, refusal.status, refusal.retryable, refusal.retryAfter],
      ["rate_limited", 429, true, 1],
    );

    await first.destroy();
    assert.equal((await create(client)).status, 201);
  });
});

test("L9_a_paused_session_is_woken_only_when_there_is_room", async () => {
  await withServer({ sessions_max: 1 }, async (_server, client) => {
    const first = await TestSession.create(client);
    await first.pause();
    const second = await TestSession.create(client);
    assertLimited(await first.send("POST", "/exec", { json: { command: ["true"] } }), "a command that would wake it");
    assertLimited(await first.send("POST", "/resume"), "a resume");
    assert.equal(await first.state(), "paused");
    await second.destroy();
    assert.equal(await first.output("echo woken"), "woken\n");
  });
});

test("L9_each_key_has_a_cap_of_its_own_that_outlives_a_restart", async () => {
  await withServer({ sessions_per_key_max: 1 }, async (server) => {
    const mine = await TestSession.create(server.client());
    const key = await addKey(server);
    const client = server.client();
    const other = server.client(key);
    assertLimited(await create(client), "a second session of the first key");
    assert.equal((await create(other)).status, 201);
    assertLimited(await create(other), "a second session of the other key");
    assert.equal(await limited(client, "sessions_per_key"), 2);
    assert.deepEqual((await other.expect(200, "GET", "/v1/org")).json.limits, {
      sessions_per_key: 1,
      requests: 3072,
      requests_per_session: 512,
    });
    // One account: either key may end what the other has made.
    await mine.through(other).destroy();
    assert.equal((await create(client)).status, 201);
  });
});

test("L9_over_the_rate_of_a_key_is_429_and_passes_after_the_wait", async () => {
  await withServer({ rate_limit: 2, rate_burst: 20 }, async (server) => {
    const other = server.client(await addKey(server));
    const client = server.client();
    const doomed = await parallel(4, 4, () => TestSession.create(client, { lease_ms: 600_000 }));
    const flood = parallel(8, 200, () => client.send("GET", "/v1/org"));
    // Meanwhile nothing that makes room or looks at the server waits for anything.
    for (const [i, session] of doomed.entries()) {
      await session.expect(200, "POST", "/lease");
      await client.expect(200, "GET", "/v1/healthz");
      if (i < 3) await session.destroy();
    }
    const replies = await flood;
    const refused = replies.filter(({ status }) => status !== 200);
    assert(replies.length - refused.length >= 10, "the burst passes");
    assert(refused.length > 0, "the flood is stopped");
    for (const reply of refused) assertLimited(reply, "the flood");
    assert.equal(await limited(client, "requests_per_second"), refused.length);
    // Another key does not notice.
    await other.expect(200, "GET", "/v1/org");
    await eventually("after the wait it passes", async () => {
      await sleep(1000);
      return (await client.send("GET", "/v1/org")).status === 200;
    });
    await doomed[3]!.destroy();
  });
});

test("L9_one_session_cannot_use_up_what_all_share", async () => {
  await withServer({ session_requests_max: 3 }, async (_server, client) => {
    const session = await TestSession.create(client);
    const other = await TestSession.create(client);
    await session.start("talker", ["sleep", "3600"]);
    const command = session.exec(["sleep", "3600"], { exec_id: "long" });
    const streams = [await session.follow("talker"), await session.follow("talker")];
    await eventually("the session is full", async () => {
      const reply = await session.send("GET", "/files", { query: { path: ".", op: "list" } });
      if (reply.status !== 429) return false;
      assertLimited(reply, "a fourth operation");
      return true;
    });
    assertLimited(await session.send("POST", "/exec", { json: { command: ["true"] } }), "a command");
    assertLimited(await session.send("GET", "/processes/talker/logs"), "logs");
    assert.equal(await other.output("echo undisturbed"), "undisturbed\n");
    await session.get();
    // What ends something has room, and gives room.
    assert.equal((await session.send("DELETE", "/execs/long")).status, 200);
    await command;
    assert.equal(await session.output("echo again"), "again\n");
    await session.kill("talker");
    for (const stream of streams) await stream.collect();
    await session.destroy();
  });
});

test("L9_at_the_cap_of_requests_deletes_and_health_checks_pass", async () => {
  await withServer({ connections_max: 16 }, async (_server, client) => {
    const session = await TestSession.create(client);
    await session.start("talker", ["sleep", "3600"]);
    const streams = await parallel(12, 12, () => session.follow("talker"));
    assertLimited(await client.send("GET", "/v1/org"), "a thirteenth request");
    assertLimited(await create(client), "a create");
    await client.expect(200, "GET", "/v1/healthz");
    assert.equal(await limited(client, "requests"), 2);
    await session.destroy();
    for (const stream of streams) await stream.collect();
    assert.equal((await client.expect(200, "GET", "/v1/org")).json.capacity !== undefined, true);
  });
});

test("L9_connections_that_do_nothing_keep_nobody_out", async () => {
  await withServer({ connections_max: 16 }, async (server, client) => {
    const session = await TestSession.create(client);
    const idle: Wire[] = [];
    for (let i = 0; i < 40; i++) {
      const wire = await Wire.open(server);
      // Some begin a request that they never finish.
      if (i % 2) wire.send(head(server, "GET", "/v1/org").slice(0, 20));
      idle.push(wire);
    }
    for (let i = 0; i < 5; i++) {
      const fresh = server.client();
      await fresh.expect(200, "GET", "/v1/healthz");
      fresh.close();
    }
    const fresh = server.client();
    await session.through(fresh).destroy();
    for (const wire of idle) wire.close();
  });
});
