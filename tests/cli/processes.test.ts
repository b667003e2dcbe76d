// SPDX-License-Identifier: Apache-2.0
// `inis start`, `ps`, `logs`, `wait` and `kill`: background processes from the command line.
import assert from "node:assert/strict";
import { type AddressInfo, connect, createServer, type Server as NetServer, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { eventually, withinMs } from "../support/helpers.js";
import { Server } from "../support/server.js";
import { inis, Program } from "./program.js";

/** Passes bytes on to a server until it is told to cut every connection. */
class CuttingProxy {
  cuts = 0;
  private readonly open = new Set<Socket>();

  private constructor(
    private readonly listener: NetServer,
    readonly baseUrl: string,
  ) {}

  static async start(target: string): Promise<CuttingProxy> {
    const { hostname, port } = new URL(target);
    const listener = createServer();
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    const proxy = new CuttingProxy(listener, `http://127.0.0.1:${(listener.address() as AddressInfo).port}`);
    listener.on("connection", (client) => {
      const upstream = connect(Number(port), hostname);
      for (const socket of [client, upstream]) {
        proxy.open.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => {
          proxy.open.delete(socket);
          client.destroy();
          upstream.destroy();
        });
      }
      client.pipe(upstream).pipe(client);
    });
    return proxy;
  }

  cut(): void {
    this.cuts += this.open.size / 2;
    for (const socket of this.open) socket.destroy();
  }

  stop(): void {
    this.cut();
    this.listener.close();
  }
}

