// SPDX-License-Identifier: Apache-2.0
// A client that goes hangs up; what becomes of the session then is its on_pty_detach, once, and only then.
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { eventually, sleep } from "../support/helpers.js";
import { TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";
import { Terminal } from "../support/terminal.js";

const t = suite({ on_pty_detach: "keep_live" });

const create = (on_pty_detach: string) => TestSession.create(t.client, { on_pty_detach });

test("a_disconnect_ends_the_foreground_whatever_it_ignores", async () => {
  for (const leave of ["cut", "close"] as const) {
    const terminal = await Terminal.open(t.session);
    terminal.type(
      "trap '' HUP TERM; nohup sh -c 'trap \"\" HUP TERM; echo u''p; while :; do sleep 606; done' 2>&1 | cat\n",
    );
    await terminal.shows("up\r\n");
    await terminal[leave]();
    await eventually("the foreground is gone", async () => (await t.session.running("sleep 606")).length === 0);
  }
  assert.equal((await t.session.get()).state, "live");
});

test("a_program_hears_the_hang_up_and_may_clean_up", async () => {
  const script = "trap 'echo cleaned > /workspace/hup; exit 0' HUP; echo ready; while :; do sleep 0.05; done";
  const terminal = await Terminal.open(t.session, { cmd: ["sh", "-c", script] });
  await terminal.shows("ready");
  terminal.cut();
  await eventually(
    "the trap has run",
    async () => (await t.session.output("cat hup 2>/dev/null || :")) === "cleaned\n",
  );
});

test("on_pty_detach_destroy_ends_the_session_with_its_reason", async () => {
  const session = await create("destroy");
  const first = await Terminal.open(session, { cmd: ["sleep", "607"] });
  const second = await Terminal.open(session, { cmd: ["sleep", "607"] });
  first.cut();
  await eventually("the first program is gone", async () => (await session.running("sleep 607")).length === 1);
  assert.equal((await session.get()).state, "live", "another terminal is still attached");
  second.cut();
  await eventually("the session has ended", async () => {
    const { json } = await session.send("GET", "");
    return json.state === "ended" && json.end_reason === "on_detach_destroy";
  });
});

test("on_pty_detach_pause_pauses_once_and_the_next_use_wakes", async () => {
  const session = await create("pause");
  const terminal = await Terminal.open(session, { cmd: ["sleep", "608"] });
  terminal.cut();
  await eventually("the session is paused", async () => (await session.get()).state === "paused");
  assert.deepEqual(await session.running("sleep 608"), [], "the hang-up came before the pause");
  assert.equal((await session.get()).state, "live");
  await sleep(1500);
  assert.equal((await session.get()).state, "live", "it fired once");
  await session.destroy();
});

test("opening_a_terminal_wakes_a_paused_session", async () => {
  const session = await create("keep_live");
  await session.expect(200, "POST", "/pause", { json: {} });
  const terminal = await Terminal.open(session, { cmd: ["echo", "awake"] });
  assert.equal(await terminal.exited(), 0);
  assert.equal((await session.get()).state, "live");
  await session.destroy();
});

test("on_pty_detach_does_not_fire_after_an_exit_or_for_other_operations", async () => {
  const session = await create("destroy");
  const terminal = await Terminal.open(session, { cmd: ["true"] });
  assert.equal(await terminal.exited(), 0);
  const last = await Terminal.open(session, { cmd: ["cat"] });
  last.type("\x04");
  await eventually("EXIT comes", () => last.exitCode === 0);
  last.cut();
  await session.exec(["true"]);
  await Terminal.refused(session, { cwd: "/no/such/directory" });
  await sleep(1500);
  assert.equal((await session.get()).state, "live");
  await session.destroy();
});

test("a_terminal_waits_for_a_session_that_is_being_made", async () => {
  const sessions = await Promise.all(Array.from({ length: 4 }, () => TestSession.create(t.client, {})));
  for (const session of sessions) {
    const terminal = await Terminal.open(session, { cmd: ["echo", "ready"] });
    assert.equal(await terminal.exited(), 0);
    await session.destroy();
    assert.equal((await Terminal.refused(session, {})).code, "not_found");
  }
});

test("P4_destroy_with_terminals_streams_and_uploads_open_ends_each_in_order", async () => {
  const session = await create("pause");
  const terminals = await Promise.all(
    Array.from({ length: 5 }, () => Terminal.open(session, { cmd: ["sleep", "609"] })),
  );
  const streams = await Promise.all(Array.from({ length: 20 }, () => session.execStream(["sleep", "609"])));
  const uploads = Array.from({ length: 3 }, (_, i) => {
    const body = new Readable({ read() {} });
    body.push("begun");
    const answer = session.send("PUT", "/files/stream", { query: { path: `/workspace/u${i}` }, body });
    return { body, answer: answer.catch((error: Error) => error) };
  });
  const ends = streams.map((stream) => stream.collect());
  await session.destroy();
  for (const terminal of terminals) {
    assert.match(await terminal.failed(), /does not exist/);
    assert.equal(terminal.socket.closeStatus, 1011);
  }
  for (const { terminal } of await Promise.all(ends)) assert.equal(terminal?.event, "error");
  for (const { body, answer } of uploads) {
    body.push(null);
    const reply = await answer;
    if (!(reply instanceof Error)) assert([404, 410].includes(reply.status), `${reply.status}`);
  }
  assert.equal((await session.send("GET", "")).json.code, "not_found");
});

test("a_client_that_leaves_a_paused_session_leaves_it_paused_or_ends_it", async () => {
  const paused = await create("pause");
  const ended = await create("destroy");
  const terminals = await Promise.all(
    [paused, ended].map((session) => Terminal.open(session, { cmd: ["sleep", "611"] })),
  );
  for (const session of [paused, ended]) await session.expect(200, "POST", "/pause", { json: {} });
  for (const terminal of terminals) terminal.cut();
  await eventually("one has ended", async () => {
    const { json } = await ended.send("GET", "");
    return json.state === "ended" && json.end_reason === "on_detach_destroy";
  });
  assert.equal((await paused.get()).state, "paused");
  await eventually("the program is gone", async () => (await paused.running("sleep 611")).length === 0);
  await sleep(1500);
  assert.equal((await paused.get()).state, "live");
  await paused.destroy();
});

test("a_terminal_stands_still_in_a_paused_session_and_goes_on", async () => {
  const session = await create("keep_live");
  const script = "for i in $(seq 1 200); do echo line $i; sleep 0.01; done; exit 8";
  const terminal = await Terminal.open(session, { cmd: ["bash", "-c", script] });
  await terminal.shows("line 5\r\n");
  await session.expect(200, "POST", "/pause", { json: {} });
  await sleep(300); // what is on its way to us
  const before = terminal.text;
  await sleep(500);
  assert.equal(terminal.text, before);
  await session.expect(200, "POST", "/resume", { json: {} });
  assert.equal(await terminal.exited(), 8);
  assert.equal(terminal.text, Array.from({ length: 200 }, (_, i) => `line ${i + 1}\r\n`).join(""));
  await session.destroy();
});
