// SPDX-License-Identifier: Apache-2.0
// A terminal with a name belongs to its session: it outlives its clients, who attach to it one at a time.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../support/contract.js";
import { role } from "../support/footprint.js";
import { eventually, sleep } from "../support/helpers.js";
import { scaled } from "../support/paths.js";
import { TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";
import { Size, Terminal, type TerminalQuery, Type } from "../support/terminal.js";

const t = suite({ on_pty_detach: "keep_live" });

/** Says each line that is typed again, in brackets. */
const ECHO = ["sh", "-c", 'stty -echo; echo up; while read x; do echo "[$x]"; done; exit 6'];

const create = (on_pty_detach: string) => TestSession.create(t.client, { on_pty_detach });

const open = (session: TestSession, name: string, query: TerminalQuery = {}) =>
  Terminal.open(session, { name, cmd: ECHO, ...query });

const list = async (session: TestSession): Promise<JsonObject[]> =>
  (await session.expect(200, "GET", "/ptys")).json.ptys as JsonObject[];

const end = (session: TestSession, name: string, query: Record<string, number> = {}) =>
  session.expect(204, "DELETE", `/ptys/${name}`, { query });

test("it_outlives_its_client_and_the_next_sees_what_was_there", async () => {
  let terminal = await open(t.session, "main", { rows: 30, cols: 90 });
  assert.deepEqual(terminal.begin, { rows: 30, cols: 90, flags: Size.begin | Size.live | Size.started });
  await terminal.shows("up\r\n");
  let want = "up\r\n";
  for (const leave of ["cut", "close", "reset"] as const) {
    terminal.type(`before ${leave}\n`);
    want += `[before ${leave}]\r\n`;
    await terminal.shows(want);
    await terminal[leave]();
    terminal = await open(t.session, "main", { cmd: ["echo", "not run"], rows: 30, cols: 90 });
    await terminal.live();
    assert.deepEqual(terminal.begin, { rows: 30, cols: 90, flags: Size.begin });
    assert.equal(terminal.text, want);
  }
  terminal.type("\x04");
  assert.equal(await terminal.exited(), 6);
  assert.deepEqual(await list(t.session), []);
  const next = await open(t.session, "main", { cmd: ["echo", "fresh"] });
  assert.equal(await next.exited(), 0);
  assert.equal(next.text, "fresh\r\n");
  assert.equal((await t.session.get()).state, "live");
});

test("without_a_command_it_is_a_login_shell_and_names_are_apart", async () => {
  const session = await create("keep_live");
  const one = await Terminal.open(session, { name: "one" });
  const two = await Terminal.open(session, { name: "two.2-_" });
  one.type("word=fir''st; echo $word\n");
  two.type("word=sec''ond; echo $word\n");
  await one.shows("first\r\n");
  await two.shows("second\r\n");
  const rows = await list(session);
  assert.deepEqual(
    rows.map(({ name, rows, cols, attached, command }) => ({ name, rows, cols, attached, command })),
    ["one", "two.2-_"].map((name) => ({ name, rows: 24, cols: 80, attached: true, command: undefined })),
  );
  one.type("shopt -q login_shell && exit 3\n");
  assert.equal(await one.exited(), 3);
  two.cut();
  await eventually("it is told", async () => (await list(session))[0]?.attached === false);
  await session.destroy();
});

test("the_next_client_takes_over_with_its_size_and_the_one_before_is_told", async () => {
  const session = await create("keep_live");
  const first = await open(session, "shared", { rows: 24, cols: 80 });
  await first.shows("up\r\n");
  const second = await open(session, "shared", { rows: 40, cols: 120 });
  await first.takenOver();
  await second.live();
  assert.equal(second.begin?.cols, 80, "what is replayed was written for the old size");
  await eventually("the size is the new owner's", () => second.sizes.at(-1)?.cols === 120);
  const third = await open(session, "shared", {});
  await second.takenOver();
  await third.live();
  assert.deepEqual(
    (await list(session)).map(({ rows, cols, command }) => [rows, cols, command]),
    [[40, 120, ECHO]],
    "who says no size takes it as it is",
  );
  third.resize(50, 132);
  await eventually("his resize counts", async () => (await list(session))[0]?.cols === 132);
  third.type("mine\n");
  await third.shows("up\r\n[mine]\r\n");
  await session.destroy();
});

test("P8_two_clients_take_over_again_and_again_and_no_byte_is_lost", async () => {
  const rounds = scaled(1000, 60);
  const session = await create("pause");
  const seen: Terminal[] = [];
  const certain: string[] = [];
  for (let i = 0; i < rounds; i++) {
    const owner = await open(session, "main");
    const before = seen.at(-1);
    seen.push(owner);
    if (before) await before.takenOver();
    else await owner.shows("up\r\n");
    owner.type(`t${i}\n`);
    if (i % 3 === 0) continue;
    await owner.shows(`[t${i}]\r\n`);
    certain.push(`[t${i}]\r\n`);
  }
  const last = await open(session, "main");
  last.type("last\n");
  await last.shows("[last]\r\n");
  assert.match(last.text, /^up\r\n/);
  for (const token of certain) assert.equal(last.text.split(token).length, 2, `${token} once`);
  assert.match(last.text, /^up\r\n(\[t\d+\]\r\n)*\[last\]\r\n$/);
  const order = [...last.text.matchAll(/\[t(\d+)\]/g)].map((match) => Number(match[1]));
  assert.deepEqual(
    order,
    [...new Set(order)].sort((a, b) => a - b),
    "each at most once, in order",
  );
  for (const one of seen) assert(last.text.startsWith(one.text), "each saw the same from the beginning");
  assert.equal((await list(session)).filter(({ attached }) => attached).length, 1);
  const generation = async () => Number((await session.output("head -1 /run/inis/generation")).trim());
  assert.equal(await generation(), 0, "on_pty_detach has not applied meanwhile");
  last.cut();
  await eventually("it is paused", async () => (await session.get()).state === "paused");
  assert.equal(await generation(), 1);
  await sleep(1500);
  assert.equal((await session.get()).state, "live", "it applied once");
  await session.destroy();
});

test("P8_of_clients_that_come_at_once_one_is_the_owner", async () => {
  const session = await create("keep_live");
  for (let i = 0; i < scaled(50, 8); i++) {
    const all = await Promise.all(Array.from({ length: 4 }, () => open(session, "main")));
    await eventually("all but one are closed", () => all.filter(({ socket }) => !socket.ended).length === 1);
    const owner = all.find(({ socket }) => !socket.ended)!;
    owner.type(`round ${i}\n`);
    await owner.shows(`[round ${i}]\r\n`);
    await Promise.all(all.filter((one) => one !== owner).map((one) => one.takenOver()));
    assert.deepEqual(
      (await list(session)).map(({ name, attached }) => [name, attached]),
      [["main", true]],
    );
  }
  await session.destroy();
});

test("P8_on_pty_detach_applies_once_when_the_last_client_has_gone", async () => {
  const doomed = await create("destroy");
  const named = await open(doomed, "main");
  const plain = await Terminal.open(doomed, { cmd: ["sleep", "607"] });
  await (await open(doomed, "main")).live();
  await named.takenOver();
  plain.cut();
  await eventually("the plain one was hung up", async () => (await doomed.running("sleep 607")).length === 0);
  assert.equal((await doomed.get()).state, "live", "a client is still attached");
  const last = await open(doomed, "main");
  last.cut();
  await eventually("the session has ended", async () => {
    const { json } = await doomed.send("GET", "");
    return json.state === "ended" && json.end_reason === "on_detach_destroy";
  });
  const kept = await create("destroy");
  const ended = await open(kept, "main", { cmd: ["true"] });
  assert.equal(await ended.exited(), 0);
  await sleep(1000);
  assert.equal((await kept.get()).state, "live", "an exit is no detaching");
  await kept.destroy();
});

test("it_pauses_and_goes_on_with_its_session", async () => {
  const session = await create("pause");
  const terminal = await open(session, "main");
  terminal.type("one\n");
  await terminal.shows("[one]\r\n");
  terminal.cut();
  await eventually("it is paused", async () => (await session.get()).state === "paused");
  const again = await open(session, "main");
  await again.shows("up\r\n[one]\r\n");
  await session.pause();
  again.type("two\n");
  await session.resume();
  await again.shows("up\r\n[one]\r\n[two]\r\n");
  await session.pause();
  const third = await open(session, "main");
  await again.takenOver();
  await third.shows("up\r\n[one]\r\n[two]\r\n");
  await session.destroy();
  assert.match(await third.failed(), /does not exist/);
  assert.equal(third.socket.closeStatus, 1011);
});

test("it_is_ended_by_a_request_and_its_owner_gets_the_exit", async () => {
  const terminal = await open(t.session, "main");
  await terminal.shows("up\r\n");
  await end(t.session, "main");
  assert.equal(await terminal.exited(), 129);
  const stubborn = await open(t.session, "main", {
    cmd: ["sh", "-c", "trap '' HUP TERM; echo up; sleep 614; sleep 614"],
  });
  await stubborn.shows("up\r\n");
  await end(t.session, "main", { grace_ms: 0 });
  assert.equal(await stubborn.exited(), 137);
  assert.deepEqual(await t.session.running("sleep 614"), []);
  const { json } = await t.session.expect(404, "DELETE", "/ptys/main");
  assert.match(json.error as string, /terminal "main" not found/);
  await t.session.expect(404, "DELETE", "/ptys/no..such%20name");
  const wrong = await t.session.expect(400, "DELETE", "/ptys/main", { query: { grace_ms: 60001 } });
  assert.equal(wrong.json.field, "grace_ms");
});

test("what_makes_no_sense_is_refused_and_leaves_it_running", async () => {
  const session = await create("keep_live");
  for (const name of ["", ".", "..", "a b", "a/b", "x".repeat(65), "ü"]) {
    const error = await Terminal.refused(session, { name });
    assert.deepEqual([error.code, error.field], ["bad_request", "name"], name);
  }
  const first = await open(session, "main");
  first.send(Type.resize, Buffer.of(1, 2, 3));
  assert.match(await first.failed(), /^RESIZE: /);
  const second = await open(session, "main");
  second.socket.send(1, Buffer.from("text"));
  await second.socket.over();
  assert.equal(second.socket.closeStatus, 1003);
  const third = await open(session, "main");
  await third.shows("up\r\n");
  third.cut();
  await end(session, "main");
  const nowhere = await Terminal.refused(session, { name: "main", cwd: "/no/such/directory" });
  assert.deepEqual([nowhere.code, nowhere.field], ["bad_request", "cwd"]);
  assert.deepEqual(await list(session), []);
  await session.destroy();
});

test("more_than_sixteen_are_refused", async () => {
  const session = await create("keep_live");
  const all = await Promise.all(
    Array.from({ length: 16 }, (_, i) => open(session, `t${i}`, { cmd: ["sleep", "615"] })),
  );
  assert.equal((await Terminal.refused(session, { name: "more" })).code, "conflict");
  for (const one of all) one.cut();
  assert.equal((await list(session)).length, 16);
  await end(session, "t3");
  await (await open(session, "more")).live();
  await session.destroy();
});

test("plain_terminals_are_as_they_were", async () => {
  const terminal = await Terminal.open(t.session, { cmd: ["sleep", "616"] });
  assert.deepEqual(terminal.sizes, []);
  terminal.cut();
  await eventually("it was hung up", async () => (await t.session.running("sleep 616")).length === 0);
});

test("it_outlives_the_front_and_the_whole_server", async () => {
  const session = await TestSession.create(t.client, { on_pty_detach: "destroy" });
  let terminal = await open(session, "main");
  terminal.type("one\n");
  await terminal.shows("[one]\r\n");
  process.kill(role(t.server, "front"), "SIGKILL");
  await eventually("the connection is gone", () => terminal.socket.ended);
  await eventually("a new front answers", async () => (await session.get()).state === "live");
  terminal = await open(session, "main");
  await terminal.shows("up\r\n[one]\r\n");
  terminal.type("two\n");
  await terminal.shows("[two]\r\n");
  await t.server.terminate();
  await terminal.socket.over();
  assert.equal(terminal.socket.closeStatus, 1001);
  await t.server.launch();
  const again = session.through(t.server.client());
  terminal = await open(again, "main");
  await terminal.shows("up\r\n[one]\r\n[two]\r\n");
  terminal.type("three\n\x04");
  assert.equal(await terminal.exited(), 6);
  await again.destroy();
});
