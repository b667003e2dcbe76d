// SPDX-License-Identifier: Apache-2.0
// What is told when something breaks beneath a command: its memory, the daemon, the session.
import assert from "node:assert/strict";
import { test } from "node:test";
import { role } from "../support/footprint.js";
import { eventually, withinMs } from "../support/helpers.js";
import { sh, TestSession } from "../support/session.js";
import { exitOf } from "../support/sse.js";
import { suite } from "../support/suite.js";

const t = suite();

const EATER = "b = []\nwhile True: b.append(bytearray(b'x' * (16 << 20)))";

test("P10_out_of_memory_kills_only_the_workload_and_is_reported", async () => {
  const session = await TestSession.create(t.client, { size: "small" });
  await session.start("bystander", ["sleep", "600"]);
  const result = await session.exec(["python3", "-c", EATER]);
  assert.deepEqual([result.exit_code, result.oom, result.timed_out], [137, true, false]);
  assert.equal(await session.output("echo usable"), "usable\n");
  assert.equal((await session.process("bystander")).state, "running");
  const after = await session.exec(sh("exit 0"));
  assert.equal(after.oom, undefined, "an earlier kill is not blamed on a later command");
  await session.destroy();
});

test("P10_out_of_memory_in_a_child_is_reported_on_the_stream", async () => {
  const session = await TestSession.create(t.client, { size: "small" });
  const stream = await session.execStream(
    sh(`python3 -c "${EATER.replaceAll("\n", ";").replace(";while", "\nwhile")}"; exit 3`),
  );
  assert.equal(exitOf(await stream.collect()).oom, true);
  await session.destroy();
});

test("X17_a_killed_front_never_looks_like_success", async () => {
  const stream = await t.session.execStream(sh("echo go; sleep 51.5"));
  const collected = stream.collect();
  await eventually("it runs", async () => (await t.session.running("sleep 51.5")).length > 0);
  process.kill(role(t.server, "front"), "SIGKILL");
  const { terminal } = await withinMs("the end of the stream", 60_000, collected);
  assert(terminal === undefined || terminal.event === "error", `terminal ${terminal?.event} ${terminal?.bytes}`);
  const client = t.server.client();
  await eventually("the front is back", async () => (await client.send("GET", "/v1/healthz")).status === 200);
  const session = t.session.through(client);
  assert.equal(await session.output("echo back"), "back\n");
  await eventually("the command of the lost stream is gone", async () => {
    return (await session.running("sleep 51.5")).length === 0;
  });
});

test("P4_destroy_ends_the_streams_of_the_session_in_order", async () => {
  const client = t.server.client();
  const session = await TestSession.create(client);
  await session.start("follow-me", sh("while :; do echo x; sleep 0.05; done"));
  const streams = await Promise.all([
    ...Array.from({ length: 5 }, () => session.execStream(sh("while :; do echo y; sleep 0.05; done"))),
    session.follow("follow-me"),
  ]);
  const ends = streams.map((stream) => stream.collect());
  const buffered = session.send("POST", "/exec", { json: { command: ["sleep", "300"] } });
  await eventually("the sleeper runs", async () => (await session.running("sleep 300")).length > 0);
  await session.destroy();
  for (const { terminal } of await withinMs("streams", 60_000, Promise.all(ends)))
    assert.notEqual((terminal?.json as { exit_code?: number } | undefined)?.exit_code, 0);
  const reply = await withinMs("the buffered exec", 60_000, buffered);
  assert(reply.status >= 400 || (reply.json.exit_code as number) > 0, `${reply.status} ${reply.body}`);
  assert.equal((await session.send("GET", "")).status, 404);
});
