// SPDX-License-Identifier: Apache-2.0
// Event streams: what is rebuilt from the bytes, how a broken stream is told from a whole one, what leaving does.

import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import type { ExecStreamEvent, ProcessLogEvent } from "@inis-run/sdk";
import { base64, collect, FakeServer, frame, json, sse } from "./support/fake-server.js";

const EXIT = frame("exit", '{"exit_code":3,"timed_out":false,"duration_ms":12}');

/** A server that answers every stream with these pieces, and then does `after`. */
function streaming(
  pieces: Iterable<string | Uint8Array>,
  after: (response: ServerResponse) => void = (response) => response.end(),
): Promise<FakeServer> {
  return FakeServer.start(async ({ response }) => {
    await sse(response, pieces);
    after(response);
  });
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

function text(events: (ExecStreamEvent | ProcessLogEvent)[], name: string): string {
  return events
    .filter((event) => ("stream" in event ? event.stream : event.event) === name)
    .map((event) => event.data)
    .join("");
}

test("output, exit code and times of a command arrive as they were sent", async () => {
  await using server = await streaming([frame("stdout", base64("out\n")), frame("stderr", base64("err\n")), EXIT]);
  const session = server.client().sessions.attach("abc");
  const events = await collect(session.execStream("x", { cwd: "/c", timeoutMs: 5 }));
  assert.deepEqual(events, [
    { stream: "stdout", data: "out\n" },
    { stream: "stderr", data: "err\n" },
    { stream: "exit", data: "", exitCode: 3, timedOut: false, durationMs: 12 },
  ]);
  assert.equal(server.requests[0]?.url, "/v1/sessions/abc/exec?stream=true");
  assert.deepEqual(JSON.parse(server.requests[0]?.body ?? ""), {
    command: ["bash", "-lc", "x"],
    cwd: "/c",
    timeout_ms: 5,
  });
});

test("an error event is the last one and carries its text", async () => {
  await using server = await streaming([frame("stdout", base64("a")), frame("error", "guest: lost"), EXIT]);
  const events = await collect(server.client().sessions.attach("abc").execStream("x"));
  assert.deepEqual(events.at(-1), { stream: "error", data: "guest: lost" });
  assert.equal(events.length, 2);
});

test("a refused stream is an ordinary error", async () => {
  await using server = await FakeServer.start(json(404, { error: "no such session", code: "not_found" }));
  const session = server.client().sessions.attach("abc");
  await assert.rejects(session.execStream("x").next(), {
    code: "not_found",
    status: 404,
    message: "404: no such session",
  });
  await assert.rejects(session.streamProcessLogs("p").next(), { code: "not_found" });
});

test("comments, carriage returns and unknown fields do not disturb a stream", async () => {
  const body = `: ping\r\n\r\nretry: 5\r\n${frame("stdout", base64("a")).replaceAll("\n", "\r\n")}: ping\n\n${EXIT}`;
  await using server = await streaming([body]);
  const events = await collect(server.client().sessions.attach("abc").execStream("x"));
  assert.deepEqual(
    events.map((event) => event.stream),
    ["stdout", "exit"],
  );
});

test("O1_a_stream_cut_at_any_byte_is_put_together_again", async () => {
  const whole = Buffer.from(frame("stdout", base64("日本")) + frame("stderr", base64("☕")) + EXIT);
  await using server = await FakeServer.start(async ({ response, recorded }) => {
    const at = JSON.parse(recorded.body).timeout_ms;
    await sse(response, [whole.subarray(0, at), whole.subarray(at)]);
    response.end();
  });
  const session = server.client().sessions.attach("abc");
  for (let at = 1; at < whole.length; at++) {
    const events = await collect(session.execStream("x", { timeoutMs: at }));
    assert.equal(text(events, "stdout"), "日本", `cut at ${at}`);
    assert.equal(text(events, "stderr"), "☕", `cut at ${at}`);
    assert.equal(events.at(-1)?.exitCode, 3);
  }
});

test("O1_characters_split_over_events_are_put_together_per_stream", async () => {
  const source = "\ufeff日本語☕𝄞é";
  const bytes = Buffer.from(source);
  for (let size = 1; size <= 5; size++) {
    const pieces: string[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      const piece = base64(bytes.subarray(at, at + size));
      pieces.push(frame("stdout", piece), frame("stderr", piece));
    }
    await using server = await streaming([...pieces, EXIT]);
    const events = await collect(server.client().sessions.attach("abc").execStream("x"));
    assert.equal(text(events, "stdout"), source);
    assert.equal(text(events, "stderr"), source);
    assert.ok(events.every((event) => event.stream === "exit" || event.data !== ""));
  }
});

test("O1_bytes_that_are_no_text_become_replacement_characters_also_at_the_end", async () => {
  await using server = await streaming([frame("stdout", base64(Uint8Array.of(0x61, 0xff, 0xe6))), EXIT]);
  const events = await collect(server.client().sessions.attach("abc").execStream("x"));
  assert.equal(text(events, "stdout"), "a\ufffd\ufffd");
  assert.equal(events.at(-1)?.stream, "exit");
});

test("O1_process_logs_are_decoded_the_same_way_and_end_at_eof", async () => {
  const [a, b] = [Buffer.from("☕").subarray(0, 1), Buffer.from("☕").subarray(1)];
  await using server = await streaming([frame("stdout", base64(a)), frame("stdout", base64(b)), frame("eof", "")]);
  const events = await collect(server.client().sessions.attach("abc").streamProcessLogs("p/1"));
  assert.deepEqual(events, [
    { event: "stdout", data: "☕" },
    { event: "eof", data: "" },
  ]);
  assert.equal(server.requests[0]?.url, "/v1/sessions/abc/processes/p%2F1/logs?follow=true");
});

test("log positions count only the text that was given", async () => {
  const [a, b] = [Buffer.from("a☕").subarray(0, 3), Buffer.from("a☕").subarray(3)];
  await using server = await streaming([
    `id: 3,0\n${frame("stdout", base64(a))}`,
    `id: 3,1\n${frame("stderr", base64("e"))}`,
    `${frame("stdout", base64(b)).trimEnd()}\nid: 4,1\n\n`,
    `id: 4,1\n${frame("eof", "")}`,
  ]);
  server.extensions = ["process.logs.from"];
  const session = server.client().sessions.attach("abc");
  const events = await collect(session.streamProcessLogs("p", { from: 7, fromStderr: 0, positions: true }));
  assert.deepEqual(events, [
    { event: "stdout", data: "a", position: { stdout: 1, stderr: 0 } },
    { event: "stderr", data: "e", position: { stdout: 1, stderr: 1 } },
    { event: "stdout", data: "☕", position: { stdout: 4, stderr: 1 } },
    { event: "eof", data: "", position: { stdout: 4, stderr: 1 } },
  ]);
  assert.equal(server.calls[0]?.url, "/v1/sessions/abc/processes/p/logs?follow=true&from=7&from_stderr=0&positions=1");
});

const cuts: [name: string, after: (response: ServerResponse) => void][] = [
  ["a clean end of the body", (response) => response.end()],
  ["a closed connection", (response) => response.socket?.end()],
  ["a reset connection", (response) => response.socket?.resetAndDestroy()],
];

for (const [name, after] of cuts) {
  test(`X17_a_stream_without_its_last_event_is_an_error_after_${name.replaceAll(" ", "_")}`, async () => {
    const half = Buffer.from("☕").subarray(0, 2);
    await using server = await streaming([frame("stdout", base64("a")), frame("stdout", base64(half))], after);
    const session = server.client().sessions.attach("abc");
    const exec: ExecStreamEvent[] = [];
    await assert.rejects(
      async () => {
        for await (const event of session.execStream("x")) exec.push(event);
      },
      { name: "InisError", code: "stream_interrupted", retryable: false },
    );
    assert.ok(
      exec.every((event) => event.stream === "stdout"),
      "nothing that looks like an exit",
    );
    assert.equal(text(exec, "stdout"), "a\ufffd");
    await assert.rejects(collect(session.streamProcessLogs("p")), { code: "stream_interrupted" });
  });
}

test("X17_a_last_event_that_was_cut_off_does_not_count", async () => {
  for (const cut of [EXIT.length - 2, EXIT.length - 10]) {
    await using server = await streaming([EXIT.slice(0, cut)]);
    await assert.rejects(collect(server.client().sessions.attach("abc").execStream("x")), {
      code: "stream_interrupted",
    });
  }
});

test("X17_a_malformed_exit_event_is_an_error", async () => {
  await using server = await streaming([frame("exit", "{")]);
  await assert.rejects(collect(server.client().sessions.attach("abc").execStream("x")), { code: "invalid_response" });
});

test("X18_a_silent_stream_fails_and_closes_its_connection", async () => {
  const closed = deferred();
  await using server = await FakeServer.start(async ({ response }) => {
    response.once("close", closed.resolve);
    await sse(response, [frame("stdout", base64("a"))]);
  });
  const events: ExecStreamEvent[] = [];
  const silent = async (): Promise<void> => {
    const stream = server.client().sessions.attach("abc").execStream("x", { idleTimeoutMs: 150 });
    for await (const event of stream) events.push(event);
  };
  await assert.rejects(silent, { name: "InisError", code: "stream_idle_timeout", retryable: true });
  assert.equal(text(events, "stdout"), "a");
  await closed.promise;
});

test("X18_a_stream_that_does_not_even_answer_fails_too", async () => {
  await using server = await FakeServer.start(() => {});
  const session = server.client({ timeoutMs: 100 }).sessions.attach("abc");
  await assert.rejects(session.streamProcessLogs("p", { idleTimeoutMs: 50 }).next(), { code: "stream_idle_timeout" });
});

test("X18_keep_alives_and_a_slow_reader_are_not_silence", async () => {
  await using server = await FakeServer.start(async ({ response }) => {
    await sse(response, [frame("stdout", base64("a"))]);
    const beats = setInterval(() => response.write(": ping\n\n"), 50);
    setTimeout(() => {
      clearInterval(beats);
      response.end(EXIT);
    }, 700);
  });
  const session = server.client().sessions.attach("abc");
  const seen: string[] = [];
  for await (const event of session.execStream("x", { idleTimeoutMs: 500 })) {
    seen.push(event.stream);
    if (event.stream === "stdout") await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  assert.deepEqual(seen, ["stdout", "exit"]);
});

const leaving: [name: string, leave: (stream: AsyncGenerator<ExecStreamEvent, void>) => Promise<unknown>][] = [
  [
    "break",
    async (stream) => {
      for await (const _ of stream) break;
    },
  ],
  [
    "an error in the loop",
    async (stream) => {
      const loop = async (): Promise<void> => {
        for await (const _ of stream) throw new RangeError("mine");
      };
      await assert.rejects(loop, RangeError);
    },
  ],
  [
    "throw()",
    async (stream) => {
      await stream.next();
      await assert.rejects(stream.throw(new RangeError("mine")), RangeError);
    },
  ],
  [
    "return() while it waits",
    async (stream) => {
      await stream.next();
      const waiting = stream.next();
      await stream.return();
      assert.deepEqual(await waiting, { done: true, value: undefined });
    },
  ],
];

for (const [name, leave] of leaving) {
  test(`leaving a stream by ${name} closes its connection`, async () => {
    const closed = deferred();
    await using server = await FakeServer.start(async ({ response }) => {
      response.once("close", closed.resolve);
      await sse(response, [frame("stdout", base64("a"))]);
    });
    const stream = server.client().sessions.attach("abc").execStream("sleep 1000");
    await leave(stream);
    await closed.promise;
    assert.deepEqual(await stream.next(), { done: true, value: undefined });
  });
}

test("a signal ends a stream with its reason, before, while and after it waits", async () => {
  await using server = await FakeServer.start(async ({ response }) => sse(response, [frame("stdout", base64("a"))]));
  const session = server.client().sessions.attach("abc");
  const early = session.execStream("x", { signal: AbortSignal.abort("early") });
  await assert.rejects(early.next(), (reason) => reason === "early");
  assert.equal(server.requests.length, 0);

  const controller = new AbortController();
  const stream = session.execStream("x", { signal: controller.signal });
  await stream.next();
  const waiting = stream.next();
  controller.abort();
  await assert.rejects(waiting, { name: "AbortError" });
});

test("a stream that nobody reads can be left, and then sends nothing", async () => {
  await using server = await streaming([EXIT]);
  const controller = new AbortController();
  const stream = server.client().sessions.attach("abc").execStream("x", { signal: controller.signal });
  assert.deepEqual(await stream.return(), { done: true, value: undefined });
  assert.deepEqual(await stream.next(), { done: true, value: undefined });
  controller.abort();
  assert.equal(server.requests.length, 0);
});

test("a stream sends nothing before its first event is asked for", async () => {
  await using server = await streaming([EXIT]);
  const stream = server.client().sessions.attach("abc").execStream("x");
  assert.equal(server.requests.length, 0);
  await collect(stream);
  assert.equal(server.requests.length, 1);
});

test("a megabyte of output in odd pieces is put together quickly and exactly", async () => {
  const bytes = Buffer.alloc(1 << 20, "日本語☕ 0123456789\n");
  const whole = Buffer.from(frame("stdout", base64(bytes)) + EXIT);
  const pieces: Buffer[] = [];
  for (let at = 0; at < whole.length; at += 7001) pieces.push(whole.subarray(at, at + 7001));
  await using server = await streaming(pieces);
  const events = await collect(server.client().sessions.attach("abc").execStream("x"));
  assert.equal(text(events, "stdout"), bytes.toString());
});
