// SPDX-License-Identifier: Apache-2.0
// Logs: replay and live without a gap, an end that means the end, and a bounded store.
import assert from "node:assert/strict";
import { test } from "node:test";
import { footprint, residentKb, role } from "../support/footprint.js";
import { eventually, PATIENCE_MS, parallel, sleep, withinMs } from "../support/helpers.js";
import { scaled } from "../support/paths.js";
import { exactBytes, sh } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite();
const MiB = 1024 * 1024;

const counter = (count: number, pause: number) => [
  "python3",
  "-uc",
  `import sys, time\nfor i in range(${count}):\n  sys.stdout.write(f"{i}\\n")\n  time.sleep(${pause})`,
];
const sequence = (count: number) => Array.from({ length: count }, (_, i) => `${i}\n`).join("");

test("follow_replays_from_the_start_and_goes_live_without_a_gap", async () => {
  await t.session.start("count", counter(400, 0.005));
  await sleep(500);
  const { stdout, terminal } = await (await t.session.follow("count")).collect();
  assert.equal(stdout.toString(), sequence(400));
  assert.equal(terminal?.event, "eof");
});

test("eof_comes_only_when_the_process_is_known_to_have_exited", async () => {
  await parallel(4, scaled(200, 40), async (i) => {
    await t.session.start(`eof-${i}`, sh(`echo ${i}; exit ${i % 5}`));
    const { terminal } = await (await t.session.follow(`eof-${i}`)).collect();
    assert.equal(terminal?.event, "eof");
    const seen = await t.session.process(`eof-${i}`);
    assert.deepEqual([seen.state, seen.exit_code], ["exited", i % 5]);
  });
});

test("eof_follows_promptly_after_a_kill", async () => {
  await t.session.start("victim", sh("echo alive; exec sleep 600"));
  const followed = (await t.session.follow("victim")).collect();
  while ((await t.session.logs("victim")).stdout === "") await sleep(20);
  await t.session.kill("victim");
  const { stdout, terminal } = await followed;
  assert.deepEqual([stdout.toString(), terminal?.event], ["alive\n", "eof"]);
});

test("many_followers_all_get_everything_and_leaving_disturbs_nobody", async () => {
  await t.session.start("popular", counter(300, 0.01));
  const streams = await Promise.all(Array.from({ length: 8 }, () => t.session.follow("popular")));
  const ends = streams.slice(1).map((stream) => stream.collect());
  for await (const event of streams[0]!) if (event.event === "stdout") break;
  streams[0]!.abort();
  for (const { stdout, terminal } of await Promise.all(ends))
    assert.deepEqual([stdout.toString(), terminal?.event], [sequence(300), "eof"]);
});

test("follow_of_an_exited_process_is_a_replay", async () => {
  await t.session.start("old", sh("echo out; echo err >&2"));
  await t.session.exited("old");
  const { stdout, stderr, terminal } = await (await t.session.follow("old")).collect();
  assert.deepEqual([stdout.toString(), stderr.toString(), terminal?.event], ["out\n", "err\n", "eof"]);
});

test("follow_of_a_silent_process_shows_life", async () => {
  await t.session.start("quiet", sh("sleep 18; echo end"));
  const stream = await t.session.follow("quiet");
  const { stdout } = await stream.collect();
  assert.equal(stdout.toString(), "end\n");
  assert(stream.comments >= 1, "a comment within 15 s");
});

test("O10_reconnecting_at_a_position_loses_and_doubles_nothing", async () => {
  const total = scaled(8000, 2000);
  await t.session.start("resumed", counter(total, 0.001));
  let text = "";
  let from = 0;
  for (let reconnects = 0; ; reconnects++) {
    const stream = await t.session.follow("resumed", { positions: 1, from });
    let ended = false;
    let frames = 0;
    for await (const event of stream) {
      if (event.event === "eof") ended = true;
      else {
        text += event.bytes.toString();
        assert.match(event.id ?? "", /^\d+,\d+$/);
        from = Number(event.id!.split(",")[0]);
        if (++frames > 20) break;
      }
    }
    stream.abort();
    assert.equal(from, text.length, "positions count bytes");
    if (ended) break;
    assert(reconnects < 5000);
  }
  assert.equal(text, sequence(total));
});

test("positions_are_sent_only_when_asked_for", async () => {
  await t.session.start("plain", sh("echo x"));
  const { events } = await (await t.session.follow("plain")).collect();
  assert(events.every((event) => event.id === undefined));
});

test("reading_from_an_offset_returns_the_rest_and_says_where_it_starts", async () => {
  await t.session.start("offsets", sh("printf 0123456789; printf abcdef >&2"));
  await t.session.exited("offsets");
  const logs = await t.session.logs("offsets", { from: 4, from_stderr: 2 });
  assert.deepEqual([logs.stdout, logs.stdout_offset, logs.stderr, logs.stderr_offset], ["456789", 4, "cdef", 2]);
  const all = await t.session.logs("offsets");
  assert.deepEqual([all.stdout, all.stdout_offset, all.truncated], ["0123456789", 0, undefined]);
  const beyond = await t.session.logs("offsets", { from: 1000 });
  assert.equal(beyond.stdout, "");
});

