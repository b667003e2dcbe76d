// SPDX-License-Identifier: Apache-2.0
// What named processes leave behind stays readable when their session has ended, whatever ended it.
import assert from "node:assert/strict";
import { existsSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client } from "@inis-run/sdk";
import type { JsonObject } from "../support/contract.js";
import { guestInit, role } from "../support/footprint.js";
import { eventually, sleep } from "../support/helpers.js";
import { scaled } from "../support/paths.js";
import { Server } from "../support/server.js";
import { exactBytes, sh, TestSession } from "../support/session.js";

const MiB = 1024 * 1024;
const ENDED = { ended: true };

let server: Server;
before(async () => {
  server = await Server.start();
});
after(() => server.stop());

const create = (body: JsonObject = {}) => TestSession.create(server.client(), body);
/** The same session, through a connection of the server as it runs now. */
const again = (session: TestSession) => session.through(server.client());
const keptOf = (session: TestSession) => join(server.stateDir, "logs", session.id);

/** A session with a process that has exited and one that has not, whose command line holds the mark. */
async function withProcesses(mark: string, body: JsonObject = {}): Promise<TestSession> {
  const session = await create(body);
  await session.start("done", sh(`echo out ${mark}; echo err ${mark} >&2; exit 3`));
  await session.exited("done");
  await session.start("server", sh(`echo ready; exec sleep ${mark}`));
  await eventually("it has begun", async () => (await session.logs("server")).stdout === "ready\n");
  return session;
}

async function assertReadable(session: TestSession, mark: string): Promise<void> {
  const [done, running, ...more] = await session.processes(ENDED);
  assert.deepEqual([done?.name, running?.name, more.length], ["done", "server", 0]);
  assert.deepEqual([done?.state, done?.exit_code, done?.signal, done?.killed], ["exited", 3, undefined, undefined]);
  assert.deepEqual(done?.command, sh(`echo out ${mark}; echo err ${mark} >&2; exit 3`));
  assert.deepEqual([running?.state, running?.exit_code, running?.signal, running?.killed], ["exited", 137, 9, true]);
  assert.deepEqual(await session.process("done", ENDED), done);
  assert.deepEqual(await session.process("server", ENDED), running);

  const { stdout, stderr, stdout_offset, truncated } = await session.logs("done", ENDED);
  assert.deepEqual([stdout, stderr, stdout_offset, truncated], [`out ${mark}\n`, `err ${mark}\n`, 0, undefined]);
  assert.equal((await session.logs("server", ENDED)).stdout, "ready\n");
  const followed = await (await session.follow("done", ENDED)).collect();
  assert.deepEqual(
    [followed.stdout.toString(), followed.stderr.toString(), followed.terminal?.event],
    [`out ${mark}\n`, `err ${mark}\n`, "eof"],
  );
}

test("P5_logs_and_exit_codes_of_a_destroyed_session_are_readable", async () => {
  const session = await withProcesses("90001");
  await session.destroy();
  await assertReadable(session, "90001");
});

test("P5_the_sdk_reads_the_logs_of_a_session_it_has_destroyed", async () => {
  const client = new Client({ baseUrl: server.baseUrl, token: server.token });
  const session = await client.sessions.create();
  await session.startProcess("p", ["sh", "-c", "echo out; echo err >&2; exit 4"]);
  for await (const _ of session.streamProcessLogs("p"));
  await session.destroy();
  await assert.rejects(session.getProcessLogs("p"), { code: "not_found" });
  assert.deepEqual(
    (await session.listProcesses({ ended: true })).map(({ name, exitCode }) => [name, exitCode]),
    [["p", 4]],
  );
  assert.equal((await session.getProcess("p", { ended: true })).state, "exited");
  const { stdout, stderr } = await session.getProcessLogs("p", { ended: true });
  assert.deepEqual([stdout, stderr], ["out\n", "err\n"]);
  const events: string[] = [];
  for await (const { event, data } of session.streamProcessLogs("p", { ended: true })) events.push(`${event} ${data}`);
  assert.deepEqual(events, ["stdout out\n", "stderr err\n", "eof "]);
});

test("P5_without_ended_a_destroyed_session_is_not_found_as_before", async () => {
  const session = await withProcesses("90002");
  await session.destroy();
  for (const rest of ["/processes", "/processes/done", "/processes/done/logs", "/processes/done/logs?follow=true"]) {
    const { json } = await session.expect(404, "GET", rest);
    assert.equal(json.code, "not_found");
    await session.expect(404, "GET", `${rest}${rest.includes("?") ? "&" : "?"}ended=false`);
  }
});

