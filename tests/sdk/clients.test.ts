// SPDX-License-Identifier: Apache-2.0
// Clients and sessions side by side share nothing.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, InisError, Session } from "@inis-run/sdk";
import { FakeServer, json } from "./support/fake-server.js";

/** Runs with these variables in the environment, undefined ones unset. */
async function withEnvironment(values: Record<string, string | undefined>, body: () => void | Promise<void>) {
  const before = Object.keys(values).map((name) => [name, process.env[name]] as const);
  const set = ([name, value]: readonly [string, string | undefined]): void => {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  };
  Object.entries(values).forEach(set);
  try {
    await body();
  } finally {
    before.forEach(set);
  }
}

test("K2_sessions_of_different_servers_do_not_disturb_each_other", async () => {
  const answer = (name: string) => json(200, { stdout: name, exit_code: 0 });
  await using a = await FakeServer.start(answer("a"));
  await using b = await FakeServer.start(answer("b"));
  const servers = [a, b] as const;
  const sessions = servers.flatMap((server, which) =>
    Array.from({ length: 20 }, (_, i) => ({
      session: server.client({ token: `sk_${which}` }).sessions.attach(`s${which}x${i}`),
      name: which === 0 ? "a" : "b",
    })),
  );
  await Promise.all(
    sessions.map(async ({ session, name }) => {
      for (let i = 0; i < 5; i++) assert.equal((await session.exec(`${session.sessionId}`)).stdout, name);
    }),
  );
  for (const [which, server] of servers.entries()) {
    assert.equal(server.requests.length, 100);
    for (const { headers, url, body } of server.requests) {
      assert.equal(headers.authorization, `Bearer sk_${which}`);
      assert.equal(url, `/v1/sessions/${JSON.parse(body).command[2]}/exec`);
    }
  }
});

test("K2_what_list_returned_is_the_caller's_own", async () => {
  await using server = await FakeServer.start(
    json(200, {
      sessions: [
        { session_id: "a", state: "live", labels: { my_key: "1" } },
        { session_id: "b", state: "live" },
      ],
      next_cursor: null,
    }),
  );
  const page = await server.client().sessions.list();
  assert.deepEqual(page, {
    sessions: [
      { sessionId: "a", state: "live", labels: { my_key: "1" }, wakeOnHttp: true },
      { sessionId: "b", state: "live", wakeOnHttp: true },
    ],
  });
});

test("K3_one_process_uses_several_servers_and_keys", async () => {
  await using server = await FakeServer.start(json(200, {}));
  const [one, two] = [server.client({ token: "sk_one" }), server.client({ token: "sk_two", timeoutMs: 5 })];
  assert.deepEqual([one.token, one.timeoutMs, two.token, two.timeoutMs], ["sk_one", 120_000, "sk_two", 5]);
  await one.sessions.get("a");
  await Session.attach(server.client({ token: "sk_two" }), "b").get();
  assert.deepEqual(
    server.requests.map(({ headers }) => headers.authorization),
    ["Bearer sk_one", "Bearer sk_two"],
  );
});

test("K3_changing_the_options_afterwards_changes_nothing", async () => {
  await using server = await FakeServer.start(json(200, {}));
  const options = { token: "sk_one", baseUrl: server.url };
  const client = new Client(options);
  options.token = "sk_two";
  await client.sessions.get("a");
  assert.equal(server.requests[0]?.headers.authorization, "Bearer sk_one");
});

test("the key does not show when a client is printed", async () => {
  const { inspect } = await import("node:util");
  const client = new Client({ token: "sk_hidden", baseUrl: "http://127.0.0.1:1" });
  assert.doesNotMatch(inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client), /sk_hidden/);
});

test("where a client finds its server and key", async () => {
  await withEnvironment({ INIS_API_KEY: "sk_env", INIS_BASE_URL: undefined }, () => {
    assert.equal(new Client().baseUrl, "https://api.inis.run");
    assert.equal(new Client().token, "sk_env");
    assert.equal(new Client({ token: "sk_own" }).token, "sk_own");
  });
  await withEnvironment({ INIS_API_KEY: "sk_env", INIS_BASE_URL: "http://h:1/" }, () => {
    assert.equal(new Client().baseUrl, "http://h:1");
    assert.equal(new Client({ baseUrl: "http://own/x/" }).baseUrl, "http://own/x");
  });
});

test("a URL without a key, and an empty key, are refused at once", async () => {
  const refused = (error: unknown): boolean =>
    error instanceof InisError && error.message === "INIS_API_KEY is required" && error.code === "error";
  await withEnvironment({ INIS_API_KEY: undefined, INIS_BASE_URL: undefined }, () => {
    assert.throws(() => new Client({ baseUrl: "http://h" }), refused);
    assert.throws(() => new Client({ token: "" }), refused);
  });
  await withEnvironment({ INIS_API_KEY: "", INIS_BASE_URL: "http://h" }, () =>
    assert.throws(() => new Client(), refused),
  );
});