test("logs_keep_the_tail_of_4_MiB_and_say_that_earlier_bytes_are_missing", async () => {
  const size = 10 * MiB;
  const script = `import sys\nfor i in range(${size / 16}): sys.stdout.write("%015d\\n" % i)`;
  await t.session.start("big", ["python3", "-c", script]);
  await t.session.exited("big");
  const logs = await t.session.logs("big");
  assert.equal(logs.truncated, true);
  const bytes = exactBytes(logs.stdout, logs.stdout_encoding);
  assert(bytes.length <= 4 * MiB && bytes.length > 3 * MiB, `${bytes.length} bytes`);
  assert.equal(logs.stdout_offset + bytes.length, size, "offsets count from the start of the process");
  assert(bytes.toString().endsWith(`${String(size / 16 - 1).padStart(15, "0")}\n`), "the tail");
  const { stdout } = await (await t.session.follow("big")).collect();
  assert(stdout.length >= bytes.length && stdout.length < size, "a follow replays what is kept");
});

test("O11_an_offset_older_than_what_is_kept_is_told_not_hidden", async () => {
  const logs = await t.session.logs("big", { from: 10 });
  assert.equal(logs.truncated, true);
  assert(logs.stdout_offset > 10);
});

test("O2_binary_logs_are_base64_with_exact_bytes", async () => {
  await t.session.start("binary", sh("printf '\\377\\000\\376'; printf fine >&2"));
  await t.session.exited("binary");
  const logs = await t.session.logs("binary");
  assert.deepEqual([logs.stdout_encoding, logs.stderr_encoding], ["base64", undefined]);
  assert.deepEqual(exactBytes(logs.stdout, logs.stdout_encoding), Buffer.from([0xff, 0x00, 0xfe]));
});

test("a_tail_that_starts_inside_a_character_stays_text", async () => {
  await t.session.start("wide", ["python3", "-c", `print("☕" * ${3 * MiB}, end="")`]);
  await t.session.exited("wide");
  const logs = await t.session.logs("wide");
  assert.deepEqual([logs.truncated, logs.stdout_encoding], [true, undefined]);
  assert.match(logs.stdout, /^☕+$/);
});

test("O8_a_process_whose_output_nobody_reads_is_not_blocked_and_the_store_is_bounded", async () => {
  const agentMemory = () => t.session.output("grep VmRSS /proc/1/status | tr -dc 0-9");
  const before = Number(await agentMemory());
  const front = residentKb(role(t.server, "front"));
  await t.session.start("noisy", sh("yes & yes >&2"));
  await sleep(scaled(10_000, 4000));
  const first = await t.session.output("cat /proc/$(pgrep -o yes)/io 2>/dev/null | grep wchar | tr -dc 0-9");
  await sleep(500);
  const second = await t.session.output("cat /proc/$(pgrep -o yes)/io 2>/dev/null | grep wchar | tr -dc 0-9");
  assert(Number(second) > Number(first), "it still writes");
  assert(Number(await agentMemory()) - before < 24 * 1024, "the agent's memory is flat");
  assert(residentKb(role(t.server, "front")) - front < 24 * 1024, "the front's memory is flat");
  await t.session.kill("noisy", { grace_ms: 0 });
});

test("a_follower_that_never_reads_blocks_neither_the_process_nor_others", async () => {
  for (let round = 0; round < 8; round++) {
    await t.session.start(`flood-${round}`, sh(`yes | head -c 50000000; echo end >/workspace/flood-${round}`));
    const stuck = await t.session.follow(`flood-${round}`);
    stuck.response.pause();
    await withinMs("the other follower's end", PATIENCE_MS, t.session.exited(`flood-${round}`));
    assert((await t.session.list("/workspace")).includes(`flood-${round}`));
    stuck.abort();
  }
});

test("followers_that_go_away_leave_no_descriptor", async () => {
  await t.session.start("lively", sh("while :; do echo x; sleep 0.02; done"));
  const before = footprint(t.server);
  const client = t.server.client();
  const session = t.session.through(client);
  await parallel(10, scaled(200, 50), async () => {
    const stream = await session.follow("lively");
    for await (const event of stream) if (event.event === "stdout") break;
    stream.abort();
  });
  client.close();
  await eventually("descriptors are back", () => {
    const now = footprint(t.server);
    assert(now.frontFiles <= before.frontFiles + 2, `${now.frontFiles}, ${before.frontFiles} before`);
    return true;
  });
  await t.session.kill("lively");
});
