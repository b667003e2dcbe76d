// SPDX-License-Identifier: Apache-2.0
// `inis create`, `exec`, `ls` and `rm`, and what the program says about itself.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { withinMs } from "../support/helpers.js";
import { Server } from "../support/server.js";
import { inis, Program } from "./program.js";

describe("inis sessions", () => {
  let server: Server;
  let env: Record<string, string>;
  const run = async (...args: string[]) => {
    const outcome = await inis(args, { env });
    assert.equal(outcome.code, 0, outcome.stderr);
    return outcome.stdout;
  };
  const listed = async (...args: string[]) => JSON.parse(await run("ls", "--json", ...args));

  before(async () => {
    server = await Server.start();
    env = { INIS_BASE_URL: server.baseUrl, INIS_API_KEY: server.token };
  });
  after(() => server?.stop());

  test("create prints the id of a session that exec can use and rm destroys", async () => {
    const id = (await run("create", "--name", "first", "--label", "team=search", "--env", "STAGE=test")).trim();
    assert.match(id, /^[a-z0-9]{21}$/);
    assert.equal(await run("exec", id, "--", "sh", "-c", "echo kept > note; echo $STAGE"), "test\n");
    assert.equal(await run("exec", id, "cat", "note"), "kept\n");
    const [session] = await listed();
    assert.deepEqual([session.session_id, session.name, session.labels], [id, "first", { team: "search" }]);
    assert.match(await run("ls"), new RegExp(`^ID .*\\n${id} +live .*first\\n$`));
    await run("rm", id);
    assert.deepEqual(await listed(), []);
    assert.equal((await listed("--state", "ended"))[0].session_id, id);
  });

  test("exec has its own environment, directory, timeout and input", async () => {
    const id = (await run("create", "--env", "A=session", "--env", "B=session")).trim();
    const options = ["--env", "B=call", "--cwd", "/tmp"];
    assert.equal(await run("exec", ...options, id, "--", "sh", "-c", "echo $A $B $PWD"), "session call /tmp\n");
    assert.equal(await run("exec", id, ...options, "--", "sh", "-c", "echo $A $B $PWD"), "session call /tmp\n");
    const late = await inis(["exec", id, "--timeout", "300ms", "--", "sleep", "600"], { env });
    assert.equal(late.code, 124);
    const fed = await inis(["exec", id, "--", "tr", "a-z", "A-Z"], { env, input: "shout" });
    assert.equal(fed.stdout, "SHOUT");
    await run("rm", id);
  });

  test("a signal ends the command of exec and leaves the session", async () => {
    const id = (await run("create")).trim();
    const program = Program.start(["exec", id, "--", "sh", "-c", "echo started; exec sleep 654"], { env });
    await program.prints("started");
    program.child.kill("SIGINT");
    assert.equal((await withinMs("exec", 60_000, program.outcome)).code, 130);
    const gone = "for i in $(seq 300); do grep -qs 654 /proc/[0-9]*/cmdline || exit 0; sleep 0.1; done; exit 1";
    await run("exec", id, "--", "bash", "-c", gone.replace("grep -qs 654", "grep -qsz ^654$"));
    await run("rm", id);
  });

  test("ls shows the newest first", async () => {
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push((await run("create", "--name", `number-${i}`)).trim());
    assert.deepEqual(
      (await listed()).map((session: { session_id: string }) => session.session_id),
      ids.reverse(),
    );
    await run("rm", ...ids);
    assert.deepEqual(await listed(), []);
  });

  test("rm tries every id and says which failed", async () => {
    const id = (await run("create")).trim();
    const outcome = await inis(["rm", "a".repeat(21), "../etc", id], { env });
    assert.equal(outcome.code, 3);
    assert.match(outcome.stderr, /not_found/);
    assert.match(outcome.stderr, /no session has the id or name "\.\.\/etc"/);
    assert.deepEqual(await listed(), []);
  });

  test("a session is found by its name too", async () => {
    await run("create", "--name", "dev box");
    assert.equal(await run("exec", "dev box", "--", "echo", "here"), "here\n");
    await run("rm", "dev box");
    const gone = await inis(["exec", "dev box", "--", "true"], { env });
    assert.equal(gone.code, 125);
    assert.match(gone.stderr, /no session has the id or name "dev box"/);
  });

  test("pause and resume, of several at once", async () => {
    const ids = [(await run("create")).trim(), (await run("create")).trim()];
    const states = (text: string) => JSON.parse(text).map(({ state }: { state: string }) => state);
    assert.deepEqual(states(await run("pause", "--json", ...ids)), ["paused", "paused"]);
    assert.equal((await listed("--state", "paused")).length, 2);
    assert.equal(await run("pause", ids[0]!), "");
    assert.deepEqual(states(await run("resume", "--json", ...ids)), ["live", "live"]);
    const one = await inis(["pause", "a".repeat(21), ids[0]!], { env });
    assert.equal(one.code, 3);
    assert.equal((await listed("--state", "paused"))[0].session_id, ids[0], "each is tried");
    await run("rm", ...ids);
  });

  test("a name in use is refused", async () => {
    const id = (await run("create", "--name", "taken")).trim();
    const second = await inis(["create", "--name", "taken"], { env });
    assert.equal(second.code, 125);
    assert.match(second.stderr, /conflict/);
    await run("rm", id);
  });
});
