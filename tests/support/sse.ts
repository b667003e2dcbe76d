// SPDX-License-Identifier: Apache-2.0
// Reads a stream of server-sent events strictly: every rule of the contract's framing is asserted on every line.
import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { type EventRule, type Json, mismatch } from "./contract.js";

export interface StreamEvent {
  event: string;
  /** Decoded: the bytes of base64 data, the text of any other. */
  bytes: Buffer;
  /** Parsed, for events whose data is JSON. */
  json?: Json;
  id?: string;
}

export interface Collected {
  stdout: Buffer;
  stderr: Buffer;
  /** Undefined when the stream was cut. */
  terminal?: StreamEvent;
  events: StreamEvent[];
}

/** How a connection that was cut shows itself. */
const CUTS = ["ECONNRESET", "EPIPE", "ABORT_ERR", "ERR_STREAM_PREMATURE_CLOSE"];

function decode(event: string, data: string, rule: EventRule): StreamEvent {
  if (rule.data === "base64") {
    assert.notEqual(data, "", `empty ${event} frame`);
    const bytes = Buffer.from(data, "base64");
    assert.equal(bytes.toString("base64"), data, `${event} data is not plain base64`);
    return { event, bytes };
  }
  if (rule.data === "empty") assert.equal(data, "", `${event} data`);
  const bytes = Buffer.from(data);
  if (rule.data !== "json") return { event, bytes };
  const json = JSON.parse(data) as Json;
  if (rule.schema) assert.equal(mismatch(rule.schema, json), undefined, `${event} data ${data}`);
  return { event, bytes, json };
}

export class EventStream implements AsyncIterable<StreamEvent> {
  /** Number of comment lines seen so far. */
  comments = 0;

  constructor(
    readonly response: IncomingMessage,
    private readonly rules: Record<string, EventRule>,
    private readonly idsAllowed: boolean,
  ) {
    response.on("error", () => {});
  }

  /** Closes the connection, as a client that goes away. */
  abort(): void {
    this.response.destroy();
  }

  private async *lines(): AsyncGenerator<string> {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let rest = "";
    try {
      for await (const chunk of this.response) {
        rest += decoder.decode(chunk as Buffer, { stream: true });
        const lines = rest.split("\n");
        rest = lines.pop()!;
        for (const line of lines) yield line.replace(/\r$/, "");
      }
    } catch (error) {
      if (!CUTS.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StreamEvent> {
    let frame: { event?: string; data?: string; id?: string } = {};
    let terminal = false;
    for await (const line of this.lines()) {
      if (line.startsWith(":")) {
        this.comments++;
        continue;
      }
      assert(!terminal, `line after the terminal frame: ${line}`);
      const [field, value] = splitField(line);
      if (field === "event") {
        assert.equal(frame.data, undefined, "event: after data:");
        frame.event = value;
      } else if (field === "id") {
        assert(this.idsAllowed, "an id: line that nobody asked for");
        assert.equal(frame.data, undefined, "id: after data:");
        frame.id = value;
      } else if (field === "data") {
        assert(frame.event, "data: without event:");
        assert.equal(frame.data, undefined, "two data: lines in a frame");
        frame.data = value;
      } else {
        assert.equal(line, "", "only event:, id:, data: and comments are sent");
        if (frame.event === undefined) continue;
        assert.notEqual(frame.data, undefined, `${frame.event} frame without data:`);
        const rule = this.rules[frame.event];
        assert(rule, `event type ${frame.event} is not in the contract`);
        terminal = rule.terminal ?? false;
        yield { ...decode(frame.event, frame.data!, rule), id: frame.id };
        frame = {};
      }
    }
  }

  /** Everything until the end. */
  async collect(): Promise<Collected> {
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    const collected: Collected = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0), events: [] };
    for await (const event of this) {
      collected.events.push(event);
      if (event.event === "stdout") out.push(event.bytes);
      else if (event.event === "stderr") err.push(event.bytes);
      else collected.terminal = event;
    }
    collected.stdout = Buffer.concat(out);
    collected.stderr = Buffer.concat(err);
    return collected;
  }
}

function splitField(line: string): [string, string] {
  const colon = line.indexOf(":");
  if (colon < 0) return [line, ""];
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
}

/** The result in the exit event of an exec's stream. */
export function exitOf({ terminal }: Collected): { exit_code: number; timed_out: boolean; oom?: boolean } {
  assert.equal(
    terminal?.event,
    "exit",
    `the stream ended with ${terminal?.event ?? "nothing"} ${terminal?.bytes ?? ""}`,
  );
  return terminal!.json as { exit_code: number; timed_out: boolean };
}
