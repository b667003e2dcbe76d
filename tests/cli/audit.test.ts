// SPDX-License-Identifier: Apache-2.0
// `inis audit`: what was run in a session, for people and for programs.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Server } from "../support/server.js";
import { sh, TestSession } from "../support/session.js";
import { inis } from "./program.js";

describe("inis audit", () => {
  let server: Server;
  let env: Record<string, string>;
  const run = async (...args: string[]) => {
    const outcome = await inis(args, { env });
    assert.equal(outcome.code, 0, outcome.stderr);
    return outcome.stdout;
  };

  before(async () => {
    server = await Server.start();
    env = { INIS_BASE_URL: server.baseUrl, INIS_API_KEY: server.token };
  });
  after(() => server?.stop());

  test("shows what was run, the latest first, also when the session is gone", async () => {
    const session = await TestSession.create(server.client(), { command_capture: "full" });
    await session.exec(["echo", "first", "\u001b[31mred"]);
    await session.exec(sh("exit 3"));
    await session.exec(sh("sleep 600"), { timeout_ms: 200 });
    await session.send("POST", "/exec", { json: { command: ["true"], cwd: "/no/such/place" } });
    await session.destroy();
    const [head, ...rows] = (await run("audit", session.id)).trimEnd().split("\n");
    assert.match(head!, /^STARTED +KIND +OUTCOME +MS +CPU MS +KEY +COMMAND$/);
    assert.match(rows[0]!, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ +exec +bad_request +- +- +[0-9a-f]{16} +\["true"\]$/);
    assert.match(rows[1]!, / exec +timed out +\d+ +\d+ .*\["sh","-c","sleep 600"\]$/);
    assert.match(rows[2]!, / exec +exit 3 +\d+ +\d+ .*\["sh","-c","exit 3"\]$/);
    assert.match(rows[3]!, /\["echo","first","\\u001B\[31mred"\]$/, "nothing in it reaches the terminal as it is");
    assert.equal(rows.length, 4);
    assert.equal((await run("audit", "--limit", "1", session.id)).split("\n").length, 3);
  });

  test("a name finds the session, of those that have ended the newest", async () => {
    const name = "audited by name";
    for (const word of ["older", "newer"]) {
      const session = await TestSession.create(server.client(), { name, command_capture: "full" });
      await session.exec(["echo", word]);
      assert.match(await run("audit", name), new RegExp(`"${word}"`), "while it lives");
      await session.destroy();
    }
    assert.match(await run("audit", name), /"newer"/);
  });

  test("--json gives the entries and --limit 0 all of them", async () => {
    const session = await TestSession.create(server.client(), {});
    const ids = Array.from({ length: 100 }, () => session.id);
    for (let round = 0; round < 3; round++) {
      const json = { session_ids: ids, command: ["true"] };
      await session.client.expect(200, "POST", "/v1/sessions/batch/exec", { json });
    }
    assert.equal(JSON.parse(await run("audit", "--json", session.id)).length, 50);
    const all = JSON.parse(await run("audit", "--json", "--limit", "0", session.id)) as { seq: number; kind: string }[];
    assert.deepEqual([all.length, new Set(all.map(({ seq }) => seq)).size, all[0]!.kind], [300, 300, "batch_exec"]);
    assert.equal(JSON.parse(await run("audit", "--json", "--limit", "250", session.id)).length, 250);
  });

  test("says what is wrong with what it was given", async () => {
    const wrong: [string[], RegExp][] = [
      [["audit"], /which session\?/],
      [["audit", "a".repeat(21), "b"], /too many/],
      [["audit", "--limit", "many", "a".repeat(21)], /many/],
      [["audit", "../etc"], /no session has the id or name/],
      [["audit", "a".repeat(21)], /not_found/],
    ];
    for (const [args, complaint] of wrong) {
      const outcome = await inis(args, { env });
      assert.notEqual(outcome.code, 0, args.join(" "));
      assert.match(outcome.stderr, complaint, args.join(" "));
    }
  });
});
