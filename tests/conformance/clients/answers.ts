// SPDX-License-Identifier: Apache-2.0
// How both published clients read what a server answers: error bodies and event streams.
import assert from "node:assert/strict";
import type { WireAnswer } from "./socket.js";

// biome-ignore lint/suspicious/noExplicitAny: the clients look into answers without knowing their types
export type Members = Record<string, any>;

/** Codes after which both clients tell the application that the same call may work later. */
const RETRYABLE = new Set([
  "idempotency_key_in_progress",
  "session_not_live",
  "rate_limited",
  "concurrency_limit_exceeded",
  "rate_limit_exceeded",
  "account_concurrency_exceeded",
  "key_concurrency_exceeded",
  "bad_gateway",
  "unavailable",
  "service_unavailable",
  "session_unavailable",
  "session_node_unavailable",
  "template_version_unavailable",
]);

export class InisError extends Error {
  override readonly name = "InisError";

  constructor(
    message: string,
    readonly code: string,
    readonly status: number,
    readonly retryable: boolean,
    readonly retryAfter: number | undefined,
    readonly requestId: string | undefined,
    readonly response: Members | undefined,
  ) {
    super(message);
  }
}

/** A member that the Python client's mapping reads without asking whether it is there. */
export class KeyError extends Error {
  override readonly name = "KeyError";
}

function decoded(body: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? (value as Members) : undefined;
  } catch {
    return undefined;
  }
}

export async function failure(answer: WireAnswer): Promise<InisError> {
  const body = (await answer.body()).toString("utf8");
  const members = decoded(body);
  const code = typeof members?.code === "string" ? members.code : "error";
  const text = typeof members?.error === "string" ? members.error : body || `HTTP ${answer.status}`;
  const header = answer.headers.get("retry-after");
  const seconds = header !== undefined && /^\d+$/.test(header) ? Number(header) : undefined;
  return new InisError(
    `${answer.status}: ${text}`,
    code,
    answer.status,
    RETRYABLE.has(code) || seconds !== undefined,
    seconds,
    answer.headers.get("x-inis-request-id"),
    members,
  );
}

export interface PlayedEvent {
  event: string;
  /** Decoded text of output, else the data as it is. */
  data: string;
}

async function* linesOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop()!;
    for (const line of lines) yield line.replace(/\r$/, "");
  }
}

/**
 * The clients' line-by-line parser: it remembers the latest `event:`, acts on each `data:` by itself, skips all else,
 * and is done with the first terminal event, wherever the connection is by then.
 */
export async function* eventsOf(answer: WireAnswer, terminal: string[]): AsyncGenerator<PlayedEvent> {
  const decoders = new Map([
    ["stdout", new TextDecoder()],
    ["stderr", new TextDecoder()],
  ]);
  let event = "";
  for await (const line of linesOf(answer.pieces())) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    if (!line.startsWith("data:")) continue;
    const data = line.slice(5).trim();
    const decoder = decoders.get(event);
    if (decoder) yield { event, data: decoder.decode(Buffer.from(data, "base64"), { stream: true }) };
    else yield { event, data };
    if (terminal.includes(event)) return;
  }
  assert.fail("the stream ended without a terminal event");
}
