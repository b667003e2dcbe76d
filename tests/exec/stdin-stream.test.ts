// SPDX-License-Identifier: Apache-2.0
// stdin_open and POST /execs/{exec_id}/stdin: input that comes while the command runs.
import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { after, before, describe, test } from "node:test";
import { eventually, randomBytes, sha256 } from "../support/helpers.js";
import { Server } from "../support/server.js";
import { sh, TestSession } from "../support/session.js";

describe("input of a running exec", () => {
  let server: Server;
  let session: TestSession;
  let count = 0;

  /** A streamed exec with an open stdin. */
  const start = async (command: string[], more = {}) => {
    const id = `exec-${count++}`;
    const stream = await session.execStream(command, { exec_id: id, stdin_open: true, ...more });
    const write = (body: Buffer | string | Readable, eof = false) =>
      session.send("POST", `/execs/${id}/stdin`, { query: { eof }, body });
    return { id, write, done: stream.collect() };
  };

  before(async () => {
    server = await Server.start();
    session = await TestSession.create(server.client());
  });
  after(() => server?.stop());

  test("the server lists the extension", async () => {
    const health = await session.client.expect(200, "GET", "/v1/healthz");
    assert.ok((health.json.extensions as string[]).includes("exec.stdin.stream"));
  });

  test("X14 10 MB arrive whole, and the explicit end is the end", async () => {
    const bytes = randomBytes(10_000_000);
    const { write, done } = await start(["sha256sum"]);
    const reply = await write(Readable.from([bytes]), true);
    assert.deepEqual([reply.status, reply.json.bytes], [200, bytes.length]);
    const { stdout, terminal } = await done;
    assert.equal(stdout.toString().slice(0, 64), sha256(bytes));
    assert.equal((terminal!.json as { exit_code: number }).exit_code, 0);
  });

  test("several requests follow one another, after the bytes of stdin, and output comes meanwhile", async () => {
    const { write, done } = await start(["cat"], { stdin: "first " });
    assert.equal((await write("second ")).status, 200);
    assert.equal((await write("")).status, 200);
    assert.equal((await write("third", true)).status, 200);
    assert.equal((await done).stdout.toString(), "first second third");
  });

  test("without an end the command goes on waiting, and its own end refuses the rest", async () => {
    const { write, done } = await start(sh("read line; echo got $line"));
    const rest = write(Readable.from([Buffer.from("one\n"), Buffer.alloc(4_000_000, "x")]));
    assert.equal((await done).stdout.toString(), "got one\n");
    const reply = await rest;
    assert.equal(reply.status, 409, reply.body.toString());
  });

  test("a command that closes its stdin refuses the rest", async () => {
    const { write, done } = await start(sh("exec <&-; echo closed; while [ ! -e go ]; do sleep 0.1; done; echo over"));
    const reply = await write(Readable.from([Buffer.alloc(4_000_000, "x")]));
    assert.equal(reply.status, 409, reply.body.toString());
    await session.output("touch go");
    assert.equal((await done).stdout.toString(), "closed\nover\n");
  });

  test("one request at a time; one that is cut off closes nothing", async () => {
    const { id, write, done } = await start(["cat"]);
    const slow = new PassThrough();
    const cut = session.client.open("POST", session.path(`/execs/${id}/stdin`), { body: slow }).catch(() => undefined);
    slow.write("begun ");
    await eventually("a second writer is refused", async () => (await write("no")).status === 409);
    slow.destroy(new Error("gone"));
    await cut;
    const ended = await eventually("the next one is let in", async () => {
      const reply = await write("ended", true);
      return reply.status === 200 && reply;
    });
    assert.equal(ended.json.bytes, 5);
    const text = (await done).stdout.toString();
    assert.match(text, /^(no)*begun (no)*ended$/);
  });

  test("what cannot be written to is named", async () => {
    const missing = await session.send("POST", "/execs/nobody/stdin", { body: "x" });
    assert.equal(missing.status, 404);
    const unnamed = await session.send("POST", "/exec", { json: { command: ["true"], stdin_open: true } });
    assert.equal(unnamed.status, 400);
    assert.match(unnamed.json.error as string, /exec_id/);
    const closed = await session.execStream(["sleep", "600"], { exec_id: "closed" });
    assert.equal((await session.send("POST", "/execs/closed/stdin", { body: "x" })).status, 409);
    await session.expect(200, "DELETE", "/execs/closed");
    await closed.collect();
  });
});
