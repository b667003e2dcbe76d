// SPDX-License-Identifier: Apache-2.0
// Time limits and AbortSignals: what ends, when, and what the server hears of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { base64, type Exchange, FakeServer, frame, json, sse } from "./support/fake-server.js";

const never = (): void => {};
const tick = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await tick(5);
}

test("a call ends at the client's time limit, or at its own, with an AbortError", async () => {
  await using server = await FakeServer.start(never);
  await assert.rejects(server.client({ timeoutMs: 50 }).sessions.get("abc"), { name: "AbortError", message: /50 ms/ });
  await assert.rejects(server.client().sessions.attach("abc").readFile("a", "text", { timeoutMs: 40 }), {
    message: /40 ms/,
  });
});

test("the time limit covers the body too", async () => {
  await using server = await FakeServer.start(({ response }) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    response.write('{"a":');
  });
  await assert.rejects(server.client({ timeoutMs: 80 }).sessions.get("abc"), { name: "AbortError" });
});

test("a signal ends a call with its reason and closes the connection", async () => {
  let closed = false;
  await using server = await FakeServer.start(({ response }) => {
    response.once("close", () => {
      closed = true;
    });
  });
  const client = server.client();
  const reason = new RangeError("enough");
  const controller = new AbortController();
  const call = client.sessions.get("abc", { signal: controller.signal });
  await until(() => server.requests.length === 1);
  controller.abort(reason);
  await assert.rejects(call, (error) => error === reason);
  await until(() => closed);
  await assert.rejects(client.sessions.get("abc", { signal: AbortSignal.abort() }), { name: "AbortError" });
  assert.equal(server.requests.length, 1, "nothing is sent for a signal that ended before");
});

test("a signal that outlives many calls keeps nothing of them", async () => {
  await using server = await FakeServer.start(json(200, {}));
  const client = server.client();
  const controller = new AbortController();
  let listeners = 0;
  const { signal } = controller;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners++;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners--;
    remove(...args);
  };
  for (let i = 0; i < 20; i++) await client.sessions.attach("abc").exec("x", { signal });
  assert.equal(listeners, 0);
});

test("X8_the_client's_time_limit_does_not_cut_a_command_that_may_run_longer", async () => {
  await using server = await FakeServer.start(async (exchange) => {
    await tick(300);
    json(200, { stdout: "done", exit_code: 0 })(exchange);
  });
  const session = server.client({ timeoutMs: 50 }).sessions.attach("abc");
  assert.equal((await session.exec("sleep 90", { timeoutMs: 120_000 })).stdout, "done");
  await assert.rejects(session.exec("sleep 90"), { name: "AbortError" });
});

test("X8_a_command_longer_than_a_buffered_answer_can_wait_is_run_on_the_stream", async () => {
  await using server = await FakeServer.start(async ({ response }) => {
    await sse(response, [
      frame("stdout", base64("out")),
      frame("stderr", base64(Uint8Array.of(0xff, 0xfe))),
      frame("exit", '{"exit_code":124,"timed_out":true,"duration_ms":5,"oom":true}'),
    ]);
    response.end();
  });
  const session = server.client().sessions.attach("abc");
  assert.deepEqual(await session.exec("make", { timeoutMs: 3_600_000 }), {
    stdout: "out",
    stderr: "//4=",
    stderrEncoding: "base64",
    exitCode: 124,
    durationMs: 5,
    timedOut: true,
    truncated: false,
    oom: true,
  });
  assert.equal(server.requests[0]?.url, "/v1/sessions/abc/exec?stream=true");
});

test("a client without a time limit waits on the stream for as long as it takes", async () => {
  await using server = await FakeServer.start(async ({ response }) => {
    await sse(response, [frame("exit", '{"exit_code":0}')]);
    response.end();
  });
  await server.client({ timeoutMs: 0 }).sessions.attach("abc").exec("x", { timeoutMs: 5 });
  assert.equal(server.requests[0]?.url, "/v1/sessions/abc/exec?stream=true");
});

test("output collected from the stream is cut at 4 MiB, between characters", async () => {
  const piece = base64("☕".repeat(100_000));
  await using server = await FakeServer.start(async ({ response }) => {
    await sse(response, [...Array(20).fill(frame("stdout", piece)), frame("exit", '{"exit_code":0}')]);
    response.end();
  });
  const result = await server.client().sessions.attach("abc").exec("yes", { timeoutMs: 3_600_000 });
  assert.equal(result.truncated, true);
  assert.equal(result.stdoutEncoding, undefined);
  assert.equal(result.stdout, "☕".repeat(Math.floor((4 << 20) / 3)));
});

