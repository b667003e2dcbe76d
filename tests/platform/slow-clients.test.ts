// SPDX-License-Identifier: Apache-2.0
// Clients that are slow on purpose: they lose their connection, and nobody else notices.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parallel, sleep } from "../support/helpers.js";
import { suite } from "../support/suite.js";
import { head, Wire } from "../support/wire.js";

const t = suite();

// Side by side: each only waits for the server to lose its patience.
describe("slow clients", { concurrency: true }, () => {
  test("half_open_connections_do_not_stop_others_and_slow_heads_are_timed_out", async () => {
    const slow = await parallel(30, 30, () => Wire.open(t.server));
    for (const [i, wire] of slow.entries()) wire.send(head(t.server, "GET", "/v1/healthz").slice(0, i));
    const drip = setInterval(() => {
      for (const wire of slow.filter(({ closed }) => !closed)) wire.send("x");
    }, 1000);
    for (let i = 0; i < 20; i++) assert.equal(await t.session.output(`echo ${i}`), `${i}\n`);
    await Promise.all(slow.map((wire) => wire.untilClosed()));
    clearInterval(drip);
  });

  /** Sends a body a piece at a time until it is whole or the connection is closed. */
  async function drip(path: string, pieces: number, piece: string): Promise<Wire> {
    const wire = await Wire.open(t.server);
    wire.send(
      head(t.server, path.includes("stdin") ? "POST" : "PUT", path, `Content-Length: ${pieces * piece.length}`),
    );
    for (let i = 0; i < pieces && !wire.closed; i++) {
      wire.send(piece);
      await sleep(1000);
    }
    return wire;
  }

  test("a_body_that_drips_is_given_up", async () => {
    const wire = await drip(t.session.path("/files/stream?path=dripped"), 600, "x");
    assert(wire.closed, "ten minutes of one byte a second");
    assert.equal((await t.session.send("GET", "/files?path=dripped&op=stat")).status, 404, "nothing of it is left");
  });

  test("a_body_of_some_kilobytes_a_second_is_waited_for", async () => {
    const wire = await drip(t.session.path("/files/stream?path=slow"), 75, "y".repeat(2048));
    assert.equal((await wire.answer()).status, 200);
    wire.close();
    assert.equal((await t.session.read("slow")).length, 75 * 2048);
  });

  test("what_is_typed_into_a_stdin_may_come_as_slowly_as_it_likes", async () => {
    await t.session.start("reader", ["wc", "-c"], { stdin: true });
    const wire = await drip(t.session.path("/processes/reader/stdin?eof=true"), 75, "z");
    assert.equal((await wire.answer()).status, 200);
    wire.close();
    assert.equal((await t.session.exited("reader")).exit_code, 0);
    assert.equal((await t.session.logs("reader")).stdout.trim(), "75");
  });

  test("a_body_that_stops_coming_is_given_up", async () => {
    const wire = await Wire.open(t.server);
    wire.send(`${head(t.server, "POST", "/v1/sessions", "Content-Length: 100")}{"name":`);
    await wire.untilClosed();
    await t.client.expect(200, "GET", "/v1/healthz");
  });
});
