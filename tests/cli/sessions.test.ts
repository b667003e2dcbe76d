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
    assert.equal(outcome.code, 125);
    assert.match(outcome.stderr, /not_found/);
    assert.match(outcome.stderr, /"\.\.\/etc" is not a session id/);
    assert.deepEqual(await listed(), []);
  });

  test("a name in use is refused", async () => {
    const id = (await run("create", "--name", "taken")).trim();
    const second = await inis(["create", "--name", "taken"], { env });
    assert.equal(second.code, 125);
    assert.match(second.stderr, /conflict/);
    await run("rm", id);
  });
});

describe("inis says what it is", () => {
  test("every verb teaches with examples", async () => {
    const overview = (await inis(["--help"])).stdout;
    for (const verb of ["run", "create", "exec", "ls", "rm", "env"]) {
      assert.match(overview, new RegExp(`^  ${verb} +\\w`, "m"));
      const help = await inis([verb, "--help"]);
      assert.equal(help.code, 0);
      assert.match(help.stdout, new RegExp(`^inis ${verb} .*[\\s\\S]*Examples:\\n  `));
      assert.equal((await inis(["help", verb])).stdout, help.stdout);
    }
  });

  test("--version is one line", async () => {
    assert.match((await inis(["--version"])).stdout, /^inis \d+\.\d+\.\d+\n$/);
  });

  test("an unknown verb is an error with the overview", async () => {
    const outcome = await inis(["frobnicate"]);
    assert.deepEqual([outcome.code, outcome.stdout], [125, ""]);
    assert.match(outcome.stderr, /no verb "frobnicate"[\s\S]*Verbs/);
  });
});
