// SPDX-License-Identifier: Apache-2.0
// Background processes: start, look at, follow, feed, kill.

import { leavable, OutputDecoder, type OutputFrame, readStream } from "../stream.js";
import type { Transport } from "../transport.js";
import type {
  CallOptions,
  Command,
  EndedOption,
  KillProcessOptions,
  ProcessInfo,
  ProcessLogEvent,
  ProcessLogs,
  ProcessLogsOptions,
  ReadProcessOptions,
  StartProcessOptions,
  StreamLogsOptions,
  WriteStdinOptions,
  WriteStdinResult,
} from "../types/index.js";
import { fromWire, idSegment, listFrom, segment } from "../wire.js";
import { argv, SLACK_MS } from "./exec.js";

function processPath(sessionId: string, name?: string): string {
  const path = `/v1/sessions/${idSegment(sessionId)}/processes`;
  return name === undefined ? path : `${path}/${segment(name)}`;
}

export async function startProcess(
  transport: Transport,
  sessionId: string,
  name: string,
  command: Command,
  options: StartProcessOptions = {},
): Promise<ProcessInfo> {
  const { cwd, keepAlive, env, stdin, timeoutMs, signal } = options;
  const wanted = {
    "process.env": env && "env of a process",
    "process.stdin": stdin ? "stdin of a process" : undefined,
    "process.timeout": timeoutMs ? "timeoutMs of a process" : undefined,
  };
  await transport.requireExtensions(wanted, { signal });
  const json = {
    name,
    command: argv(command),
    keep_alive: keepAlive === true,
    cwd: cwd || undefined,
    env,
    stdin: stdin || undefined,
    timeout_ms: timeoutMs || undefined,
  };
  return fromWire(await transport.json({ method: "POST", path: processPath(sessionId), json, options: { signal } }));
}

/** The query that asks for what is kept of an ended session, once the server is known to have that. */
async function endedQuery(transport: Transport, options: EndedOption & CallOptions): Promise<{ ended?: boolean }> {
  if (!options.ended) return {};
  await transport.requireExtensions({ "process.ended": "processes of an ended session" }, options);
  return { ended: true };
}

export async function listProcesses(
  transport: Transport,
  sessionId: string,
  options: ReadProcessOptions = {},
): Promise<ProcessInfo[]> {
  const query = await endedQuery(transport, options);
  return listFrom(await transport.json({ method: "GET", path: processPath(sessionId), query, options }), "processes");
}

export async function getProcess(
  transport: Transport,
  sessionId: string,
  name: string,
  options: ReadProcessOptions = {},
): Promise<ProcessInfo> {
  const query = await endedQuery(transport, options);
  return fromWire(await transport.json({ method: "GET", path: processPath(sessionId, name), query, options }));
}

export async function killProcess(
  transport: Transport,
  sessionId: string,
  name: string,
  options: KillProcessOptions = {},
): Promise<ProcessInfo> {
  const { graceMs } = options;
  await transport.requireExtensions({ "process.kill": graceMs === undefined ? undefined : "graceMs" }, options);
  const answer = await transport.json({
    method: "DELETE",
    path: processPath(sessionId, name),
    query: { grace_ms: graceMs },
    options,
    defaultTimeoutMs: transport.limitOfAtLeast((graceMs ?? 0) + SLACK_MS),
  });
  return fromWire(answer);
}

function requireOffsets(transport: Transport, options: StreamLogsOptions, signal?: AbortSignal): Promise<void> {
  const used = options.from !== undefined || options.fromStderr !== undefined || options.positions === true;
  return transport.requireExtensions({ "process.logs.from": used ? "log offsets" : undefined }, { signal });
}

export async function getProcessLogs(
  transport: Transport,
  sessionId: string,
  name: string,
  options: ProcessLogsOptions = {},
): Promise<ProcessLogs> {
  const path = `${processPath(sessionId, name)}/logs`;
  await requireOffsets(transport, options, options.signal);
  const query = {
    ...(await endedQuery(transport, options)),
    from: options.from,
    from_stderr: options.fromStderr,
  };
  const answer = await transport.json({ method: "GET", path, query, options });
  return { stdout: "", stderr: "", truncated: false, ...fromWire<{ name: string }>(answer) };
}

export function streamProcessLogs(
  transport: Transport,
  sessionId: string,
  name: string,
  options: StreamLogsOptions = {},
): AsyncGenerator<ProcessLogEvent, void, undefined> {
  const path = `${processPath(sessionId, name)}/logs`;
  const { from, fromStderr, positions, idleTimeoutMs } = options;
  return leavable(options.signal, async function* (scope) {
    await requireOffsets(transport, options, scope.signal);
    const ended = await endedQuery(transport, { ended: options.ended, signal: scope.signal });
    const query = { ...ended, follow: true, from, from_stderr: fromStderr, positions: positions ? 1 : undefined };
    const call = { method: "GET", path, query, options: { idleTimeoutMs } } as const;
    yield* decodeLogs(readStream(transport, call, ["eof", "error"], scope));
  });
}

async function* decodeLogs(frames: AsyncIterable<OutputFrame>): AsyncGenerator<ProcessLogEvent, void, undefined> {
  const decoder = new OutputDecoder();
  const rest = function* (): Generator<ProcessLogEvent> {
    for (const { stream, text } of decoder.flush()) yield { event: stream, data: text };
  };
  try {
    for await (const frame of frames) {
      if (frame.bytes) {
        const data = decoder.decode(frame.event, frame.bytes);
        if (data !== "") yield { event: frame.event, data, ...position(frame.id, decoder) };
      } else {
        if (frame.event === "eof" || frame.event === "error") yield* rest();
        yield { event: frame.event as ProcessLogEvent["event"], data: frame.data, ...position(frame.id, decoder) };
      }
    }
  } catch (error) {
    yield* rest();
    throw error;
  }
}

/** Where to go on after the text given so far: bytes of a character that is not complete yet do not count. */
function position(id: string | undefined, decoder: OutputDecoder): Pick<ProcessLogEvent, "position"> {
  const match = /^(\d+),(\d+)$/.exec(id ?? "");
  if (!match) return {};
  return {
    position: {
      stdout: Number(match[1]) - decoder.held("stdout"),
      stderr: Number(match[2]) - decoder.held("stderr"),
    },
  };
}

export async function writeStdin(
  transport: Transport,
  sessionId: string,
  name: string,
  data: string | Uint8Array,
  options: WriteStdinOptions = {},
): Promise<WriteStdinResult> {
  const path = `${processPath(sessionId, name)}/stdin`;
  await transport.requireExtensions({ "process.stdin": "writeStdin" }, options);
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  const answer = await transport.json({
    method: "POST",
    path,
    query: { eof: options.eof },
    body: () => bytes as Uint8Array<ArrayBuffer>,
    options,
  });
  return fromWire(answer);
}
