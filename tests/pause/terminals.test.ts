// SPDX-License-Identifier: Apache-2.0
// Terminals and pauses: one that is open goes on, one that is open keeps the session awake, one may be lost meanwhile.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, sleep } from "../support/helpers.js";
import { TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";
import { Terminal } from "../support/terminal.js";

const t = suite();

test("an_open_terminal_goes_on_after_a_pause", async () => {
  const session = await TestSession.create(t.client);
  const terminal = await Terminal.open(session);
  terminal.type("word=be''fore; echo $word\n");
  await terminal.shows("before\r\n");
  await session.pause();
  terminal.type("echo $word-and-af''ter\n");
  await sleep(300);
  assert.equal(await session.state(), "paused");
  await session.resume();
  await terminal.shows("before-and-after\r\n");
  terminal.cut();
  await session.destroy();
});

test("S10_a_silent_terminal_keeps_the_session_awake", async () => {
  const session = await TestSession.create(t.client, { idle_timeout_ms: 1000, on_pty_detach: "keep_live" });
  const terminal = await Terminal.open(session, { cmd: ["sleep", "611"] });
  await sleep(3000);
  assert.equal(await session.state(), "live");
  terminal.cut();
  await eventually("it idles", async () => (await session.state()) === "paused");
  await session.destroy();
});

test("a_terminal_lost_while_its_session_is_paused_decides_at_once_or_never", async () => {
  const doomed = await TestSession.create(t.client, { on_pty_detach: "destroy" });
  const kept = await TestSession.create(t.client, { on_pty_detach: "pause" });
  for (const session of [doomed, kept]) {
    const terminal = await Terminal.open(session, { cmd: ["sleep", "612"] });
    await session.pause();
    terminal.cut();
  }
  await eventually("it has ended", async () => (await doomed.get()).end_reason === "on_detach_destroy");
  assert.equal(await kept.state(), "paused");
  await kept.resume();
  await eventually("its program is gone", async () => (await kept.running("sleep 612")).length === 0);
  await sleep(1500);
  assert.equal(await kept.state(), "live", "it is not paused once more for what is long over");
  await kept.destroy();
});

test("a_terminal_that_is_lost_pauses_nobody_elses_command", async () => {
  const session = await TestSession.create(t.client, { on_pty_detach: "pause" });
  const terminal = await Terminal.open(session, { cmd: ["sleep", "613"] });
  const running = session.exec(["sh", "-c", "sleep 2; cat /run/inis/generation"]);
  await sleep(300);
  terminal.cut();
  assert.equal((await running).stdout.split("\n")[0], "0");
  await session.destroy();
});
