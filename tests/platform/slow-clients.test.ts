// SPDX-License-Identifier: Apache-2.0
// Clients that are slow on purpose: they lose their connection, and nobody else notices.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parallel } from "../support/helpers.js";
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

  test("a_body_that_stops_coming_is_given_up", async () => {
    const wire = await Wire.open(t.server);
    wire.send(`${head(t.server, "POST", "/v1/sessions", "Content-Length: 100")}{"name":`);
    await wire.untilClosed();
    await t.client.expect(200, "GET", "/v1/healthz");
  });
});
