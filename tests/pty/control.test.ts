// SPDX-License-Identifier: Apache-2.0
// Size, signals and control frames reach what they are meant for; what makes no sense is refused and leaves nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { operation } from "../support/contract.js";
import { eventually, withinMs } from "../support/helpers.js";
import { suite } from "../support/suite.js";
import { Terminal, Type } from "../support/terminal.js";
import { clientFrame, Op } from "../support/websocket.js";
import { wrongTexts } from "../support/wrong.js";

const t = suite({ on_pty_detach: "keep_live" });

test("a_resize_changes_the_size_and_the_program_is_told", async () => {
  const script = "trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done";
  const terminal = await Terminal.open(t.session, { cmd: ["bash", "-c", script] });
  await terminal.shows("ready");
  terminal.resize(50, 132);
  await terminal.shows("50 132\r\n");
  terminal.resize(0, 0);
  terminal.resize(65535, 1);
  await terminal.shows("65535 1\r\n");
  terminal.signal(9);
  assert.equal(await terminal.exited(), 137);
});

test("a_signal_goes_to_the_foreground_process_group", async () => {
  const terminal = await Terminal.open(t.session);
  terminal.type(
    "PS1=; stty -echo; trap 'echo shell got it' INT; sh -c 'trap \"echo got INT; exit 3\" INT; echo up; while :; do sleep 0.05; done'; echo code $?\n",
  );
  await terminal.shows("up\r\n");
  terminal.signal(2);
  await terminal.shows(/got INT\r\n[\s\S]*code 3\r\n/);
  terminal.type("exit 0\n");
  assert.equal(await terminal.exited(), 0);
});

test("control_characters_are_signals_too", async () => {
  const terminal = await Terminal.open(t.session, { cmd: ["sh", "-c", "sleep 600; echo not reached"] });
  await eventually("sleep runs", async () => (await t.session.running("sleep 600")).length > 0);
  terminal.type("\x03");
  assert.equal(await terminal.exited(), 130);
});

test("signal_9_kills_everything_on_the_terminal_and_is_followed_by_an_exit", async () => {
  const script = "trap '' HUP INT TERM; (setsid sleep 601 &); sleep 602 & echo up; wait; wait";
  const terminal = await Terminal.open(t.session, { cmd: ["sh", "-c", script] });
  await terminal.shows("up");
  terminal.signal(9);
  assert.equal(await terminal.exited(), 137);
  assert.deepEqual(await t.session.running("sleep 60"), []);
});

test("pings_are_answered_and_unknown_messages_ignored", async () => {
  const terminal = await Terminal.open(t.session, { cmd: ["cat"] });
  terminal.socket.send(Op.ping, Buffer.from("marco"));
  await eventually("the pong comes", () => terminal.socket.pings.some(({ payload }) => payload.toString() === "marco"));
  terminal.send(4, Buffer.from("unused"));
  terminal.send(200, Buffer.from("unknown"));
  terminal.socket.send(Op.binary, Buffer.alloc(0));
  terminal.send(Type.data, Buffer.alloc(0));
  terminal.type("still here\n");
  await terminal.shows("still here\r\nstill here\r\n");
  terminal.type("\x04");
  assert.equal(await terminal.exited(), 0);
});

test("messages_may_come_in_pieces_with_pings_between", async () => {
  const terminal = await Terminal.open(t.session, { cmd: ["cat"] });
  terminal.socket.send(Op.binary, Buffer.from("\x01spl"), { fin: false });
  terminal.socket.send(Op.ping, Buffer.from("p"));
  terminal.socket.send(Op.continuation, Buffer.alloc(0), { fin: false });
  terminal.socket.send(Op.continuation, Buffer.from("it\n\x04"));
  assert.equal(await terminal.exited(), 0);
  assert.equal(terminal.text, "split\r\nsplit\r\n");
});

test("a_payload_of_one_mebibyte_passes_and_a_larger_message_ends_the_terminal", async () => {
  const script = "stty raw -echo; echo ready; head -c 1048576 | wc -c";
  const terminal = await Terminal.open(t.session, { cmd: ["sh", "-c", script] });
  await terminal.shows("ready");
  terminal.type(Buffer.alloc(1 << 20, "x"));
  assert.equal(await terminal.exited(), 0);
  assert.match(terminal.text, /1048576/);
  const other = await Terminal.open(t.session, { cmd: ["sh", "-c", "stty raw -echo; cat >/dev/null"] });
  other.type(Buffer.alloc((1 << 20) + 65, "x"));
  await other.socket.over();
  assert.equal(other.socket.closeStatus, 1009);
});

test("messages_that_make_no_sense_are_answered_with_an_error_and_end_the_program", async () => {
  const wrong: [string, number, Buffer][] = [
    ["RESIZE", Type.resize, Buffer.from([0, 24, 0])],
    ["RESIZE", Type.resize, Buffer.alloc(5)],
    ["SIGNAL", Type.signal, Buffer.alloc(0)],
    ["SIGNAL", Type.signal, Buffer.of(0)],
    ["SIGNAL", Type.signal, Buffer.of(64)],
    ["SIGNAL", Type.signal, Buffer.of(9, 9)],
    ["DATA", Type.data, Buffer.alloc((1 << 20) + 1)],
  ];
  for (const [name, type, payload] of wrong) {
    const terminal = await Terminal.open(t.session, { cmd: ["sleep", "603"] });
    terminal.send(type, payload);
    assert.match(await terminal.failed(), new RegExp(`^${name}: `));
  }
  await eventually("the programs are gone", async () => (await t.session.running("sleep 603")).length === 0);
});

