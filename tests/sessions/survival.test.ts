// SPDX-License-Identifier: Apache-2.0
// Sessions outlive every daemon process, and leave nothing when they end.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  assertNothingLeft,
  descendants,
  footprint,
  role,
  settledFootprint,
  unitCgroups,
} from "../support/footprint.js";
import { eventually, parallel, withinMs } from "../support/helpers.js";
import { scaled } from "../support/paths.js";
import { Server } from "../support/server.js";
import { sh, TestSession } from "../support/session.js";

let server: Server;
before(async () => {
  server = await Server.start();
});
after(() => server.stop());

const TICKER = sh("i=0; while :; do i=$((i+1)); echo $i; sleep 0.1; done");

async function assertSameSession(session: TestSession, before: object): Promise<void> {
  const { last_active_at: _, ...shown } = await session.get();
  assert.deepEqual(shown, before, "S9: every field of the session is as it was");
  assert.equal((await session.process("ticker")).state, "running");
  assert.equal(await session.output("cat /workspace/kept; echo $SECRET"), "kept\nhush\n");
  const first = (await session.logs("ticker")).stdout;
  assert(first.startsWith("1\n2\n3\n"), "the log begins at the beginning");
  const next = `${first.trim().split("\n").length + 3}\n`;
  await eventually("the process goes on", async () => (await session.logs("ticker")).stdout.includes(`\n${next}`));
}

async function populated(): Promise<{ session: TestSession; shown: object }> {
  const body = { name: `survivor ${Date.now()}`, labels: { a: "b" }, env: { E: "v" }, secrets: { SECRET: "hush" } };
  const session = await TestSession.create(server.client(), { ...body, external_id: "x" });
  await session.output("echo kept >/workspace/kept");
  await session.start("ticker", TICKER);
  await session.start("over", sh("echo done; exit 3"));
  await session.exited("over");
  await eventually("it ticks", async () => (await session.logs("ticker")).stdout.includes("3\n"));
  const { last_active_at: _, ...shown } = await session.get();
  return { session, shown };
}

test("sessions_and_their_processes_survive_a_restart_of_the_server", async () => {
  const { session, shown } = await populated();
  await server.terminate();
  await server.launch();
  const again = session.through(server.client());
  await assertSameSession(again, shown);
  assert.equal((await again.process("over")).exit_code, 3);
  assert.equal((await again.logs("over")).stdout, "done\n");
  await again.destroy();
});

test("a_session_destroyed_before_a_restart_stays_destroyed", async () => {
  const client = server.client();
  const session = await TestSession.create(client, { external_id: "gone" });
  await session.destroy();
  await server.terminate();
  await server.launch();
  const next = server.client();
  await next.expect(404, "GET", session.path());
  const { json } = await next.expect(200, "GET", "/v1/sessions", { query: { state: "ended", external_id: "gone" } });
  assert.equal((json.sessions as object[]).length, 1);
});

for (const victim of ["front", "broker"] as const) {
  test(`sessions_survive_kill_9_of_the_${victim}`, async () => {
    const { session, shown } = await populated();
    const old = role(server, victim);
    process.kill(old, "SIGKILL");
    const client = server.client();
    await eventually(`a new ${victim} runs`, () => role(server, victim) !== old);
    await eventually("the server answers", async () => (await client.send("GET", "/v1/healthz")).status === 200);
    const again = session.through(client);
    await assertSameSession(again, shown);
    await again.destroy();
    await (await TestSession.create(client)).destroy();
  });
}

test("sessions_survive_kill_9_of_what_agents_are_cloned_from_and_creates_go_on", async () => {
  const { session, shown } = await populated();
  const zygote = () => descendants(server.pid).find(({ command }) => command[0] === "inis-spawn")?.pid;
  const old = zygote()!;
  process.kill(old, "SIGKILL");
  const client = server.client();
  // More than the pool has.
  const made = await parallel(6, 6, () => TestSession.create(client));
  for (const one of made) assert.equal(await one.output("cat /proc/1/cmdline"), "inis-agent\0");
  for (const one of made) await one.destroy();
  const now = zygote();
  assert(now !== undefined && now !== old);
  await assertSameSession(session.through(client), shown);
  await session.destroy();
});

