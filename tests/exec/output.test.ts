// SPDX-License-Identifier: Apache-2.0
// Output arrives byte for byte, however it was written, and its size is the daemon's problem, not the user's.
import assert from "node:assert/strict";
import { test } from "node:test";
import { residentKb, role } from "../support/footprint.js";
import { eventually, parallel, sha256, withinMs } from "../support/helpers.js";
import { scaled } from "../support/paths.js";
import { exactBytes, sh } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite();
const MiB = 1024 * 1024;

/** 200 KB of multibyte text, each write split at another byte offset of the characters. */
const SPLITTER = `
import os, sys, time
text = ("日本語☕" * 20).encode()
fd = int(sys.argv[1])
total = 0
offset = 0
while total < 200000:
    cut = offset % len(text)
    for piece in (text[:cut], text[cut:]):
        if piece:
            os.write(fd, piece)
    if offset % 97 == 0:
        time.sleep(0.002)
    total += len(text)
    offset += 1
`;
const CHUNK = "日本語☕".repeat(20);
const SPLIT_TEXT = CHUNK.repeat(Math.ceil(200_000 / Buffer.byteLength(CHUNK)));

test("O1_multibyte_text_survives_splits_at_every_offset (exec)", async () => {
  const result = await t.session.exec(["python3", "-c", SPLITTER, "1"]);
  assert.equal(result.stdout_encoding, undefined);
  assert.equal(result.stdout, SPLIT_TEXT);
  assert.equal((await t.session.exec(["python3", "-c", SPLITTER, "2"])).stderr, SPLIT_TEXT);
});

test("O1_multibyte_text_survives_splits_at_every_offset (stream)", async () => {
  const { stdout, events } = await (await t.session.execStream(["python3", "-c", SPLITTER, "1"])).collect();
  assert.equal(stdout.toString(), SPLIT_TEXT);
  assert(events.length > 3, "it came in pieces");
});

test("O1_multibyte_text_survives_splits_at_every_offset (process logs)", async () => {
  await t.session.start("splitter", ["python3", "-c", SPLITTER, "1"]);
  const { stdout } = await (await t.session.follow("splitter")).collect();
  assert.equal(stdout.toString(), SPLIT_TEXT);
  const logs = await t.session.logs("splitter");
  assert.deepEqual([logs.stdout === SPLIT_TEXT, logs.stdout_encoding], [true, undefined]);
});

test("O2_binary_output_round_trips_as_base64", async () => {
  const script = "head -c 100000 /dev/urandom >/workspace/noise; cat /workspace/noise; sha256sum /workspace/noise >&2";
  const result = await t.session.exec(sh(script));
  assert.equal(result.stdout_encoding, "base64");
  assert.equal(result.stderr_encoding, undefined);
  const bytes = exactBytes(result.stdout, result.stdout_encoding);
  assert.equal(bytes.length, 100_000);
  assert.equal(sha256(bytes), result.stderr.split(" ")[0]);
});

test("O2_one_bad_byte_at_the_end_keeps_the_bytes_exact", async () => {
  const result = await t.session.exec(sh("printf 'good text \\342\\230\\225\\377'"));
  assert.equal(result.stdout_encoding, "base64");
  const want = Buffer.concat([Buffer.from("good text ☕"), Buffer.from([0xff])]);
  assert.deepEqual(exactBytes(result.stdout, result.stdout_encoding), want);
});

test("O2_what_is_and_is_not_utf8", async () => {
  const bad = {
    surrogate: "\\355\\240\\200",
    overlong: "\\300\\257",
    beyond: "\\364\\220\\200\\200",
    cut: "\\342\\230",
  };
  for (const [name, bytes] of Object.entries(bad))
    assert.equal((await t.session.exec(sh(`printf '${bytes}'`))).stdout_encoding, "base64", name);
  const controls = await t.session.exec(sh("printf 'a\\000b\\001\\033[0m\\177\\t\\r\\n'"));
  assert.deepEqual([controls.stdout, controls.stdout_encoding], ["a\0b\x01\x1b[0m\x7f\t\r\n", undefined]);
});

test("O4_huge_output_is_truncated_with_the_right_exit_code_and_bounded_memory", async () => {
  const size = scaled(100, 100) * MiB;
  const script = `yes 0123456789abcde | head -c ${size}; exit 7`;
  const pids = [role(t.server, "front"), t.server.pid];
  const before = pids.map(residentKb);
  const result = await t.session.exec(sh(script));
  assert.deepEqual([result.exit_code, result.truncated, result.timed_out], [7, true, false]);
  assert.equal(result.stdout.length, 4 * MiB, "the first 4 MiB are kept");
  assert(result.stdout.startsWith("0123456789abcde\n"));
  pids.forEach((pid, i) => {
    const grown = residentKb(pid) - before[i]!;
    assert(grown < 48 * 1024, `process ${pid} grew by ${grown} kB`);
  });
});