interface End {
  body?: JsonObject;
  /** What a plain request answers afterwards, when not 410. */
  status?: number;
  end?: (session: TestSession, mark: string) => Promise<unknown>;
}

const ENDS: Record<string, End> = {
  its_lifetime: { body: { max_lifetime_ms: 15_000 } },
  its_lease: { body: { lease_ms: 15_000 } },
  its_time_paused: { body: { paused_ttl_ms: 1000 }, end: (session) => session.pause() },
  its_first_command: {
    body: { destroy_on_completion: true },
    status: 404,
    end: (session) => session.exec(["true"]),
  },
  the_death_of_PID_1: {
    end: async (_, mark) => process.kill(guestInit(server, mark), "SIGKILL"),
  },
};

let number = 91000;
for (const [what, { body, end, status = 410 }] of Object.entries(ENDS)) {
  test(`P5_logs_are_readable_after_the_session_was_ended_by_${what}`, async () => {
    const mark = String(number++);
    const session = await withProcesses(mark, body);
    await end?.(session, mark);
    await eventually("it has ended", async () => (await session.send("GET", "/egress")).status !== 200);
    const { json } = await session.expect(status, "GET", "/processes");
    assert.equal(json.code, status === 404 ? "not_found" : "session_ended");
    await assertReadable(session, mark);
  });
}

test("P5_a_session_that_is_destroyed_while_frozen_keeps_its_logs", async () => {
  const session = await withProcesses("90003");
  await session.pause();
  await session.destroy();
  await assertReadable(session, "90003");
});

test("P5_logs_are_readable_while_the_session_is_still_ending", async () => {
  const session = await withProcesses("90004");
  const destroyed = session.destroy();
  await assertReadable(again(session), "90004");
  await destroyed;
});

test("P5_logs_outlive_the_daemon", async () => {
  const session = await withProcesses("90005");
  await session.destroy();
  await server.terminate();
  await server.launch();
  await assertReadable(again(session), "90005");
});

test("P5_a_session_that_dies_while_the_daemon_is_down_keeps_its_logs", async () => {
  const session = await withProcesses("90006");
  const init = guestInit(server, "90006");
  for (const pid of [server.pid, role(server, "front"), role(server, "broker")]) process.kill(pid, "SIGKILL");
  process.kill(init, "SIGKILL");
  await server.relaunchAfterKill();
  await eventually("it has ended", async () => (await again(session).get()).state === "ended");
  await assertReadable(again(session), "90006");
});

test("P5_a_broker_killed_in_the_middle_of_a_destroy_leaves_the_logs_once", async () => {
  for (let round = 0; round < scaled(24, 8); round++) {
    const mark = String(92000 + round);
    const session = await withProcesses(mark);
    const broker = role(server, "broker");
    const destroyed = session.send("DELETE", "").catch(() => undefined);
    await sleep(round * 3);
    process.kill(broker, "SIGKILL");
    await destroyed;
    await eventually("the server is whole again", () => role(server, "broker") !== broker && role(server, "front") > 0);
    await eventually("the session is gone", async () => (await again(session).send("DELETE", "")).status === 404);
    await assertReadable(again(session), mark);
    assert.deepEqual(
      readdirSync(join(server.stateDir, "logs")).filter((name) => name.startsWith(".")),
      [],
    );
  }
});

test("P5_a_session_that_lives_answers_the_same_with_ended", async () => {
  const session = await withProcesses("90007");
  assert.deepEqual(await session.processes(ENDED), await session.processes());
  assert.deepEqual(await session.process("server", ENDED), await session.process("server"));
  assert.equal((await session.process("server", ENDED)).state, "running");
  assert.deepEqual(await session.logs("done", ENDED), await session.logs("done"));
  await session.destroy();
});

test("P5_a_session_without_processes_leaves_nothing", async () => {
  const session = await create();
  await session.exec(["true"]);
  await session.destroy();
  assert(!existsSync(keptOf(session)));
  assert.deepEqual(await session.processes(ENDED), []);
});