test("frames_that_break_the_protocol_end_the_connection_with_its_status", async () => {
  const offences: [number, (terminal: Terminal) => void][] = [
    [1003, ({ socket }) => socket.send(Op.text, Buffer.from("text"))],
    [1002, ({ socket }) => socket.send(Op.binary, Buffer.from("\x01x"), { mask: false })],
    [1002, ({ socket }) => socket.send(Op.binary, Buffer.from("\x01x"), { reserved: 4 })],
    [1002, ({ socket }) => socket.send(Op.continuation, Buffer.from("x"))],
    [1002, ({ socket }) => socket.send(3, Buffer.from("x"))],
    [1002, ({ socket }) => socket.send(Op.ping, Buffer.alloc(126))],
    [1002, ({ socket }) => socket.send(Op.ping, Buffer.alloc(1), { fin: false })],
    [1002, ({ socket }) => socket.send(Op.close, Buffer.of(3))],
  ];
  for (const [status, commit] of offences) {
    const terminal = await Terminal.open(t.session, { cmd: ["sleep", "604"] });
    commit(terminal);
    await terminal.socket.over();
    assert.equal(terminal.socket.closeStatus, status);
  }
  await eventually("the programs are gone", async () => (await t.session.running("sleep 604")).length === 0);
});

test("what_cannot_be_opened_is_a_plain_error_before_the_upgrade", async () => {
  const refused = (query: object, code: string, field?: string) =>
    Terminal.refused(t.session, query).then((error) => {
      assert.deepEqual([error.code, error.field], [code, field], JSON.stringify(error));
    });
  await refused({ rows: 0 }, "bad_request", "rows");
  await refused({ rows: 65536 }, "bad_request", "rows");
  await refused({ cols: "wide" }, "bad_request", "cols");
  await refused({ cols: "" }, "bad_request", "cols");
  await refused({ term: "a\nb" }, "bad_request", "term");
  await refused({ colorterm: "x".repeat(65) }, "bad_request", "colorterm");
  await refused({ cmd: [""] }, "bad_request", "cmd");
  await refused({ cwd: "/no/such/directory" }, "bad_request", "cwd");
  await refused({ cwd: "" }, "bad_request", "cwd");
  await refused({ cmd: Array.from({ length: 70 }, () => "x") }, "bad_request");
});

for (const { name, schema } of operation("openPty").parameters.filter((parameter) => parameter.in === "query")) {
  if (schema.type === "array") continue;
  test(`a_wrong_${name}_is_400_naming_it`, async () => {
    for (const text of wrongTexts(schema)) {
      const error = await Terminal.refused(t.session, { [name]: text });
      assert.deepEqual([error.code, error.field], ["bad_request", name], JSON.stringify([text.slice(0, 40), error]));
    }
  });
}

test("a_handshake_that_is_none_is_a_plain_error", async () => {
  const refused = async (headers: Record<string, string | undefined>, status: number, token?: string | null) => {
    const error = await Terminal.refused(t.session, {}, token === undefined ? { headers } : { headers, token });
    assert.equal(error.status, status, JSON.stringify(error));
  };
  await refused({ Upgrade: undefined }, 400);
  await refused({ Connection: "keep-alive" }, 400);
  await refused({ Upgrade: "h2c" }, 400);
  await refused({ "Sec-WebSocket-Key": undefined }, 400);
  await refused({ "Sec-WebSocket-Key": "dG9vIHNob3J0" }, 400);
  await refused({ "Sec-WebSocket-Version": "8" }, 400);
  await refused({}, 401, null);
  await refused({}, 401, "sk_wrong");
  const plain = await t.session.send("GET", "/pty");
  assert.equal(plain.status, 400);
});

test("extensions_and_subprotocols_are_declined_not_refused", async () => {
  const headers = {
    "Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits",
    "Sec-WebSocket-Protocol": "a, b",
  };
  const terminal = await Terminal.open(t.session, { cmd: ["echo", "fine"] }, { headers });
  assert.equal(await terminal.exited(), 0);
});

test("input_sent_with_the_handshake_is_not_lost", async () => {
  const early = clientFrame(Op.binary, Buffer.from("\x01early bird\n\x04"));
  const terminal = await Terminal.open(t.session, { cmd: ["cat"] }, { early });
  assert.equal(await terminal.exited(), 0);
  assert.match(terminal.text, /early bird\r\n/);
});

test("a_program_that_does_not_read_stops_the_sender_not_the_session", async () => {
  const terminal = await Terminal.open(t.session, { cmd: ["sh", "-c", "stty raw -echo; echo ready; sleep 605"] });
  await terminal.shows("ready");
  for (let i = 0; i < 16; i++) terminal.type(Buffer.alloc(1 << 20, "x"));
  assert.equal(await withinMs("exec beside it", 30_000, t.session.output("echo fine")), "fine\n");
  assert(terminal.socket.socket.writableLength > 0, "sixteen megabytes found room somewhere");
  terminal.reset();
  await eventually("the program is gone", async () => (await t.session.running("sleep 605")).length === 0);
});
