// SPDX-License-Identifier: Apache-2.0
// Terminals: the WebSocket client and the messages on it.

import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { test } from "node:test";
import { Client, InisError, PTY } from "@inis-run/sdk";
import { FakeServer, json } from "./support/fake-server.js";
import { serverFrame, WebSocketServer } from "./support/websocket-server.js";

async function output(pty: PTY): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const bytes of pty) pieces.push(bytes);
  return Buffer.concat(pieces).toString();
}

function data(text: string | Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(1), Buffer.from(text as Uint8Array)]);
}

test("the handshake carries the key and the terminal's properties", async () => {
  await using server = await WebSocketServer.start();
  const session = server.client().sessions.attach("abc");
  await using pty = await session.pty();
  assert.ok(pty instanceof PTY);
  assert.equal(server.peer.request.url, "/v1/sessions/abc/pty?rows=24&cols=80&term=xterm-256color&colorterm=truecolor");
  const { headers } = server.peer.request;
  assert.equal(headers.authorization, "Bearer sk_test");
  assert.equal(headers["sec-websocket-version"], "13");
  assert.equal(headers["sec-websocket-protocol"], undefined);
  await using other = await session.pty({
    rows: 40,
    cols: 120,
    command: ["ls", "a b"],
    cwd: "/c",
    term: "dumb",
    colorterm: "",
  });
  assert.equal(other.exitCode, null);
  assert.equal(
    server.peer.request.url,
    "/v1/sessions/abc/pty?rows=40&cols=120&term=dumb&colorterm=&cmd=ls&cmd=a+b&cwd=%2Fc",
  );
});

test("input, size and signals have their bytes, masked", async () => {
  await using server = await WebSocketServer.start();
  await using pty = await server.client().sessions.attach("abc").pty();
  pty.write("ls\n");
  pty.write(Uint8Array.of(0, 255));
  pty.resize(120, 40);
  pty.sendSignal(2);
  pty.kill();
  const expected = ["016c730a", "0100ff", "0200280078", "0302", "0309"];
  for (const [i, hex] of expected.entries()) {
    const frame = await server.peer.frame(i);
    assert.deepEqual([frame.opcode, frame.masked, frame.payload.toString("hex")], [2, true, hex]);
  }
});

test("input of any length arrives whole, in messages of at most 1 MiB", async () => {
  await using server = await WebSocketServer.start();
  await using pty = await server.client().sessions.attach("abc").pty();
  for (const length of [125, 126, 65_534, 65_535, 65_536]) pty.write(Buffer.alloc(length, length));
  const long = Buffer.alloc((1 << 20) * 2 + 5, "0123456789");
  pty.write(long);
  const sizes: number[] = [];
  for (let i = 0; i < 5; i++) sizes.push((await server.peer.frame(i)).payload.length - 1);
  assert.deepEqual(sizes, [125, 126, 65_534, 65_535, 65_536]);
  const parts = [await server.peer.frame(5), await server.peer.frame(6), await server.peer.frame(7)];
  assert.deepEqual(
    parts.map(({ payload }) => payload.length),
    [(1 << 20) + 1, (1 << 20) + 1, 6],
  );
  assert.ok(Buffer.concat(parts.map(({ payload }) => payload.subarray(1))).equals(long));
});

test("output that comes together with the handshake is not lost", async () => {
  const greeting = Buffer.concat([serverFrame(2, data("early")), serverFrame(2, Buffer.from("05fffffffe", "hex"))]);
  await using server = await WebSocketServer.start(greeting);
  const pty = await server.client().sessions.attach("abc").pty();
  assert.equal(await output(pty), "early");
  assert.equal(pty.exitCode, -2);
  await server.peer.closed;
});