test("P5_what_does_not_exist_is_not_found_with_ended_too", async () => {
  const session = await withProcesses("90008");
  await session.destroy();
  for (const rest of ["/processes/other", "/processes/other/logs", "/processes/other/logs?follow=true"]) {
    const { json } = await session.expect(404, "GET", rest, { query: ENDED });
    assert.match(json.error as string, /process "other" not found/);
  }
  const { json } = await session.client.expect(404, "GET", "/v1/sessions/aaaaaaaaaaaaaaaaaaaaa/processes?ended=true");
  assert.equal(json.code, "not_found");
  await session.client.expect(404, "GET", "/v1/sessions/..db/processes?ended=true");
  assert.equal((await session.expect(400, "GET", "/processes?ended=yes")).json.field, "ended");
});

test("P5_the_tail_of_a_long_log_is_kept_with_its_offsets", async () => {
  const size = 10 * MiB;
  const session = await create();
  const script = `import sys\nfor i in range(${size / 16}): sys.stdout.write("%015d\\n" % i)`;
  await session.start("big", ["python3", "-c", script]);
  await session.start("binary", sh("printf '\\377\\000\\376'"));
  await session.exited("binary");
  await session.exited("big");
  const live = await session.logs("big");
  const liveFollow = await (await session.follow("big", { positions: 1 })).collect();
  await session.destroy();

  assert.deepEqual(await session.logs("big", ENDED), live);
  assert.equal(live.truncated, true);
  const followed = await (await session.follow("big", { positions: 1, ...ENDED })).collect();
  assert(followed.stdout.equals(liveFollow.stdout));
  assert.equal(followed.events.at(-2)?.id, `${size},0`);
  const from = size - 100;
  const part = await session.logs("big", { from, ...ENDED });
  assert.deepEqual([part.stdout_offset, part.stdout.length, part.truncated], [from, 100, undefined]);
  const { stdout } = await (await session.follow("big", { from, ...ENDED })).collect();
  assert.equal(stdout.toString(), part.stdout);
  assert.equal((await session.logs("big", { from: 2 * size, ...ENDED })).stdout, "");
  const binary = await session.logs("binary", ENDED);
  assert.deepEqual(exactBytes(binary.stdout, binary.stdout_encoding), Buffer.from([0xff, 0x00, 0xfe]));
});

test("P5_a_reader_that_does_not_read_holds_nobody_up_and_leaves_no_descriptor", async () => {
  const session = await create();
  await session.start("big", sh("yes | head -c 4000000"));
  await session.exited("big");
  await session.destroy();
  const files = () => readdirSync(`/proc/${role(server, "front")}/fd`).length;
  const before = files();
  const client = server.client();
  for (let i = 0; i < scaled(100, 20); i++) {
    const stuck = await session.through(client).follow("big", ENDED);
    stuck.response.pause();
    assert.equal((await session.process("big", ENDED)).exit_code, 0);
    stuck.abort();
  }
  client.close();
  await eventually("descriptors are back", () => files() <= before + 2);
  assert.equal((await (await session.follow("big", ENDED)).collect()).stdout.length, 4_000_000);
});

test("P5_the_newest_of_a_name_counts_and_the_list_is_in_order_of_start", async () => {
  const session = await create();
  for (let i = 0; i < 3; i++) {
    for (const name of ["b", "a"]) {
      await session.start(name, sh(`echo ${name}${i}; exit ${i}`));
      await session.exited(name);
    }
  }
  const live = await session.processes();
  await session.destroy();
  assert.deepEqual(await session.processes(ENDED), live);
  assert.deepEqual(
    [live.map(({ name }) => name), live.map((p) => p.exit_code)],
    [
      ["b", "a"],
      [2, 2],
    ],
  );
  assert.equal((await session.logs("a", ENDED)).stdout, "a2\n");
});

test("P5_logs_are_removed_when_their_time_is_over", async () => {
  const old = await withProcesses("90009");
  const recent = await withProcesses("90010");
  await old.destroy();
  await recent.destroy();
  const dayAgo = Date.now() / 1000 - 24 * 3600 - 60;
  utimesSync(keptOf(old), dayAgo, dayAgo);
  const almost = Date.now() / 1000 - 23 * 3600;
  utimesSync(keptOf(recent), almost, almost);
  await server.terminate();
  await server.launch();
  await eventually("the old ones are removed", () => !existsSync(keptOf(old)));
  assert.deepEqual(await again(old).processes(ENDED), []);
  await again(old).expect(404, "GET", "/processes/done/logs", { query: ENDED });
  await assertReadable(again(recent), "90010");
});
