// SPDX-License-Identifier: Apache-2.0
// A client that does not read costs nothing but its own output; a server that stops or dies says so and hangs up.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { role } from "../support/footprint.js";
import { eventually, sleep } from "../support/helpers.js";
import { scaled } from "../support/paths.js";
import { TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";
import { Terminal } from "../support/terminal.js";

const t = suite({ on_pty_detach: "destroy" });

/** Processor time of a process so far, in seconds. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

test("O9_a_client_that_stops_reading_costs_no_processor_and_disturbs_nobody", async () => {
  const session = await TestSession.create(t.client, { on_pty_detach: "keep_live" });
  const other = await TestSession.create(t.client, {});
  const terminal = await Terminal.open(session, { cmd: ["yes"] });
  await terminal.shows("y\r\ny\r\n");
  terminal.socket.socket.pause();
  const front = role(t.server, "front");
  const agent = async () => Number((await session.output("cut -d' ' -f14,15 /proc/1/stat")).split(" ")[0]);
  await sleep(2000);
  const seconds = scaled(60, 6);
  const before = { cpu: cpuSeconds(front), agent: await agent(), at: Date.now() };
  while (Date.now() - before.at < seconds * 1000) {
    assert.equal(await other.output("echo fine"), "fine\n");
    assert.equal(await session.output("echo fine"), "fine\n");
    await sleep(500);
  }
  const used = cpuSeconds(front) - before.cpu;
  const elapsed = (Date.now() - before.at) / 1000;
  assert(used < 0.05 * elapsed + 0.2, `the front used ${used.toFixed(2)} s of ${elapsed.toFixed(1)} s`);
  const agentTicks = (await agent()) - before.agent;
  assert(agentTicks < 5 * elapsed + 20, `the agent used ${agentTicks} ticks`);
  terminal.cut();
  await eventually("yes is gone", async () => (await session.running("yes")).length === 0);
  await session.destroy();
  await other.destroy();
});

test("a_client_that_pauses_gets_everything_in_the_end", async () => {
  const bytes = 20_000_000;
  const session = await TestSession.create(t.client, { on_pty_detach: "keep_live" });
  const cmd = ["sh", "-c", `stty raw; head -c ${bytes} /dev/zero`];
  const terminal = await Terminal.open(session, { cmd });
  terminal.socket.socket.pause();
  await sleep(1500);
  assert(terminal.bytes < bytes, "it waits");
  terminal.socket.socket.resume();
  assert.equal(await terminal.exited(), 0);
  assert.equal(terminal.bytes, bytes);
  await session.destroy();
});

test("a_server_that_stops_closes_terminals_and_the_session_lives_on", async () => {
  const terminal = await Terminal.open(t.session, { cmd: ["sleep", "650"] });
  await t.server.terminate();
  await terminal.socket.over();
  assert.equal(terminal.socket.closeStatus, 1001);
  await t.server.launch();
  const session = t.session.through(t.server.client());
  assert.equal((await session.get()).state, "live", "on_pty_detach is not for this");
  await eventually("the program was hung up", async () => (await session.running("sleep 650")).length === 0);
});

test("a_front_that_dies_leaves_the_session_and_hangs_up_its_terminals", async () => {
  const session = t.session.through(t.server.client());
  const terminal = await Terminal.open(session, { cmd: ["sleep", "651"] });
  process.kill(role(t.server, "front"), "SIGKILL");
  await eventually("the connection is gone", () => terminal.socket.ended);
  await eventually("a new front answers", async () => (await session.get()).state === "live");
  await eventually("the program was hung up", async () => (await session.running("sleep 651")).length === 0);
});