test("output arrives whole however its frames are cut and fragmented, with pings in between", async () => {
  const long = Buffer.alloc(70_000, "日本語☕");
  const bytes = Buffer.concat([
    serverFrame(2, data("a")),
    serverFrame(2, data("b"), 0x02),
    serverFrame(9, Buffer.from("beat")),
    serverFrame(0, Buffer.from("c"), 0x00),
    serverFrame(0, Buffer.from("d"), 0x80),
    serverFrame(1, Buffer.from("text is ignored")),
    serverFrame(2, Buffer.alloc(0)),
    serverFrame(2, Buffer.of(4, 1, 2)),
    serverFrame(2, data(long)),
    serverFrame(2, Buffer.from("0500000007", "hex")),
  ]);
  for (const size of [1, 7, 4096]) {
    await using server = await WebSocketServer.start(Buffer.alloc(0), async (peer) => {
      const step = size === 1 ? bytes.length - 200 : 0;
      if (step) for (const byte of bytes.subarray(0, 200)) peer.socket.write(Buffer.of(byte));
      for (let at = step ? 200 : 0; at < bytes.length; at += 4096 + size)
        peer.socket.write(bytes.subarray(at, at + 4096 + size));
    });
    const pty = await server.client().sessions.attach("abc").pty();
    assert.equal(await output(pty), `abcd${long}`);
    assert.equal(pty.exitCode, 7);
    const pong = await server.peer.frame(0);
    assert.deepEqual([pong.opcode, pong.payload.toString()], [10, "beat"]);
  }
});

test("leaving a loop keeps the terminal open, and a new loop goes on", async () => {
  await using server = await WebSocketServer.start();
  const pty = await server.client().sessions.attach("abc").pty();
  server.peer.message(1, "one");
  for await (const bytes of pty) {
    assert.equal(Buffer.from(bytes).toString(), "one");
    break;
  }
  pty.write("x");
  await server.peer.frame(0);
  server.peer.message(1, "two");
  server.peer.exit(0);
  assert.equal(await output(pty), "two");
  assert.equal(pty.exitCode, 0);
  assert.deepEqual((await server.peer.frame(1)).payload.toString("hex"), "03e8");
});

test("an error message ends the terminal with that error, after the output before it", async () => {
  await using server = await WebSocketServer.start();
  const pty = await server.client().sessions.attach("abc").pty();
  server.peer.message(1, "out");
  server.peer.message(6, "guest läuft nicht");
  let seen = "";
  await assert.rejects(
    async () => {
      for await (const bytes of pty) seen += Buffer.from(bytes).toString();
    },
    { name: "InisError", message: "guest läuft nicht" },
  );
  assert.equal(seen, "out");
  assert.throws(() => pty.write("x"), { name: "InisError", message: "pty is closed" });
});

test("a lost connection ends the loop without an exit code", async () => {
  for (const lose of ["end", "destroy", "resetAndDestroy"] as const) {
    await using server = await WebSocketServer.start();
    const pty = await server.client().sessions.attach("abc").pty();
    server.peer.message(1, "out");
    const iterator = pty[Symbol.asyncIterator]();
    await iterator.next();
    server.peer.socket[lose]();
    assert.deepEqual(await iterator.next(), { done: true, value: undefined });
    assert.equal(pty.exitCode, null);
    assert.throws(() => pty.resize(1, 1), { message: "pty is closed" });
  }
});

test("the server's close is answered with the same code", async () => {
  await using server = await WebSocketServer.start();
  const pty = await server.client().sessions.attach("abc").pty();
  server.peer.send(serverFrame(8, Buffer.from("03e9", "hex")));
  assert.equal(await output(pty), "");
  const close = await server.peer.frame(0);
  assert.deepEqual([close.opcode, close.payload.toString("hex")], [8, "03e9"]);
});

test("closing says goodbye once, closes the connection, and is fine to repeat", async () => {
  await using server = await WebSocketServer.start();
  const pty = await server.client().sessions.attach("abc").pty();
  server.peer.message(1, "unread");
  await Promise.all([pty.close(), pty.close()]);
  await pty.close();
  await server.peer.closed;
  assert.deepEqual(
    server.peer.frames.map(({ opcode }) => opcode),
    [8],
  );
  assert.throws(() => pty.kill(), { message: "pty is closed" });
});

