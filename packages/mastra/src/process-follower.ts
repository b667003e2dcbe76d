// SPDX-License-Identifier: Apache-2.0
// Keeps the output of one background process flowing, over as many log streams as it takes.
//
// A broken stream is resumed where it stopped: by byte offset where the server offers that, else by replaying the
// log and leaving out what was delivered before. Following wakes a paused session; so while the session is paused
// nothing is asked of it, only its state is looked at, which never wakes it.

import type { ProcessInfo, ProcessLogEvent, Session } from "@inis-run/sdk";
import { isInisError } from "./errors.js";
import { LogPosition } from "./log-position.js";
import { isSessionGone, sessionState } from "./recovery.js";
import { pause } from "./timing.js";

const FIRST_RETRY_MS = 100;
const SLOWEST_RETRY_MS = 5_000;
/** How long a server may be out of reach before the process is given up. */
const GIVE_UP_MS = 120_000;

/** What a follower needs to know about its process. */
export interface FollowedProcess {
  session: Session;
  name: string;
  /** The server can start a log stream at an offset. */
  resumable: boolean;
}

export type OutputStream = "stdout" | "stderr";
export type EmitOutput = (stream: OutputStream, text: string) => void;

/** How one attempt went that did not reach the end of the process. */
type Setback = "gone" | "paused" | "broken";

export class ProcessFollower {
  readonly #process: FollowedProcess;
  readonly #emit: EmitOutput;
  readonly #position: LogPosition;
  /** Ends what is going on now: the open stream, or the wait for the next attempt. */
  #interrupt = new AbortController();
  /** Pending while suspended. */
  #gate: Promise<void> | undefined;
  #openGate: (() => void) | undefined;
  #detached: Error | undefined;
  #lastSuccess = Date.now();

  constructor(process: FollowedProcess, emit: EmitOutput) {
    this.#process = process;
    this.#emit = emit;
    this.#position = new LogPosition(process.resumable);
  }

  /**
   * Resolves with the process's final state once all its output was delivered; with undefined when the process or
   * its session no longer exists.
   *
   * @throws what kept it from the process for too long, or the reason of `detach`.
   */
  async run(): Promise<ProcessInfo | undefined> {
    let outcome = await this.#attempt(() => Promise.resolve("live"));
    for (let setbacks = 0; typeof outcome === "string"; setbacks++) {
      if (outcome === "gone") return undefined;
      const delay = outcome === "paused" ? SLOWEST_RETRY_MS : FIRST_RETRY_MS * 2 ** Math.min(setbacks, 6);
      await pause(Math.min(delay, SLOWEST_RETRY_MS), this.#interrupt.signal);
      await this.#gate;
      const before = this.#lastSuccess;
      outcome = await this.#attempt(() => sessionState(this.#process.session));
      if (this.#lastSuccess > before) setbacks = 0;
    }
    return outcome;
  }

  /** Delivers what the log holds now; `run()` goes on from there. Only on servers that know offsets. */
  async replay(): Promise<void> {
    const { session, name, resumable } = this.#process;
    if (!resumable) return;
    const logs = await session.getProcessLogs(name);
    for (const stream of ["stdout", "stderr"] as const) {
      const bytes = Buffer.from(logs[stream], logs[`${stream}Encoding`] ?? "utf8");
      const offset = logs[`${stream}Offset`] ?? 0;
      const data = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: true });
      this.#position.seek(stream, offset);
      const end = offset + bytes.length;
      this.#deliver(stream, { event: stream, data, position: { stdout: end, stderr: end } });
    }
  }

  /** Bytes of a stream that the server had to drop before they could be followed: it keeps only the newest. */
  lost(stream: OutputStream): number {
    return this.#position.lost[stream];
  }

  /** Leaves the server alone until `resume()`. */
  suspend(): void {
    if (this.#gate) return;
    this.#gate = new Promise((resolve) => {
      this.#openGate = resolve;
    });
    this.#interrupt.abort();
  }

  resume(): void {
    this.#openGate?.();
    this.#openGate = undefined;
    this.#gate = undefined;
  }

  /** Stops following for good; `run()` rejects with the reason. */
  detach(reason: Error): void {
    this.#detached = reason;
    this.#interrupt.abort();
    this.resume();
  }

  async #attempt(currentState: () => Promise<"live" | "paused" | "gone">): Promise<ProcessInfo | Setback> {
    this.#interrupt = new AbortController();
    try {
      if (this.#detached) throw this.#detached;
      const state = await currentState();
      this.#lastSuccess = Date.now();
      if (state !== "live") return state;
      await this.#follow(this.#interrupt.signal);
      const info = await this.#process.session.getProcess(this.#process.name);
      return info.state === "exited" ? info : "broken";
    } catch (error) {
      if (this.#detached) throw this.#detached;
      if (this.#gate) return "broken";
      if (await this.#isLost(error)) return "gone";
      if (!this.#mayRecover(error)) throw error;
      return "broken";
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { session, name, resumable } = this.#process;
    // Text without an offset is the half of a character at the end of the stream: real only if the log ends there too.
    const halves: ProcessLogEvent[] = [];
    for await (const event of session.streamProcessLogs(name, { ...this.#position.start(), signal })) {
      this.#lastSuccess = Date.now();
      if (event.event === "eof") for (const half of halves) this.#emit(half.event as OutputStream, half.data);
      if (event.event !== "stdout" && event.event !== "stderr") continue;
      if (resumable && !event.position) halves.push(event);
      else this.#deliver(event.event, event);
    }
  }

  #deliver(stream: OutputStream, event: ProcessLogEvent): void {
    const text = this.#position.advance(stream, event);
    if (text !== "") this.#emit(stream, text);
  }

  async #isLost(error: unknown): Promise<boolean> {
    if (!isInisError(error)) return false;
    return error.status === 404 || (await isSessionGone(this.#process.session, error));
  }

  #mayRecover(error: unknown): boolean {
    const refused = isInisError(error) && error.status !== undefined && error.status < 500 && !error.retryable;
    return !refused && Date.now() - this.#lastSuccess < GIVE_UP_MS;
  }
}
