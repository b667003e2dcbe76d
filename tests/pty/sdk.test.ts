// SPDX-License-Identifier: Apache-2.0
// session.pty() of the SDK against the real server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, InisError, type PTY, type Session } from "@inis-run/sdk";
import { eventually } from "../support/helpers.js";
import { suite } from "../support/suite.js";

const t = suite({ on_pty_detach: "keep_live" });

const attach = (): Promise<Session> | Session =>
  new Client({ baseUrl: t.server.baseUrl, token: t.server.token }).sessions.attach(t.session.id);

async function rest(pty: PTY): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of pty) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

test("a_command_runs_on_a_terminal_and_its_exit_code_is_known", async () => {
  const pty = await (await attach()).pty({
    command: ["sh", "-c", "stty size; printf '日本語☕'; exit 3"],
    rows: 30,
    cols: 90,
  });
  assert.equal(await rest(pty), "30 90\r\n日本語☕");
  assert.equal(pty.exitCode, 3);
  assert.throws(() => pty.write("late"), { message: "pty is closed" });
});

test("input_resize_and_signals_reach_the_program", async () => {
  await using pty = await (await attach()).pty({
    command: ["bash", "-c", "trap 'stty size' WINCH; echo up; while :; do sleep 0.05; done"],
  });
  let seen = "";
  for await (const piece of pty) {
    seen += Buffer.from(piece).toString();
    if (seen.includes("up\r\n") && !seen.includes("40 120")) pty.resize(120, 40);
    if (seen.includes("40 120")) break;
  }
  pty.kill();
  await rest(pty);
  assert.equal(pty.exitCode, 137);
});

test("a_shell_is_opened_when_no_command_is_given", async () => {
  const pty = await (await attach()).pty();
  pty.write("echo hel''lo; exit 4\n");
  assert.match(await rest(pty), /hello/);
  assert.equal(pty.exitCode, 4);
});

test("a_refusal_is_an_error_with_status_and_text", async () => {
  const session = await attach();
  await assert.rejects(
    async () => session.pty({ cwd: "/no/such/directory" }),
    (error: InisError) => {
      assert(error instanceof InisError);
      assert.match(error.message, /^400: .*cwd/);
      return error.code === "error" && error.status === undefined;
    },
  );
});

test("a_reader_that_pauses_gets_every_byte", async () => {
  const bytes = 12_000_000;
  const pty = await (await attach()).pty({ command: ["sh", "-c", `stty raw; head -c ${bytes} /dev/zero`] });
  let got = 0;
  for await (const piece of pty) {
    got += piece.length;
    if (got < 3_000_000) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.equal(got, bytes);
  assert.equal(pty.exitCode, 0);
});

test("closing_hangs_up", async () => {
  const pty = await (await attach()).pty({ command: ["sleep", "620"] });
  await pty.close();
  await eventually("the program is gone", async () => (await t.session.running("sleep 620")).length === 0);
});

test("a_named_terminal_is_attached_to_again_with_its_sizes_in_place", async () => {
  const session = await attach();
  const command = ["sh", "-c", "stty -echo; echo up; while read x; do stty size; done; exit 5"];
  const first = await session.pty({ name: "main", command, rows: 30, cols: 90 });
  for await (const bytes of first) if (Buffer.from(bytes).includes("up\r\n")) break;
  first.resize(100, 40);
  first.write("\n");
  for await (const bytes of first) if (Buffer.from(bytes).includes("40 100")) break;
  await first.close();
  await eventually("it is left", async () => (await session.listPtys())[0]?.attached === false);
  const [listed] = await session.listPtys();
  assert.deepEqual(
    { ...listed, pid: 0, startedAt: "" },
    { name: "main", pid: 0, rows: 40, cols: 100, attached: false, startedAt: "", command },
  );
  const second = await session.pty({ name: "main" });
  const seen: unknown[] = [];
  for await (const event of second.events()) {
    seen.push(event.type === "data" ? Buffer.from(event.bytes).toString() : `${event.rows}x${event.cols}`);
    if (event.type === "size" && event.begin) {
      assert.deepEqual([event.truncated, event.live, event.started], [false, false, false]);
    }
    if (event.type === "size" && event.live) break;
  }
  assert.deepEqual(seen, ["30x90", "up\r\n", "40x100", "40 100\r\n", "40x100"]);
  const third = await session.pty({ name: "main" });
  await assert.rejects(rest(second), (error: InisError) => error.code === "taken_over");
  assert.equal(second.exitCode, null);
  third.write("\x04");
  assert.equal(await rest(third), "up\r\n40 100\r\n");
  assert.equal(third.exitCode, 5);
});

test("a_named_terminal_is_ended", async () => {
  const session = await attach();
  const pty = await session.pty({ name: "ended", command: ["sleep", "621"] });
  await session.killPty("ended", { graceMs: 100 });
  await rest(pty);
  assert.equal(pty.exitCode, 129);
  await assert.rejects(session.killPty("ended"), (error: InisError) => error.code === "not_found");
});
