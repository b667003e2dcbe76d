// SPDX-License-Identifier: Apache-2.0
// A machine that lacks what a new session needs: who asks for the session is told what it was.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { unitCgroups } from "../support/footprint.js";
import { Server } from "../support/server.js";
import { TestSession } from "../support/session.js";

/** The limit of processes for all units of the server together. */
async function limitOfAll(server: Server): Promise<string> {
  const session = await TestSession.create(server.client());
  await session.exec(["true"]);
  const files = unitCgroups(server).map((unit) => join(dirname(unit), "pids.max"));
  await session.destroy();
  return files.find((file) => existsSync(file))!;
}

test("what_an_agent_lacked_at_its_start_is_in_the_answer_to_the_create", async () => {
  const server = await Server.start({ pool: 0 });
  try {
    const client = server.client();
    const file = await limitOfAll(server);
    const before = readFileSync(file, "utf8");
    writeFileSync(file, "1");
    const { json } = await client.expect(503, "POST", "/v1/sessions", { json: {} });
    assert.equal(json.code, "unavailable");
    assert.match(String(json.error), /cannot start a process: Resource temporarily unavailable/);
    writeFileSync(file, before.trim());
    assert.equal(await (await TestSession.create(client)).output("echo fine"), "fine\n");
  } finally {
    await server.stop();
  }
});