test("sessions_survive_kill_9_of_the_whole_daemon", async () => {
  const { session, shown } = await populated();
  const doomed = [server.pid, role(server, "front"), role(server, "broker")];
  for (const pid of doomed) process.kill(pid, "SIGKILL");
  await server.relaunchAfterKill();
  const again = session.through(server.client());
  await assertSameSession(again, shown);
  await again.destroy();
});

test("P14_root_inside_cannot_kill_the_agent_and_the_session_goes_on", async () => {
  const session = await TestSession.create(server.client());
  await session.start("bystander", ["sleep", "600"]);
  const agent = await session.output("cut -d' ' -f22 /proc/1/stat");
  for (const signal of ["KILL", "STOP", "SEGV", "TERM"]) await session.exec(["sudo", "-n", "kill", `-${signal}`, "1"]);
  const answer = session.output("id -u; sudo -n id -u; cut -d' ' -f22 /proc/1/stat");
  assert.equal(await withinMs("the session answers", 20_000, answer), `999\n0\n${agent}`);
  assert.equal((await session.get()).state, "live");
  /* Everything that it may signal, its own command among it, and what has not become the next one yet. */
  for (let n = 0; n < 25; n++) {
    await session.exec(sh("sudo -n kill -KILL -1"));
    assert.equal(await withinMs("the session answers", 20_000, session.output("echo still here")), "still here\n");
  }
  await eventually("the process is told to have ended", async () => {
    const { state, signal } = await session.process("bystander");
    return state === "exited" && signal === 9;
  });
  await session.destroy();
});

test("a_second_server_on_the_same_state_directory_is_refused", async () => {
  const { code, stderr } = await server.tryAnother();
  assert.notEqual(code, 0);
  assert.match(stderr, /serving this state directory/);
  assert.equal((await server.client().send("GET", "/v1/healthz")).status, 200);
});

test("L1_many_creates_and_destroys_leave_nothing_behind", async () => {
  const client = server.client();
  for (let i = 0; i < 3; i++) await (await TestSession.create(client)).destroy();
  const before = await settledFootprint(server);
  await parallel(4, scaled(1000, 40), async (i) => {
    const session = await TestSession.create(client);
    if (i % 3 === 0) await session.exec(sh("setsid sleep 600 & head -c 100000 /dev/zero >/workspace/x"));
    if (i % 3 === 1) await session.start("p", ["sleep", "600"]);
    await session.destroy();
  });
  client.close();
  await eventually("everything is as before", () => {
    const now = footprint(server);
    const { frontFiles, brokerFiles, ...counts } = now;
    const { frontFiles: frontBefore, brokerFiles: brokerBefore, ...countsBefore } = before;
    assert.deepEqual(counts, countsBefore);
    assert(frontFiles <= frontBefore + 2, `front holds ${frontFiles} descriptors, ${frontBefore} before`);
    assert(brokerFiles <= brokerBefore + 2, `broker holds ${brokerFiles} descriptors, ${brokerBefore} before`);
    return true;
  });
});

test("L1_a_killed_client_leaves_a_session_that_others_can_end", async () => {
  const gone = new AbortController();
  const client = server.client();
  const json = { external_id: "orphan" };
  const pending = client.send("POST", "/v1/sessions", { json, signal: gone.signal });
  setTimeout(() => gone.abort(), 1);
  const made = await pending.catch(() => undefined);
  if (made) await client.expect(204, "DELETE", `/v1/sessions/${made.json.session_id}`);
  const { json: listed } = await client.expect(200, "GET", "/v1/sessions", { query: { external_id: "orphan" } });
  for (const row of listed.sessions as { session_id: string }[])
    await client.expect(204, "DELETE", `/v1/sessions/${row.session_id}`);
});

test("T6_a_server_that_ends_without_sessions_leaves_nothing_on_the_machine", async () => {
  const other = await Server.start();
  const session = await TestSession.create(other.client());
  await session.output("setsid sleep 600 & true");
  const cgroups = unitCgroups(other);
  const pids = descendants(other.pid).map(({ pid }) => pid);
  assert(cgroups.length > 0 && pids.length > 3);
  await session.destroy();
  await other.terminate();
  await assertNothingLeft(other.stateDir, cgroups, pids);
  const units = join(other.stateDir, "units");
  assert.deepEqual(readdirSync(other.stateDir).includes("units") ? readdirSync(units) : [], [], "unit directories");
  await other.stop();
});
