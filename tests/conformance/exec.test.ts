// SPDX-License-Identifier: Apache-2.0
// Commands, buffered and streamed, as the published clients play them.
import assert from "node:assert/strict";
import { eventually } from "../support/helpers.js";
import type { Members, PlayedEvent } from "./clients/answers.js";
import { players } from "./clients/suite.js";

const play = players();

async function collect(events: AsyncIterable<PlayedEvent>): Promise<{ out: string; err: string; end: PlayedEvent }> {
  const all: PlayedEvent[] = [];
  for await (const event of events) all.push(event);
  const text = (stream: string) =>
    all
      .filter(({ event }) => event === stream)
      .map(({ data }) => data)
      .join("");
  return { out: text("stdout"), err: text("stderr"), end: all.at(-1)! };
}

play.both("gets_output_and_exit_code_of_a_shell_line", async (client, id) => {
  const result = await client.exec(id, "pwd; echo err >&2; id -u; exit 3");
  assert.deepEqual([result.stdout, result.stderr, result.exit_code], ["/workspace\n999\n", "err\n", 3]);
  assert.equal(result.timed_out, false);
  assert.equal(typeof result.duration_ms, "number");
  for (const absent of ["truncated", "stdout_encoding", "stderr_encoding"]) assert(!result[absent], absent);
});

play.both("gets_an_exit_code_of_zero_told", async (client, id) => {
  assert.equal((await client.exec(id, ["true"])).exit_code, 0);
});

play.both("passes_words_without_a_shell_and_a_directory", async (client, id) => {
  const odd = ["a b", "", "ü", "$HOME", "*", "'", '"', "\n", "\\"];
  const result = await client.exec(id, ["printf", "<%s>", ...odd], { cwd: "/tmp" });
  assert.equal(result.stdout, odd.map((word) => `<${word}>`).join(""));
  assert.equal((await client.exec(id, ["pwd"], { cwd: "/tmp" })).stdout, "/tmp\n");
});

play.both("gets_partial_output_of_a_command_that_timed_out", async (client, id) => {
  const result = await client.exec(id, "echo early; sleep 120", { timeoutMs: 1000 });
  assert.deepEqual([result.timed_out, result.stdout], [true, "early\n"]);
});

play.both("gets_bytes_that_are_no_text_as_base64_of_that_stream_only", async (client, id) => {
  const result = await client.exec(id, "printf 'a\\377b'; printf 'text\\000\\001' >&2");
  assert.equal(result.stdout_encoding, "base64");
  assert.deepEqual(Buffer.from(result.stdout, "base64"), Buffer.from([0x61, 0xff, 0x62]));
  assert.deepEqual([result.stderr_encoding, result.stderr], [undefined, "text\0\x01"]);
});

play.both("gets_the_beginning_of_too_much_output", async (client, id) => {
  const result = await client.exec(id, "yes é | head -c 6000001");
  assert.equal(result.truncated, true);
  assert.equal(result.stdout_encoding, undefined, "the cut is between characters");
  assert(Buffer.byteLength(result.stdout) <= 4 << 20);
  assert(Buffer.byteLength(result.stdout) > (4 << 20) - 4);
});

play.both("reads_a_stream_line_by_line_and_its_exit_last", async (client, id) => {
  const { out, err, end } = await collect(client.execStream(id, "printf 'out ☕\\n'; echo err >&2; exit 3"));
  assert.deepEqual([out, err, end.event], ["out ☕\n", "err\n", "exit"]);
  const exit = JSON.parse(end.data) as Members;
  assert.deepEqual([exit.exit_code, exit.timed_out, typeof exit.duration_ms], [3, false, "number"]);
});

play.both("decodes_characters_that_chunks_have_split", async (client, id) => {
  const script = "for byte in 342 230 225; do printf \"\\\\$byte\"; sleep 0.2; done; printf '\\n'";
  const { out, end } = await collect(client.execStream(id, script));
  assert.deepEqual([out, JSON.parse(end.data).exit_code], ["☕\n", 0]);
});

play.both("sees_output_before_the_command_has_ended", async (client, id) => {
  const stream = client.execStream(id, "echo first; until test -e go; do sleep 0.05; done; echo second");
  assert.deepEqual((await stream.next()).value, { event: "stdout", data: "first\n" });
  await client.write(id, "go", "");
  assert.equal((await collect(stream)).out, "second\n");
});

play.both("streams_everything_without_a_cap", async (client, id) => {
  const { out, end } = await collect(client.execStream(id, "yes 0123456 | head -c 6000000"));
  assert.equal(out.length, 6_000_000);
  assert.equal(end.event, "exit");
});

play.both("is_told_a_timeout_in_the_exit_event", async (client, id) => {
  const { out, end } = await collect(client.execStream(id, "echo early; sleep 120", { timeoutMs: 1000 }));
  assert.deepEqual([out, JSON.parse(end.data).timed_out], ["early\n", true]);
});

play.both("kills_a_streamed_command_by_leaving_it", async (client, id) => {
  const stream = client.execStream(id, "echo on; exec -a left-behind sleep 600");
  await stream.next();
  await stream.return(undefined);
  await eventually("the command is gone", async () => {
    const { stdout } = await client.exec(id, "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'");
    return !(stdout as string).split("\n").includes("left-behind");
  });
});

play.both("runs_commands_at_once_in_one_session", async (client, id) => {
  const waiting = client.exec(id, "until test -e met; do sleep 0.05; done; echo met");
  assert.equal((await client.exec(id, "touch met; echo there")).stdout, "there\n");
  assert.equal((await waiting).stdout, "met\n");
});
