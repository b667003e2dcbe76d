// SPDX-License-Identifier: Apache-2.0
// Background processes as the published clients play them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InisError, type Members, type PlayedEvent } from "./clients/answers.js";
import { players } from "./clients/suite.js";

const play = players();
/** The longest name that an adapter makes. */
const LONG = "mastra-0b7d42f4-9a52-4a63-9f3e-2b1f0c9d8e7a";

async function text(events: AsyncIterable<PlayedEvent>): Promise<{ out: string; err: string; end: PlayedEvent }> {
  const seen = { out: "", err: "", end: { event: "", data: "" } };
  for await (const event of events) {
    if (event.event === "stdout") seen.out += event.data;
    else if (event.event === "stderr") seen.err += event.data;
    else seen.end = event;
  }
  return seen;
}

play.both("starts_follows_and_reads_a_process", async (client, id) => {
  const started = await client.start(id, LONG, "echo out; echo err >&2; until test -e go; do sleep 0.05; done; exit 0");
  assert.equal(started.name, LONG);
  assert.equal(started.state, "running");
  assert.equal(started.exit_code, undefined);
  assert.deepEqual(started.command.slice(0, 2), ["bash", "-lc"]);
  const follower = text(client.follow(id, LONG));
  await client.write(id, "go", "");
  const { out, err, end } = await follower;
  assert.deepEqual([out, err, end], ["out\n", "err\n", { event: "eof", data: "" }]);
  const ended = await client.getProcess(id, LONG);
  assert.deepEqual([ended.state, ended.exit_code], ["exited", 0], "as soon as its stream has ended");
  const logs = await client.logs(id, LONG);
  assert.deepEqual([logs.name, logs.stdout, logs.stderr], [LONG, "out\n", "err\n"]);
  assert.equal((await text(client.follow(id, LONG))).out, "out\n", "a follower that comes late sees all");
});

play.both("kills_a_process_and_finds_it_exited", async (client, id) => {
  await client.start(id, "victim", ["sleep", "600"], { keepAlive: true });
  const follower = text(client.follow(id, "victim"));
  const killed = await client.kill(id, "victim");
  assert.deepEqual([killed.state, killed.exit_code, killed.keep_alive], ["exited", 143, true]);
  assert.equal((await follower).end.event, "eof");
  const again = await client.kill(id, "victim");
  assert.deepEqual([again.state, again.exit_code], ["exited", 143]);
});

play.both("lists_running_and_exited_processes", async (client, id) => {
  await client.start(id, "runs", ["sleep", "600"], { cwd: "/tmp" });
  await client.start(id, "ended.1_x", ["sh", "-c", "exit 7"]);
  await text(client.follow(id, "ended.1_x"));
  const byName = new Map((await client.processes(id)).map((one: Members) => [one.name, one]));
  assert.deepEqual([...byName.keys()].sort(), ["ended.1_x", "runs"]);
  assert.equal(byName.get("runs")?.state, "running");
  assert.deepEqual([byName.get("ended.1_x")?.state, byName.get("ended.1_x")?.exit_code], ["exited", 7]);
});

play.both("is_told_404_for_an_unknown_process", async (client, id) => {
  const calls = [client.getProcess(id, "nobody"), client.kill(id, "nobody"), client.logs(id, "nobody")];
  for (const call of [...calls, client.follow(id, "nobody").next()]) {
    await assert.rejects(call, (error: unknown) => {
      assert(error instanceof InisError);
      assert.deepEqual([error.status, error.code], [404, "not_found"]);
      assert.match(error.message, /process "nobody" not found/);
      return true;
    });
  }
});

play.both("cannot_take_the_name_of_a_running_process_but_of_an_exited_one", async (client, id) => {
  await client.start(id, "name", ["sleep", "600"]);
  await assert.rejects(client.start(id, "name", ["true"]), { status: 409, code: "conflict" });
  await client.kill(id, "name");
  await client.start(id, "name", ["echo", "second"]);
  assert.equal((await text(client.follow(id, "name"))).out, "second\n");
});

play.both("gets_the_tail_of_long_logs", async (client, id) => {
  await client.start(id, "long", "seq 1 900000");
  await text(client.follow(id, "long"));
  const logs = await client.logs(id, "long");
  assert.equal(logs.truncated, true);
  assert(logs.stdout.endsWith("\n899999\n900000\n"));
});

test("python_client_finds_and_kills_what_typescript_client_has_started", async () => {
  const { session_id: id } = await play.typescript.create();
  await play.typescript.start(id, "shared", "echo hello; sleep 600");
  const stream = play.python.follow(id, "shared");
  assert.deepEqual((await stream.next()).value, { event: "stdout", data: "hello\n" });
  await stream.return(undefined);
  assert.equal(
    (await play.python.getProcess(id, "shared")).state,
    "running",
    "a follower that leaves disturbs nothing",
  );
  assert.equal((await play.python.kill(id, "shared")).state, "exited");
  await play.typescript.destroy(id);
});

test("typescript_client_escapes_names_in_paths", async () => {
  const { session_id: id } = await play.typescript.create();
  const error = await play.typescript.getProcess(id, "a b/c%").catch((reason: unknown) => reason);
  assert(error instanceof InisError);
  assert([400, 404].includes(error.status), error.message);
  await play.typescript.destroy(id);
});