const nonsense: [what: string, bytes: Buffer, closeCode: string][] = [
  ["a masked frame", Buffer.from("8285000000000161626364", "hex"), "03ea"],
  ["a reserved bit", serverFrame(2, data("x"), 0xc2), "03ea"],
  ["an unknown opcode", serverFrame(3, data("x")), "03ea"],
  ["a long ping", serverFrame(9, Buffer.alloc(126)), "03ea"],
  ["a fragmented ping", serverFrame(9, Buffer.alloc(1), 0x09), "03ea"],
  ["a continuation of nothing", serverFrame(0, data("x")), "03ea"],
  ["a message within a message", Buffer.concat([serverFrame(2, data("x"), 2), serverFrame(2, data("y"))]), "03ea"],
  ["a message that is too large", serverFrame(2, Buffer.alloc((1 << 20) + 65)), "03f1"],
  [
    "fragments that are too large together",
    Buffer.concat([serverFrame(2, Buffer.alloc(1 << 20), 2), serverFrame(0, Buffer.alloc(65))]),
    "03f1",
  ],
  ["a length that no machine has", Buffer.from("827f7fffffffffffffff", "hex"), "03f1"],
];
for (const [what, bytes, closeCode] of nonsense) {
  test(`${what} ends the terminal with an error`, async () => {
    await using server = await WebSocketServer.start();
    const pty = await server.client().sessions.attach("abc").pty();
    server.peer.send(bytes);
    await assert.rejects(
      output(pty),
      (error) => error instanceof InisError && error.message.startsWith("pty connection failed: "),
    );
    const close = await server.peer.frame(0);
    assert.deepEqual([close.opcode, close.payload.toString("hex")], [8, closeCode]);
    await server.peer.closed;
  });
}

test("the largest message that is allowed arrives", async () => {
  await using server = await WebSocketServer.start();
  const pty = await server.client().sessions.attach("abc").pty();
  server.peer.send(serverFrame(2, data(Buffer.alloc((1 << 20) + 63, "z"))));
  server.peer.exit(0);
  assert.equal((await output(pty)).length, (1 << 20) + 63);
});

