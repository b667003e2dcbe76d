// SPDX-License-Identifier: Apache-2.0
// Running commands: buffered, streamed, in several sessions, in a throwaway session.

import { encodeBase64 } from "../base64.js";
import { InisError } from "../errors.js";
import { leavable, OutputDecoder, type OutputFrame, readStream } from "../stream.js";
import type { Transport } from "../transport.js";
import type {
  BatchExecOptions,
  BatchExecResult,
  CallOptions,
  CancelExecResult,
  Command,
  CommandUsage,
  ExecOptions,
  ExecResult,
  ExecStreamEvent,
  ExecStreamOptions,
  ExecuteOptions,
} from "../types/index.js";
import { asObject, fromWire, idSegment, listFrom, segment, type Wire } from "../wire.js";
import { cancelOnAbort } from "./cancel.js";
import { collectExec } from "./collect.js";

/** What a call may take beyond the command's own time. */
export const SLACK_MS = 10_000;
/** Node's fetch gives up when an answer's head takes 300 s; a longer command is run on the stream, which has beats. */
const LONGEST_BUFFERED_MS = 240_000;

/** A string is a shell command. */
export function argv(command: Command): string[] {
  return typeof command === "string" ? ["bash", "-lc", command] : [...command];
}

function execPath(sessionId: string): string {
  return `/v1/sessions/${idSegment(sessionId)}/exec`;
}

function execBody(command: Command, options: ExecOptions): Wire {
  const { stdin } = options;
  return {
    command: argv(command),
    cwd: options.cwd || undefined,
    timeout_ms: options.timeoutMs || undefined,
    env: options.env,
    stdin: typeof stdin === "object" ? encodeBase64(stdin) : stdin,
    stdin_encoding: typeof stdin === "object" ? "base64" : undefined,
    exec_id: options.execId,
  };
}

function checkOptions(transport: Transport, options: ExecOptions): Promise<void> {
  const wanted = {
    "exec.env": options.env && "env of a command",
    "exec.stdin": options.stdin !== undefined ? "stdin of a command" : undefined,
    "exec.id": options.execId !== undefined ? "execId" : undefined,
  };
  return transport.requireExtensions(wanted, { signal: options.signal });
}

/** Milliseconds the HTTP call of a command may take; 0 = any. */
function execLimit(transport: Transport, timeoutMs: number | undefined): number {
  return transport.limitOfAtLeast(timeoutMs ? timeoutMs + SLACK_MS : 0);
}

export async function exec(
  transport: Transport,
  sessionId: string,
  command: Command,
  options: ExecOptions = {},
): Promise<ExecResult> {
  const path = execPath(sessionId);
  options.signal?.throwIfAborted();
  await checkOptions(transport, options);
  const limit = execLimit(transport, options.timeoutMs);
  const run = async (execId: string | undefined, signal: AbortSignal | undefined): Promise<ExecResult> => {
    const json = execBody(command, { ...options, execId });
    if (limit === 0 || limit > LONGEST_BUFFERED_MS) return collectExec(transport, path, json, limit, signal);
    const call = { method: "POST", path, json, options: { signal }, defaultTimeoutMs: limit } as const;
    return toExecResult(await transport.json(call));
  };
  if (!options.signal) return run(options.execId, undefined);
  return cancelOnAbort(transport, sessionId, options.signal, options.execId, run);
}

export function execStream(
  transport: Transport,
  sessionId: string,
  command: Command,
  options: ExecStreamOptions = {},
): AsyncGenerator<ExecStreamEvent, void, undefined> {
  const path = execPath(sessionId);
  return leavable(options.signal, async function* (scope) {
    await checkOptions(transport, { ...options, signal: scope.signal });
    const { idleTimeoutMs } = options;
    const json = execBody(command, options);
    const call = { method: "POST", path, query: { stream: true }, json, options: { idleTimeoutMs } } as const;
    yield* decodeExec(readStream(transport, call, ["exit", "error"], scope));
  });
}

async function* decodeExec(frames: AsyncIterable<OutputFrame>): AsyncGenerator<ExecStreamEvent, void, undefined> {
  const decoder = new OutputDecoder();
  const rest = function* (): Generator<ExecStreamEvent> {
    for (const { stream, text } of decoder.flush()) yield { stream, data: text };
  };
  try {
    for await (const frame of frames) {
      if (frame.bytes) {
        const data = decoder.decode(frame.event, frame.bytes);
        if (data !== "") yield { stream: frame.event, data };
      } else if (frame.event === "exit") {
        yield* rest();
        yield { stream: "exit", data: "", ...toExit(frame.data) };
      } else {
        if (frame.event === "error") yield* rest();
        yield { stream: frame.event as ExecStreamEvent["stream"], data: frame.data };
      }
    }
  } catch (error) {
    yield* rest();
    throw error;
  }
}

type Exit = CommandUsage & { exitCode: number; timedOut: boolean; durationMs: number; oom?: boolean };

/** The members of an `exit` event. */
export function toExit(data: string): Exit {
  let exit: Wire;
  try {
    exit = asObject(JSON.parse(data));
  } catch (cause) {
    throw new InisError("the server sent a malformed exit event", { code: "invalid_response", cause });
  }
  return { exitCode: 0, timedOut: false, durationMs: 0, ...fromWire<CommandUsage & { oom?: boolean }>(exit) };
}

function toExecResult(answer: unknown): ExecResult {
  return {
    stdout: "",
    stderr: "",
    exitCode: 0,
    durationMs: 0,
    timedOut: false,
    truncated: false,
    ...fromWire<Partial<ExecResult>>(answer),
  };
}

export async function cancelExec(
  transport: Transport,
  sessionId: string,
  execId: string,
  options?: CallOptions,
): Promise<CancelExecResult> {
  const path = `/v1/sessions/${idSegment(sessionId)}/execs/${segment(execId)}`;
  await transport.requireExtensions({ "exec.id": "cancelExec" }, options);
  return fromWire(await transport.json({ method: "DELETE", path, options }));
}

export async function batchExec(transport: Transport, options: BatchExecOptions): Promise<BatchExecResult[]> {
  const { sessionIds, command, cwd, timeoutMs, env, signal } = options;
  await transport.requireExtensions({ "exec.env": env && "env of a command" }, { signal });
  const answer = await transport.json({
    method: "POST",
    path: "/v1/sessions/batch/exec",
    json: {
      session_ids: sessionIds,
      command: argv(command),
      cwd: cwd || undefined,
      timeout_ms: timeoutMs || undefined,
      env,
    },
    options: { signal },
    // A server may run the sessions one after another.
    defaultTimeoutMs: execLimit(transport, timeoutMs && timeoutMs * sessionIds.length),
  });
  return listFrom(answer, "results", (item) => ({
    stdout: "",
    stderr: "",
    exitCode: 0,
    durationMs: 0,
    timedOut: false,
    ...fromWire<{ sessionId: string }>(item),
  }));
}

export async function execute(transport: Transport, options: ExecuteOptions): Promise<ExecResult> {
  const answer = await transport.json({
    method: "POST",
    path: "/v1/sessions/exec",
    json: {
      language: options.language,
      code: options.code,
      dependencies: options.dependencies,
      volume_id: options.volumeId || undefined,
      timeout_ms: options.timeoutMs || undefined,
      size: options.size || undefined,
      template: options.template || undefined,
      no_sudo: options.noSudo || undefined,
      command_capture: options.commandCapture || undefined,
    },
    options: { signal: options.signal },
    defaultTimeoutMs: execLimit(transport, options.timeoutMs),
  });
  return toExecResult(answer);
}