test("O4_exactly_the_cap_is_not_truncated_and_the_cut_is_between_characters", async () => {
  const exact = await t.session.exec(sh(`head -c ${4 * MiB} /dev/zero`));
  assert.deepEqual([exact.stdout.length, exact.truncated], [4 * MiB, undefined]);
  const more = await t.session.exec(sh(`head -c ${4 * MiB + 1} /dev/zero`));
  assert.deepEqual([more.stdout.length, more.truncated], [4 * MiB, true]);
  const wide = await t.session.exec(["python3", "-c", `print("☕" * ${2 * MiB}, end="")`]);
  assert.deepEqual([wide.stdout_encoding, wide.truncated], [undefined, true]);
  assert.match(wide.stdout, /^☕+$/);
  assert(4 * MiB - Buffer.byteLength(wide.stdout) < 3);
});

test("O4_a_stream_delivers_all_of_a_huge_output_with_bounded_memory", async () => {
  const size = scaled(100, 100) * MiB;
  const front = role(t.server, "front");
  const before = residentKb(front);
  const stream = await t.session.execStream(sh(`yes 0123456789abcde | head -c ${size}`));
  let received = 0;
  let peak = 0;
  let exit: unknown;
  for await (const event of stream) {
    if (event.event === "stdout") received += event.bytes.length;
    else exit = event.json;
    if (received % (8 * MiB) < 65536) peak = Math.max(peak, residentKb(front));
  }
  assert.equal(received, size);
  assert.equal((exit as { exit_code: number }).exit_code, 0);
  assert(peak - before < 32 * 1024, `the front grew by ${peak - before} kB`);
});

test("O4_a_reader_that_stops_holds_only_its_own_command_back", async () => {
  const front = role(t.server, "front");
  const before = residentKb(front);
  const stream = await t.session.execStream(sh("yes"), { timeout_ms: 120_000 });
  stream.response.pause();
  for (let i = 0; i < 20; i++) assert.equal(await t.session.output("echo still here"), "still here\n");
  const grown = residentKb(front) - before;
  assert(grown < 32 * 1024, `the front grew by ${grown} kB`);
  stream.abort();
  await eventually("the unread command is gone", async () => (await t.session.running("yes")).length === 0);
});

test("O6_a_start_failure_is_an_HTTP_error_never_a_broken_stream", async () => {
  const options = { query: { stream: true }, json: { command: ["true"], cwd: "/nope" } };
  const reply = await t.session.expect(400, "POST", "/exec", options);
  assert.deepEqual([reply.json.code, reply.json.field], ["bad_request", "cwd"]);
});

test("O6_a_silent_command_shows_life_before_its_first_byte", async () => {
  const stream = await withinMs("headers", 15_000, t.session.execStream(sh("sleep 20; echo late")));
  const { stdout, terminal } = await stream.collect();
  assert.equal(stdout.toString(), "late\n");
  assert.equal(terminal?.event, "exit");
  assert(stream.comments >= 1, "a comment within 15 s of silence");
});

test("O6_output_is_delivered_when_it_is_printed_not_when_the_command_ends", async () => {
  const stream = await t.session.execStream(sh("echo first; sleep 60"));
  for await (const event of stream) {
    assert.deepEqual([event.event, event.bytes.toString()], ["stdout", "first\n"]);
    break;
  }
  stream.abort();
});

test("X19_output_of_fast_commands_is_never_lost (exec)", async () => {
  await parallel(8, scaled(10_000, 500), async (i) => {
    const result = await t.session.exec(["echo", `x${i}`]);
    assert.deepEqual([result.stdout, result.exit_code], [`x${i}\n`, 0]);
  });
});

test("X19_output_of_fast_commands_is_never_lost (stream)", async () => {
  await parallel(8, scaled(500, 100), async (i) => {
    const { stdout, terminal } = await (await t.session.execStream(["echo", `x${i}`])).collect();
    assert.deepEqual([stdout.toString(), terminal?.event], [`x${i}\n`, "exit"]);
  });
});

test("X19_output_of_fast_commands_is_never_lost (process)", async () => {
  await parallel(8, scaled(500, 100), async (i) => {
    await t.session.start(`fast-${i}`, ["echo", `x${i}`]);
    const { stdout, terminal } = await (await t.session.follow(`fast-${i}`)).collect();
    assert.deepEqual([stdout.toString(), terminal?.event], [`x${i}\n`, "eof"]);
    const logs = await t.session.logs(`fast-${i}`);
    assert.equal(logs.stdout, `x${i}\n`);
  });
});

test("X19_streams_are_kept_apart", async () => {
  const script = "for i in 1 2 3 4 5; do echo out$i; echo err$i >&2; done";
  const result = await t.session.exec(sh(script));
  assert.equal(result.stdout, "out1\nout2\nout3\nout4\nout5\n");
  assert.equal(result.stderr, "err1\nerr2\nerr3\nerr4\nerr5\n");
});
