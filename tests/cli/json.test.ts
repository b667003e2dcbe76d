// SPDX-License-Identifier: Apache-2.0
// --json: what programs read, on stdout and on stderr.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Server } from "../support/server.js";
import { inis } from "./program.js";

describe("inis --json", () => {
  let server: Server;
  let env: Record<string, string>;
  let id: string;
  const call = (...args: string[]) => inis(args, { env });
  const run = async (...args: string[]) => {
    const outcome = await call(...args);
    assert.deepEqual([outcome.code, outcome.stderr], [0, ""], args.join(" "));
    return outcome.stdout;
  };
  const lines = (text: string) =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));

  before(async () => {
    server = await Server.start();
    env = { INIS_BASE_URL: server.baseUrl, INIS_API_KEY: server.token };
    id = JSON.parse(await run("create", "--json", "--name", "box")).session_id;
  });
  after(() => server?.stop());

  test("values have the names of the protocol", async () => {
    const [session] = JSON.parse(await run("ls", "--json"));
    assert.deepEqual([session.session_id, session.name, session.state], [id, "box", "live"]);
    const started = JSON.parse(await run("start", "--json", id, "nap", "--", "sleep", "600"));
    assert.deepEqual([started.name, started.command], ["nap", ["sleep", "600"]]);
    assert.deepEqual(JSON.parse(await run("env", "--json")), { base_url: server.baseUrl, token: server.token });
    const early = JSON.parse(await run("create", "--json", "--no-wait"));
    assert.ok(["creating", "live"].includes(early.state));
    await run("rm", "--json", early.session_id);
  });

  test("commands give an object a line: what they wrote, then how they ended", async () => {
    const script = "printf out; printf err >&2; printf '\\377'; exit 3";
    for (const args of [
      ["exec", "--json", id],
      ["run", "--json"],
    ]) {
      const outcome = await call(...args, "--", "sh", "-c", script);
      assert.deepEqual([outcome.code, outcome.stderr], [3, ""]);
      const events = lines(outcome.stdout);
      const bytes = (name: string) =>
        Buffer.concat(
          events
            .filter(({ event }) => event === name)
            .map(({ data, data_encoding }) => Buffer.from(data, data_encoding ?? "utf8")),
        ).toString("latin1");
      assert.deepEqual([bytes("stdout"), bytes("stderr")], ["out\xff", "err"]);
      const exit = events.at(-1);
      assert.deepEqual([exit.event, exit.exit_code, exit.timed_out], ["exit", 3, false]);
    }
    const late = await call("exec", "--json", "--timeout", "200ms", id, "--", "sleep", "600");
    assert.deepEqual([late.code, lines(late.stdout).at(-1).timed_out, late.stderr], [124, true, ""]);
  });

  test("errors are one object on stderr, with the code of the protocol, and nothing is on stdout", async () => {
    const cases: [string[], string, number][] = [
      [["rm", "--json", "a".repeat(21)], "not_found", 3],
      [["ps", "--json", "nobody"], "not_found", 3],
      [["create", "--json", "--name", "box"], "conflict", 125],
      [["create", "--json", "--size", "huge"], "bad_request", 125],
      [["create", "--json", "surplus"], "usage", 2],
      [["logs", "--json", id, "nobody"], "not_found", 3],
      [["wait", "--json", "--timeout", "100ms", id, "nap"], "timeout", 124],
      [["exec", "--json", id, "--cwd", "/no/where", "--", "true"], "bad_request", 125],
      [["cp", "--json", "/no/such/file", `${id}:x`], "not_found", 3],
      [["cp", "--json", `${id}:x`, "-"], "usage", 2],
    ];
    for (const [args, code, exit] of cases) {
      const outcome = await call(...args);
      assert.deepEqual([outcome.code, outcome.stdout], [exit, ""], `${args.join(" ")}: ${outcome.stderr}`);
      const [error, ...more] = lines(outcome.stderr);
      assert.deepEqual([error.code, typeof error.error, more.length], [code, "string", 0], args.join(" "));
    }
    const away = await inis(["ls", "--json"], { env: { ...env, INIS_BASE_URL: "http://127.0.0.1:1" } });
    assert.deepEqual([away.code, JSON.parse(away.stderr).code], [4, "bad_gateway"]);
    const locked = await inis(["ls", "--json"], { env: { ...env, INIS_API_KEY: "sk_wrong" } });
    assert.deepEqual([locked.code, JSON.parse(locked.stderr).code], [125, "unauthenticated"]);
  });

  test("L17 a session that is not up in time is destroyed and 124", async () => {
    const before = JSON.parse(await run("ls", "--json")).length;
    const outcome = await call("create", "--json", "--timeout", "1ms");
    if (outcome.code !== 0) {
      assert.deepEqual([outcome.code, outcome.stdout, JSON.parse(outcome.stderr).code], [124, "", "timeout"]);
      assert.equal(JSON.parse(await run("ls", "--json")).length, before);
    }
  });
});