test("output that nobody reads makes the server wait", async () => {
  await using server = await WebSocketServer.start();
  const pty = await server.client().sessions.attach("abc").pty();
  const { socket } = server.peer;
  const piece = serverFrame(2, data(Buffer.alloc(1 << 20, "y")));
  for (let i = 0; i < 64; i++) socket.write(piece);
  for (let before = -1; socket.writableLength !== before; ) {
    before = socket.writableLength;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  assert.ok(socket.writableLength > 16 << 20, "most of it is still here");
  server.peer.exit(0);
  let total = 0;
  for await (const bytes of pty) total += bytes.length;
  assert.equal(total, 64 << 20);
  assert.equal(pty.exitCode, 0);
});

test("a refused handshake has the server's text and no code", async () => {
  await using server = await FakeServer.start(json(404, { error: "no such session", code: "not_found" }));
  server.server.on("upgrade", (_, socket) => {
    const body = '{"error":"no such session","code":"not_found"}';
    socket.end(`HTTP/1.1 404 Not Found\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  });
  await assert.rejects(server.client().sessions.attach("abc").pty(), (error: InisError) => {
    assert.deepEqual([error.message, error.code, error.status], ["404: no such session", "error", undefined]);
    return true;
  });
});

/** A server that answers any connection with these bytes. */
async function raw(bytes: string | undefined) {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    if (bytes === undefined) return;
    socket.once("data", () => socket.end(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = new Client({ token: "t", baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  return { server, session: client.sessions.attach("abc") };
}

test("what is no WebSocket handshake is refused", async () => {
  const head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n";
  for (const answer of [
    `${head}Upgrade: websocket\r\nSec-WebSocket-Accept: wrong\r\n\r\n`,
    `${head}Upgrade: h2c\r\n\r\n`,
    "nonsense\r\n\r\n",
    "",
  ]) {
    const { server, session } = await raw(answer);
    await assert.rejects(
      session.pty(),
      (error: InisError) => error.name === "InisError" && /^pty connection failed: /.test(error.message),
    );
    server.close();
  }
});

test("opening ends at its time limit and at the caller's signal", async () => {
  const { server, session } = await raw(undefined);
  await assert.rejects(session.pty({ openTimeoutMs: 80 }), { name: "InisError", message: /not open after 80 ms/ });
  await assert.rejects(session.pty({ signal: AbortSignal.timeout(80) }), { name: "TimeoutError" });
  await assert.rejects(session.pty({ signal: AbortSignal.abort() }), { name: "AbortError" });
  server.close();
});

test("nobody there is a failed connection with its cause", async () => {
  const { server, session } = await raw(undefined);
  await new Promise((resolve) => server.close(resolve));
  await assert.rejects(session.pty(), (error: InisError) => {
    assert.match(error.message, /^pty connection failed: .*ECONNREFUSED/);
    assert.equal((error.cause as { code?: string }).code, "ECONNREFUSED");
    return true;
  });
});

test("a name is sent only to a server that knows it, and the size only when it is said", async () => {
  await using plain = await WebSocketServer.start();
  await assert.rejects(plain.client().sessions.attach("abc").pty({ name: "main" }), { code: "unsupported_extension" });
  assert.equal(plain.peers.length, 0);
  await using server = await WebSocketServer.start();
  server.extensions = ["pty.name"];
  const session = server.client().sessions.attach("abc");
  await using _ = await session.pty({ name: "main" });
  assert.equal(server.peer.request.url, "/v1/sessions/abc/pty?term=xterm-256color&colorterm=truecolor&name=main");
  await using __ = await session.pty({ name: "main", cols: 100 });
  assert.match(server.peer.request.url ?? "", /rows=24&cols=100/);
});

test("sizes come between the output, and a plain loop passes them over", async () => {
  await using server = await WebSocketServer.start();
  server.extensions = ["pty.name"];
  const session = server.client().sessions.attach("abc");
  const feed = (): void => {
    server.peer.message(7, Buffer.from("0018005003", "hex"));
    server.peer.message(1, "one");
    server.peer.message(7, Buffer.from("001800500c", "hex"));
    server.peer.message(7, Buffer.of(1, 2));
    server.peer.message(1, "two");
    server.peer.exit(0);
  };
  const pty = await session.pty({ name: "main" });
  feed();
  const events: unknown[] = [];
  for await (const event of pty.events())
    events.push(event.type === "data" ? Buffer.from(event.bytes).toString() : event);
  const size = { type: "size", rows: 24, cols: 80 };
  assert.deepEqual(events, [
    { ...size, begin: true, truncated: true, live: false, started: false },
    "one",
    { ...size, begin: false, truncated: false, live: true, started: true },
    "two",
  ]);
  const again = await session.pty({ name: "main" });
  feed();
  assert.equal(await output(again), "onetwo");
});

test("being taken over is an error of its own", async () => {
  await using server = await WebSocketServer.start();
  const pty = await server.client().sessions.attach("abc").pty();
  server.peer.message(1, "out");
  server.peer.send(serverFrame(8, Buffer.concat([Buffer.of(0x0f, 0xa1), Buffer.from("taken over")])));
  let seen = "";
  await assert.rejects(
    async () => {
      for await (const bytes of pty) seen += Buffer.from(bytes).toString();
    },
    { name: "InisError", code: "taken_over" },
  );
  assert.equal(seen, "out");
  assert.equal(pty.exitCode, null);
});
