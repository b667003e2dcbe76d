// SPDX-License-Identifier: Apache-2.0
// `inis run`: the command's streams and exit code are the program's own, and the session never outlives it.
import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { randomBytes, sha256, withinMs } from "../support/helpers.js";
import { Server } from "../support/server.js";
import { inis, Program, type ProgramOptions } from "./program.js";

describe("inis run", () => {
  let server: Server;
  let env: Record<string, string>;
  const run = (args: string[], options: ProgramOptions = {}) => inis(["run", ...args], { env, ...options });
  const sessions = async () => (await server.client().expect(200, "GET", "/v1/sessions")).json.sessions;

  before(async () => {
    server = await Server.start();
    env = { INIS_BASE_URL: server.baseUrl, INIS_API_KEY: server.token };
  });
  after(() => server?.stop());
  afterEach(async () => assert.deepEqual(await sessions(), [], "a session was left behind"));

  test("the exit code is passed through, stdout and stderr are kept apart", async () => {
    const outcome = await run(["--", "sh", "-c", "echo out; echo err >&2; exit 42"]);
    assert.deepEqual([outcome.code, outcome.stdout, outcome.stderr], [42, "out\n", "err\n"]);
  });

  test("arguments arrive untouched", async () => {
    const args = ["", "two words", "q\"uo'te", "$HOME", "line\nbreak", "żółw", "--help", "-n"];
    const outcome = await run(["python3", "-c", "import sys, json; print(json.dumps(sys.argv[1:]))", ...args]);
    assert.deepEqual(JSON.parse(outcome.stdout), args);
  });

  test("output is exact for any bytes", async () => {
    const outcome = await run(["--", "python3", "-c", "import sys; sys.stdout.buffer.write(bytes(range(256)) * 8192)"]);
    const expected = Buffer.concat(Array(8192).fill(Buffer.from(Array.from({ length: 256 }, (_, i) => i))));
    assert.equal(outcome.code, 0, outcome.stderr);
    assert.equal(sha256(outcome.bytes), sha256(expected));
  });

  test("stdin reaches the command", async () => {
    const outcome = await run(["--", "python3", "-"], { input: "print(6 * 7)\n" });
    assert.deepEqual([outcome.code, outcome.stdout], [0, "42\n"]);
  });

  for (const [what, options] of [
    ["a pipe", (bytes: Buffer) => ({ input: bytes })],
    ["a file", (bytes: Buffer) => ({ file: bytes })],
  ] as const) {
    test(`X14 10 MB on stdin, from ${what}, reach the command whole`, async () => {
      const bytes = randomBytes(10_000_000);
      const counted = await run(["--", "sh", "-c", "tee sum | wc -c; sha256sum sum"], options(bytes));
      assert.equal(counted.stdout, `10000000\n${sha256(bytes)}  sum\n`, counted.stderr);
    });
  }

  test("stdin is passed on as it comes, and its end too", async () => {
    const program = Program.start(["run", "--", "cat"], { env, openStdin: true });
    for (const line of ["one\n", "two\n"]) {
      program.child.stdin?.write(line);
      await program.prints(line);
    }
    program.child.stdin?.end();
    assert.equal((await withinMs("run", 60_000, program.outcome)).code, 0);
  });

  test("a silent open pipe on stdin holds up no command that does not read it", async () => {
    const outcome = await withinMs("run", 60_000, run(["--", "echo", "done"], { openStdin: true }));
    assert.deepEqual([outcome.code, outcome.stdout, outcome.stderr], [0, "done\n", ""]);
    const quiet = await withinMs("run", 60_000, run(["-n", "--", "cat"], { openStdin: true }));
    assert.deepEqual([quiet.code, quiet.stdout, quiet.stderr], [0, "", ""]);
  });

  test("a command that ends before its input does is no failure", async () => {
    const program = Program.start(["run", "--", "head", "-c", "3"], { env, openStdin: true });
    program.child.stdin?.write("x".repeat(500_000));
    const outcome = await withinMs("run", 60_000, program.outcome);
    assert.deepEqual([outcome.code, outcome.stdout, outcome.stderr], [0, "xxx", ""]);
  });

  test("a timeout gives 124 and keeps the output so far", async () => {
    const outcome = await withinMs(
      "run",
      60_000,
      run(["--timeout", "500ms", "--", "sh", "-c", "echo before; sleep 600"]),
    );
    assert.deepEqual([outcome.code, outcome.stdout], [124, "before\n"]);
    assert.match(outcome.stderr, /timeout/);
  });

  test("a command that does not exist gives 127", async () => {
    const outcome = await run(["--", "no-such-command"]);
    assert.equal(outcome.code, 127);
    assert.match(outcome.stderr, /no-such-command/);
  });

  test("death by a signal gives 128 and its number", async () => {
    assert.equal((await run(["--", "sh", "-c", "kill -9 $$"])).code, 137);
  });

  test("env and cwd are those asked for", async () => {
    const outcome = await run(["--env", "A=x y", "--env=B=", "--cwd", "/tmp", "--", "sh", "-c", 'echo "$A|$B|$PWD"']);
    assert.equal(outcome.stdout, "x y||/tmp\n", outcome.stderr);
  });

  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    test(`${signal} ends the command and destroys the session`, async () => {
      const program = Program.start(["run", "--", "sh", "-c", "echo started; sleep 600"], { env });
      await program.prints("started");
      program.child.kill(signal);
      const outcome = await withinMs("run", 60_000, program.outcome);
      assert.equal(outcome.code, code, outcome.stderr);
    });
  }

  test("a reader that leaves ends it", async () => {
    const program = Program.start(["run", "--", "yes"], { env });
    await program.prints("y");
    program.child.stdout?.destroy();
    const outcome = await withinMs("run", 60_000, program.outcome);
    assert.equal(outcome.code, 141, outcome.stderr);
  });

  test("its own failures give 125 and the reason", async () => {
    const cases: [string[], Record<string, string>, RegExp][] = [
      [["--template", "no-such-template", "--", "true"], env, /template/],
      [["--size", "gigantic", "--", "true"], env, /size/],
      [["--cwd", "/no/such/dir", "--", "true"], env, /cwd/],
      [["--", "true"], { ...env, INIS_API_KEY: "sk_wrong" }, /unauthenticated/],
      [["--", "true"], { ...env, INIS_BASE_URL: "http://127.0.0.1:1" }, /connect/i],
      [["--", "true"], { INIS_BASE_URL: server.baseUrl }, /INIS_API_KEY/],
      [[], env, /which command/],
      [["--timeout", "soon", "--", "true"], env, /duration/],
      [["--env", "novalue", "--", "true"], env, /NAME=VALUE/],
      [["--nonsense", "--", "true"], env, /nonsense/],
    ];
    for (const [args, settings, reason] of cases) {
      const outcome = await run(args, { env: settings });
      assert.equal(outcome.code, 125, `${args.join(" ")}: ${outcome.stderr}`);
      assert.match(outcome.stderr, reason);
      assert.equal(outcome.stdout, "");
    }
  });
});