describe("inis and background processes", () => {
  let server: Server;
  let env: Record<string, string>;
  let id: string;
  const call = (...args: string[]) => withinMs(args.join(" "), 60_000, inis(args, { env }));
  const run = async (...args: string[]) => {
    const outcome = await call(...args);
    assert.equal(outcome.code, 0, outcome.stderr);
    return outcome.stdout;
  };

  before(async () => {
    server = await Server.start();
    env = { INIS_BASE_URL: server.baseUrl, INIS_API_KEY: server.token };
    id = (await run("create", "--name", "box")).trim();
  });
  after(() => server?.stop());

  test("a process is started, listed, read and ended", async () => {
    assert.equal(
      await run("start", id, "web", "--cwd", "/tmp", "--env", "A=b", "--", "sh", "-c", "echo $A $PWD; sleep 600"),
      "",
    );
    const [row] = JSON.parse(await run("ps", "--json", "box"));
    assert.deepEqual([row.session_id, row.name, row.state], [id, "web", "running"]);
    assert.match(await run("ps"), new RegExp(`^SESSION .*\\n${id}  web +running +- +\\d+ .*sh -c echo`));
    await eventually("it has written", async () => (await run("logs", id, "web")) === "b /tmp\n");
    const killed = JSON.parse(await run("kill", "--grace", "0", "--json", id, "web"));
    assert.deepEqual([killed.state, killed.killed], ["exited", true]);
    assert.ok([137, 143].includes(killed.exit_code), `${killed.exit_code}`);
    const again = await call("kill", id, "web");
    assert.deepEqual([again.code, again.stdout], [0, ""]);
    assert.match(again.stderr, /had exited before, with 1\d\d/);
  });

  test("logs keep the streams apart, show a tail, and one stream alone", async () => {
    await run(
      "start",
      id,
      "lines",
      "--",
      "sh",
      "-c",
      "for i in 1 2 3; do echo o$i; echo e$i >&2; done; printf partial",
    );
    assert.equal((await call("wait", id, "lines")).code, 0);
    const both = await call("logs", id, "lines");
    assert.deepEqual([both.stdout, both.stderr], ["o1\no2\no3\npartial", "e1\ne2\ne3\n"]);
    const tail = await call("logs", "-n", "2", id, "lines");
    assert.deepEqual([tail.stdout, tail.stderr], ["o3\npartial", "e2\ne3\n"]);
    const none = await call("logs", id, "lines", "--tail", "0");
    assert.deepEqual([none.stdout, none.stderr], ["", ""]);
    const one = await call("logs", "--stderr", id, "lines");
    assert.deepEqual([one.stdout, one.stderr], ["", "e1\ne2\ne3\n"]);
    const events = (await run("logs", "--json", "-f", "--stdout", id, "lines")).trim().split("\n");
    assert.equal(events.map((line) => JSON.parse(line).data).join(""), "o1\no2\no3\npartial");
  });

  test("bytes that are no text survive, in JSON too", async () => {
    await run("start", id, "bytes", "--", "printf", "\\377\\000x");
    await run("wait", id, "bytes");
    for (const args of [["logs"], ["logs", "-f"]]) {
      const outcome = await call(...args, id, "bytes");
      assert.deepEqual([...outcome.bytes], [0xff, 0, 0x78]);
    }
    const event = JSON.parse(await run("logs", "--json", id, "bytes"));
    assert.deepEqual(event, { event: "stdout", data: "/wB4", data_encoding: "base64" });
  });

  test("follow gives what was and what comes, each line once, and ends with the process", async () => {
    await run(
      "start",
      id,
      "steps",
      "--",
      "sh",
      "-c",
      "echo 1; while [ ! -e go ]; do sleep 0.1; done; echo 2; echo 3 >&2; exit 4",
    );
    const program = Program.start(["logs", "--follow", "--tail", "1", id, "steps"], { env });
    await program.prints("1");
    await run("exec", id, "--", "touch", "go");
    const { code, stdout, stderr } = await withinMs("logs -f", 60_000, program.outcome);
    assert.deepEqual([code, stdout, stderr], [0, "1\n2\n", "3\n"]);
  });

  test("follow survives connections that break, losing and doubling nothing", async () => {
    const count = 3000;
    const script = `i=0; while [ $i -lt ${count} ]; do echo line $i; i=$((i+1)); [ $((i % 100)) = 0 ] && sleep 0.1; done`;
    const proxy = await CuttingProxy.start(server.baseUrl);
    try {
      await run("start", id, "counter", "--", "sh", "-c", script);
      const through = { ...env, INIS_BASE_URL: proxy.baseUrl };
      const program = Program.start(["logs", "-f", id, "counter"], { env: through });
      for (let i = 1; i <= 5; i++) {
        await program.prints(`line ${i * 400}\n`);
        proxy.cut();
      }
      const { code, stdout, stderr } = await withinMs("logs -f", 120_000, program.outcome);
      assert.equal(code, 0, stderr);
      assert.equal(stdout, Array.from({ length: count }, (_, i) => `line ${i}\n`).join(""));
      assert.ok(proxy.cuts > 1, `${proxy.cuts} connections were cut`);
    } finally {
      proxy.stop();
    }
  });

  test("a signal ends a follow, and not the process", async () => {
    await run("start", id, "lasting", "--", "sh", "-c", "echo begun; sleep 600");
    const program = Program.start(["logs", "-f", id, "lasting"], { env });
    await program.prints("begun");
    program.child.kill("SIGINT");
    assert.equal((await withinMs("logs", 60_000, program.outcome)).code, 130);
    const rows = JSON.parse(await run("ps", "--json", id)) as { name: string; state: string }[];
    assert.equal(rows.find(({ name }) => name === "lasting")?.state, "running");
    await run("kill", id, "lasting");
  });

  test("L17 waits exit as the process does, with 124 when the wait is over, 125 when inis failed", async () => {
    await run("start", id, "seven", "--", "sh", "-c", "sleep 0.5; exit 7");
    assert.equal((await call("wait", id, "seven")).code, 7);
    assert.equal((await call("wait", id, "seven")).code, 7, "again, now that it has exited");
    await run("start", id, "long", "--", "sleep", "600");
    const late = await call("wait", "--timeout", "300ms", id, "long");
    assert.equal(late.code, 124);
    assert.match(late.stderr, /still runs/);
    const followed = await call("logs", "-f", "--timeout", "300ms", id, "long");
    assert.equal(followed.code, 124);
    await run("kill", id, "long");
    assert.equal((await call("wait", id, "long")).code, 143);
    assert.equal((await call("wait", id, "nobody")).code, 125);
    await run("start", id, "limited", "--timeout", "200ms", "--", "sleep", "600");
    const limited = await call("wait", "--json", id, "limited");
    assert.equal(limited.code, 124);
    assert.equal(JSON.parse(limited.stdout).timed_out, true);
  });

  test("what does not exist is 3, what is refused 125, a wrong name names the rule", async () => {
    for (const args of [
      ["logs", id, "nobody"],
      ["logs", "-f", id, "nobody"],
      ["kill", id, "nobody"],
      ["ps", "nowhere"],
    ])
      assert.equal((await call(...args)).code, 3, args.join(" "));
    await run("start", id, "missing", "--", "no-such-program");
    assert.equal((await call("wait", id, "missing")).code, 127);
    assert.match((await call("logs", id, "missing")).stderr, /no-such-program: command not found/);
    assert.match((await call("logs", id, "a/b")).stderr, /no name of a process/);
    await run("start", id, "twice", "--", "sleep", "600");
    const conflict = await call("start", id, "twice", "--", "true");
    assert.deepEqual([conflict.code, /conflict/.test(conflict.stderr)], [125, true]);
  });

  test("ps of all names what is paused and does not wake it", async () => {
    const paused = (await run("create")).trim();
    await run("start", paused, "frozen", "--", "sleep", "600");
    await run("pause", paused);
    const all = await call("ps", "--json");
    assert.equal(all.code, 0);
    assert.ok(!JSON.parse(all.stdout).some((row: { session_id: string }) => row.session_id === paused));
    assert.match(all.stderr, new RegExp(`${paused} is paused`));
    const [session] = JSON.parse(await run("ls", "--json", "--state", "paused"));
    assert.equal(session.session_id, paused);
    await run("rm", paused);
  });
});