test("X17_a_collected_stream_that_breaks_or_reports_an_error_is_no_result", async () => {
  await using server = await FakeServer.start(async ({ response, recorded }) => {
    await sse(response, [recorded.body.includes("bad") ? frame("error", "guest lost") : frame("stdout", base64("a"))]);
    response.end();
  });
  const session = server.client().sessions.attach("abc");
  await assert.rejects(session.exec("x", { timeoutMs: 3_600_000 }), { code: "stream_interrupted" });
  await assert.rejects(session.exec("bad", { timeoutMs: 3_600_000 }), { message: "guest lost", code: "internal" });
});

/** A server whose execs run until they are cancelled. */
function cancellable(knownAfter = 0): Promise<FakeServer> {
  const running = new Map<string, Exchange>();
  let cancels = 0;
  return FakeServer.start((exchange) => {
    const { method, url, body } = exchange.recorded;
    if (method === "POST") return void running.set(JSON.parse(body).exec_id, exchange);
    const id = url.split("/").at(-1) ?? "";
    const exec = running.get(id);
    if (!exec || cancels++ < knownAfter) return json(404, { error: "no such exec", code: "not_found" })(exchange);
    json(200, { exec_id: id, killed: true })(exchange);
    json(200, { stdout: "", exit_code: 143 })(exec);
  });
}

test("aborting a buffered command cancels it on the server and then rejects", async () => {
  await using server = await cancellable();
  server.extensions = ["exec.id"];
  const session = server.client().sessions.attach("abc");
  const controller = new AbortController();
  const call = session.exec("sleep 1000", { signal: controller.signal });
  await until(() => server.calls.length === 1);
  controller.abort();
  await assert.rejects(call, (error) => error === controller.signal.reason);
  const id = JSON.parse(server.calls[0]?.body ?? "").exec_id;
  assert.match(id, /^[A-Za-z0-9._-]{1,64}$/);
  assert.deepEqual(
    server.calls.map(({ method, url }) => `${method} ${url}`),
    ["POST /v1/sessions/abc/exec", `DELETE /v1/sessions/abc/execs/${id}`],
  );
});

test("a cancellation that overtakes its command is tried again", async () => {
  await using server = await cancellable(3);
  server.extensions = ["exec.id"];
  const controller = new AbortController();
  const call = server.client().sessions.attach("abc").exec("x", { signal: controller.signal, execId: "mine" });
  await until(() => server.calls.length === 1);
  controller.abort("stop");
  await assert.rejects(call, (error) => error === "stop");
  assert.equal(server.calls.filter(({ method }) => method === "DELETE").length, 4);
});

test("a signal that does not end leaves the command's result alone", async () => {
  await using server = await FakeServer.start(json(200, { stdout: "x", exit_code: 7 }));
  server.extensions = ["exec.id"];
  const { exitCode } = await server.client().sessions.attach("abc").exec("x", { signal: new AbortController().signal });
  assert.equal(exitCode, 7);
  assert.deepEqual(
    server.calls.map(({ method }) => method),
    ["POST"],
  );
});

test("without the extension, aborting a buffered command only leaves it", async () => {
  await using server = await FakeServer.start(never);
  const controller = new AbortController();
  const call = server.client().sessions.attach("abc").exec("x", { signal: controller.signal });
  await until(() => server.calls.length === 1);
  controller.abort();
  await assert.rejects(call, { name: "AbortError" });
  assert.deepEqual(
    server.calls.map(({ method, body }) => [method, JSON.parse(body).exec_id]),
    [["POST", undefined]],
  );
});

test("killing with a long grace may take that long", async () => {
  await using server = await FakeServer.start(async (exchange) => {
    await tick(200);
    json(200, { name: "p", state: "exited", exit_code: 137, signal: 9, killed: true })(exchange);
  });
  server.extensions = ["process.kill"];
  const session = server.client({ timeoutMs: 100 }).sessions.attach("abc");
  await session.killProcess("p", { graceMs: 20_000 });
  assert.equal(server.calls[0]?.url, "/v1/sessions/abc/processes/p?grace_ms=20000");
  await assert.rejects(session.killProcess("p", { timeoutMs: 50 }), { name: "AbortError" });
});
