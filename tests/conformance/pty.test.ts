// SPDX-License-Identifier: Apache-2.0
// Terminals as the published clients play them.
import assert from "node:assert/strict";
import { eventually } from "../support/helpers.js";
import { players } from "./clients/suite.js";
import { PlayedTerminal } from "./clients/terminal.js";

const play = players();

play.both("types_into_a_login_shell_and_gets_its_exit_code", async (client, id) => {
  const terminal = await PlayedTerminal.open(client, id);
  terminal.write('echo "si""ze $(stty size)"; exit 7\n');
  await terminal.shows("size 24 80");
  assert.equal(await terminal.exited(), 7);
});

play.both("passes_a_command_word_by_word_and_a_directory", async (client, id) => {
  const command = ["sh", "-c", 'pwd; printf "<%s>" "$@"', "sh", "a b", "", "ü", "+&=/%2F"];
  const terminal = await PlayedTerminal.open(client, id, { command, cwd: "/tmp", rows: 33, cols: 101 });
  assert.equal(await terminal.exited(), 0);
  assert.equal(terminal.output.toString(), "/tmp\r\n<a b><><ü><+&=/%2F>");
});

play.both("resizes_with_rows_first", async (client, id) => {
  const script = 'trap "stty size; exit" WINCH; echo ready; while :; do sleep 0.05; done';
  const terminal = await PlayedTerminal.open(client, id, { command: ["sh", "-c", script] });
  await terminal.shows("ready");
  terminal.resize(120, 40);
  await terminal.shows("40 120");
  await terminal.exited();
});

play.both("signals_the_foreground_and_still_gets_an_exit_frame", async (client, id) => {
  const script = 'trap "echo caught; exit 5" TERM; echo ready; while :; do sleep 0.05; done';
  const asked = await PlayedTerminal.open(client, id, { command: ["sh", "-c", script] });
  await asked.shows("ready");
  asked.signal(15);
  assert.equal(await asked.exited(), 5);
  const forced = await PlayedTerminal.open(client, id, {
    command: ["sh", "-c", 'trap "" TERM; echo ready; sleep 600'],
  });
  await forced.shows("ready");
  forced.signal(9);
  assert.equal(await forced.exited(), 137);
});

play.both("has_its_pings_answered", async (client, id) => {
  const terminal = await PlayedTerminal.open(client, id, { command: ["cat"] });
  await terminal.ping("are you there");
  terminal.write("\x04");
  assert.equal(await terminal.exited(), 0);
});

play.both("is_refused_with_status_and_text", async (client) => {
  await assert.rejects(PlayedTerminal.open(client, "a".repeat(21)), /^Error: 404: .+/);
});

play.both("hangs_up_by_closing", async (client) => {
  const { session_id: id } = await client.create({ onPtyDetach: "keep_live" });
  const command = ["bash", "-c", "echo ready; exec -a hung-up sleep 600"];
  const terminal = await PlayedTerminal.open(client, id, { command });
  await terminal.shows("ready");
  await terminal.close();
  await eventually("what ran there is gone", async () => {
    const { stdout } = await client.exec(id, "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'");
    return !(stdout as string).split("\n").includes("hung-up");
  });
  assert.equal((await client.get(id)).state, "live");
  await client.destroy(id);
});

play.both("leaves_a_paused_session_behind_when_it_closes", async (client, id) => {
  const terminal = await PlayedTerminal.open(client, id, { command: ["cat"] });
  await terminal.close();
  await eventually("the session pauses", async () => (await client.get(id)).state === "paused");
  const other = await PlayedTerminal.open(client, id, { command: ["echo", "awake"] });
  assert.equal(await other.exited(), 0);
  assert.equal(other.output.toString(), "awake\r\n");
});
