// SPDX-License-Identifier: Apache-2.0
// Paused sessions outlive the daemon, whichever of its processes dies and when.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { JsonObject } from "../support/contract.js";
import { descendants, guestInit, role } from "../support/footprint.js";
import { eventually, sleep } from "../support/helpers.js";
import { scaled } from "../support/paths.js";
import { Server } from "../support/server.js";
import { sh, TestSession } from "../support/session.js";

let server: Server;
before(async () => {
  server = await Server.start();
});
after(() => server.stop());

const COUNTER = sh("i=0; while :; do i=$((i+1)); echo $i; sleep 0.02; done");

async function untilServing(): Promise<void> {
  const client = server.client();
  await eventually("the server answers", async () => (await client.send("GET", "/v1/healthz")).status === 200);
}

async function killRole(name: "front" | "broker"): Promise<void> {
  const old = role(server, name);
  process.kill(old, "SIGKILL");
  await eventually(`a new ${name} runs`, () => role(server, name) !== old);
  await untilServing();
}

const INTERRUPTIONS: Record<string, () => Promise<void>> = {
  restart_of_the_server: async () => {
    await server.terminate();
    await server.launch();
  },
  kill_9_of_the_front: () => killRole("front"),
  kill_9_of_the_broker: () => killRole("broker"),
  kill_9_of_the_whole_daemon: async () => {
    for (const pid of [server.pid, role(server, "front"), role(server, "broker")]) process.kill(pid, "SIGKILL");
    await server.relaunchAfterKill();
  },
};

async function assertCounting(session: TestSession): Promise<void> {
  const count = async () => {
    const lines = (await session.logs("counter")).stdout.split("\n").slice(0, -1);
    assert.equal(lines.length, Number(lines.at(-1)), "no line is lost or doubled");
    return lines.length;
  };
  const first = await count();
  await eventually("it goes on", async () => (await count()) > first);
}

for (const [name, interrupt] of Object.entries(INTERRUPTIONS)) {
  test(`S9_every_field_of_a_paused_session_is_the_same_after_${name}`, async () => {
    const body = {
      name: `p ${name}`,
      labels: { a: "b" },
      external_id: "x",
      idle_timeout_ms: 120_000,
      lease_ms: 600_000,
    };
    const more = { max_lifetime_ms: 86_400_000, paused_ttl_ms: 3_600_000, env: { A: "1" }, secrets: { S: "2" } };
    const session = await TestSession.create(server.client(), { ...body, ...more });
    await session.start("counter", COUNTER);
    await session.output("echo kept >kept");
    const paused = await session.pause();
    await interrupt();
    const again = session.through(server.client());
    assert.deepEqual(await again.get(), paused);
    assert.equal(await again.output("cat kept; echo $S"), "kept\n2\n");
    await assertCounting(again);
    await again.destroy();
  });
}

test("S1_whatever_dies_between_a_pause_and_a_resume_nothing_is_lost", async () => {
  const names = Object.keys(INTERRUPTIONS);
  let session = await TestSession.create(server.client());
  await session.start("counter", COUNTER);
  await session.output("head -c 300000 /dev/urandom >data");
  const sum = await session.output("sha256sum data");
  for (let i = 0; i < scaled(24, 4); i++) {
    // Sometimes the answer is not awaited, so that what dies dies in the middle of it.
    const pending = session.send("POST", i % 2 ? "/pause" : "/resume").catch(() => undefined);
    if (i % 3) await pending;
    await INTERRUPTIONS[names[i % names.length]!]!();
    await pending;
    session = session.through(server.client());
    assert(["live", "paused"].includes(await session.state()));
    assert.equal(await session.output("sha256sum data"), sum);
    await assertCounting(session);
    if (i % 4 === 1) await session.pause();
  }
  await session.destroy();
});

test("overdue_deadlines_apply_when_the_server_starts_again", async () => {
  const client = server.client();
  const live = await TestSession.create(client, { max_lifetime_ms: 2000 });
  const expired = await TestSession.create(client, { max_lifetime_ms: 2500 });
  const stale = await TestSession.create(client, { paused_ttl_ms: 2000 });
  const idle = await TestSession.create(client, { idle_timeout_ms: 1500 });
  const kept = await TestSession.create(client, { paused_ttl_ms: -1 });
  await expired.pause();
  await stale.pause();
  await kept.pause();
  await server.terminate();
  await sleep(3000);
  await server.launch();
  const ended = async (session: TestSession): Promise<JsonObject> => {
    const again = session.through(server.client());
    return eventually("it has ended", async () => {
      const info = await again.get();
      return info.state === "ended" && info;
    });
  };
  assert.equal((await ended(live)).end_reason, "max_lifetime");
  assert.equal((await ended(stale)).end_reason, "paused_ttl");
  const shown = (session: TestSession) => session.through(server.client()).state();
  assert.equal(await shown(expired), "lifetime_expired");
  assert.equal(await shown(kept), "paused");
  await eventually("it idles", async () => (await shown(idle)) === "paused");
});

for (const state of ["live", "paused"]) {
  test(`L5_a_${state}_session_whose_first_process_is_killed_has_ended_within_seconds`, async () => {
    const session = await TestSession.create(server.client());
    await session.start("victim", ["sleep", `31${state.length}77`]);
    const init = guestInit(server, `31${state.length}77`);
    const pids = descendants(init).map(({ pid }) => pid);
    if (state === "paused") await session.pause();
    process.kill(init, "SIGKILL");
    const info = await eventually("it has ended", async () => {
      const shown = await session.get();
      return shown.state === "ended" && shown;
    });
    assert.equal(info.end_reason, "error");
    await session.expect(410, "POST", "/exec", { json: { command: ["true"] } });
    await session.expect(410, "POST", "/resume");
    const alive = () => descendants(server.pid).filter(({ pid }) => pids.includes(pid));
    await eventually("nothing of it runs", () => alive().length === 0);
  });
}
