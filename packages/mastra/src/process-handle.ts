// SPDX-License-Identifier: Apache-2.0
// One background process, as Mastra sees it.
//
// The handle follows the process's log from the start, so its output fills without anybody waiting. `exitCode`
// becomes known when the process has ended and all its output was delivered; from then on nothing changes any more.

import { Writable } from "node:stream";
import type { ProcessInfo, Session } from "@inis-run/sdk";
import { type CommandResult, ProcessHandle } from "@mastra/core/workspace";
import type { Capabilities } from "./capabilities.js";
import { isInisError, stdinCloseUnsupported, toSandboxError, unsupported } from "./errors.js";
import { type OutputStream, ProcessFollower } from "./process-follower.js";
import { within } from "./timing.js";

/** Between the polite and the final signal of a kill. */
const KILL_GRACE_MS = 1_000;
/** How long the last output of a killed process may take to arrive. */
const DRAIN_MS = 5_000;
const UNKNOWN_EXIT_CODE = -1;
const TIMED_OUT_EXIT_CODE = 124;
const NO_STDIN_ON_SERVER = "this server cannot write to the standard input of a process (extension process.stdin)";
const GONE = "\nThe process is gone together with its session";
const OUT_OF_MEMORY = "\nThe sandbox's memory limit was reached; something in this process was killed";

/** What the manager knows about a process when it makes the handle. */
export interface HandledProcess {
  session: Session;
  capabilities: Capabilities;
  info: ProcessInfo;
  /** False when the process was started without standard input; undefined when that is not known. */
  hasStdin?: boolean;
  /** Limit in milliseconds that this program has to enforce, because the server cannot. */
  hostTimeoutMs?: number;
  /** Limit in milliseconds, for the message that tells of it. */
  timeoutMs?: number;
  warn(message: string, error: unknown): void;
}

type OutputOptions = ConstructorParameters<typeof ProcessHandle>[0];

interface Ending {
  exitCode: number;
  timedOut: boolean;
  killed: boolean;
  durationMs: number;
}

/** A process of the session; `pid` is the name that it has there. */
export class InisProcessHandle extends ProcessHandle {
  readonly pid: string;
  readonly #process: HandledProcess;
  readonly #follower: ProcessFollower;
  readonly #startedAt = Date.now();
  readonly #ended: Promise<Ending>;
  readonly #timer: NodeJS.Timeout | undefined;
  #settle!: (ending: Ending) => void;
  #fail!: (error: unknown) => void;
  #ending: Ending | undefined;
  #timedOutHere = false;
  #killedHere = false;
  #lastWrite: Promise<unknown> = Promise.resolve();
  #writer: Writable | undefined;

  /** @internal Handles are made by {@link InisProcessManager}. */
  constructor(process: HandledProcess, options?: OutputOptions) {
    super(options);
    this.#process = process;
    this.pid = process.info.name;
    this.#ended = new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#fail = reject;
    });
    this.#ended.catch(() => {});
    const followed = { session: process.session, name: this.pid, resumable: process.capabilities.logOffsets };
    this.#follower = new ProcessFollower(followed, (stream, text) => this.#deliver(stream, text));
    if (process.hostTimeoutMs) this.#timer = setTimeout(() => this.#expire(), process.hostTimeoutMs).unref();
  }

  /** Undefined while the process runs, and until the last of its output has arrived. */
  get exitCode(): number | undefined {
    return this.#ending?.exitCode;
  }

  override get stdoutTruncated(): boolean {
    return this.stdoutDroppedBytes > 0;
  }

  override get stderrTruncated(): boolean {
    return this.stderrDroppedBytes > 0;
  }

  /** Bytes of stdout that `stdout` does not hold: beyond what is retained here, or printed faster than it was read. */
  override get stdoutDroppedBytes(): number {
    return super.stdoutDroppedBytes + this.#follower.lost("stdout");
  }

  override get stderrDroppedBytes(): number {
    return super.stderrDroppedBytes + this.#follower.lost("stderr");
  }

  /** Ends the process and all that it started. False if it had ended before. */
  async kill(): Promise<boolean> {
    if (this.#ending) return false;
    const { session, capabilities } = this.#process;
    try {
      const info = await session.killProcess(this.pid, capabilities.processKill ? { graceMs: KILL_GRACE_MS } : {});
      const killed = info.killed ?? info.state === "exited";
      this.#killedHere ||= killed;
      await within(
        DRAIN_MS,
        this.#ended.catch(() => undefined),
      );
      if (info.state === "exited") this.#finish(info);
      return killed;
    } catch (error) {
      if (isInisError(error) && error.status === 404) return false;
      throw toSandboxError(error);
    }
  }

  /** Writes to the process's standard input, after all that was written before. */
  sendStdin(data: string | Uint8Array): Promise<void> {
    return this.#inOrder(async () => {
      await this.#process.session.writeStdin(this.pid, data);
    });
  }

  /** Ends the process's standard input: a read there then meets end-of-file. */
  closeStdin(): Promise<void> {
    if (!this.#process.capabilities.processStdin) return Promise.reject(stdinCloseUnsupported(NO_STDIN_ON_SERVER));
    return this.#inOrder(() => this.#process.session.closeStdin(this.pid));
  }

  /** The process's standard input as a stream. Ending it is end-of-file, whatever the version of Mastra. */
  override get writer(): Writable {
    this.#writer ??= new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.sendStdin(chunk).then(() => done(), done);
      },
      final: (done) => {
        this.#endInput().then(() => done(), done);
      },
    });
    return this.#writer;
  }

  /** Resolves when the process has ended, for any number of callers. The base class serves the options. */
  override async wait(_options?: Parameters<ProcessHandle["wait"]>[0]): Promise<CommandResult> {
    const { exitCode, timedOut, killed, durationMs } = await this.#ended;
    return {
      success: exitCode === 0,
      exitCode,
      stdout: this.stdout,
      stderr: this.stderr,
      executionTimeMs: durationMs,
      timedOut,
      killed,
      command: this.command,
    };
  }

  /** @internal Starts the flow of output, no earlier than the caller's next turn of the event loop. */
  follow(): void {
    setImmediate(() => {
      this.#follower.run().then(
        (info) => this.#finish(info),
        (error) => {
          clearTimeout(this.#timer);
          this.#fail(toSandboxError(error));
        },
      );
    });
  }

  /** @internal Like `follow`, for a process that was not started here: returns with its output so far delivered. */
  async attach(): Promise<void> {
    if (this.#process.info.state === "running") await this.#follower.replay();
    this.follow();
    if (this.#process.info.state === "exited") await this.#ended.catch(() => {});
  }

  /** @internal The session is about to be paused. */
  suspend(): void {
    this.#follower.suspend();
  }

  /** @internal The session is in use again. */
  resume(): void {
    this.#follower.resume();
  }

  /** @internal The sandbox lets go of a session that goes on without it. */
  detach(reason: Error): void {
    clearTimeout(this.#timer);
    this.#follower.detach(reason);
  }

  /** Whoever ends a stream need not care whether the process, or the server, still had use for that. */
  async #endInput(): Promise<void> {
    if (!this.#process.capabilities.processStdin || this.#ending) return;
    await this.closeStdin().catch((error: Error) => {
      const refusal = isInisError(error.cause) ? error.cause.status : undefined;
      if (!this.#ending && refusal !== 404 && refusal !== 409) throw error;
    });
  }

  #inOrder(operation: () => Promise<void>): Promise<void> {
    const turn = this.#lastWrite.then(() => {
      this.#requireStdin();
      return operation();
    });
    this.#lastWrite = turn.catch(() => {});
    return turn.catch((error) => {
      throw toSandboxError(error);
    });
  }

  #requireStdin(): void {
    if (!this.#process.capabilities.processStdin) throw unsupported(NO_STDIN_ON_SERVER);
    if (this.#process.hasStdin === false) throw unsupported(`process ${this.pid} was started without standard input`);
    if (this.#ending) throw new Error(`process ${this.pid} has already exited with code ${this.#ending.exitCode}`);
  }

  /** A listener that throws must neither stop the output nor go unnoticed. */
  #deliver(stream: OutputStream, text: string): void {
    try {
      if (stream === "stdout") this.emitStdout(text);
      else this.emitStderr(text);
    } catch (error) {
      this.#process.warn(`an output listener of process ${this.pid} threw`, error);
    }
  }

  #limitText(): string {
    const { timeoutMs } = this.#process;
    return timeoutMs === undefined ? "" : ` after ${timeoutMs} ms`;
  }

  #expire(): void {
    this.#timedOutHere = true;
    this.kill().catch((error) => this.#process.warn(`process ${this.pid} could not be killed at its timeout`, error));
  }

  #finish(info: ProcessInfo | undefined): void {
    if (this.#ending) return;
    clearTimeout(this.#timer);
    const timedOut = info?.timedOut ?? this.#timedOutHere;
    const killed =
      info === undefined || timedOut || this.#killedHere || info.killed === true || info.signal !== undefined;
    if (timedOut) this.#deliver("stderr", `\nProcess timed out${this.#limitText()}`);
    if (info?.oom) this.#deliver("stderr", OUT_OF_MEMORY);
    if (!info) this.#deliver("stderr", GONE);
    const exitCode = timedOut ? TIMED_OUT_EXIT_CODE : (info?.exitCode ?? UNKNOWN_EXIT_CODE);
    this.#ending = { exitCode, timedOut, killed, durationMs: durationOf(info) ?? Date.now() - this.#startedAt };
    this.#settle(this.#ending);
  }
}

function durationOf(info: ProcessInfo | undefined): number | undefined {
  const duration = Date.parse(info?.endedAt ?? "") - Date.parse(info?.startedAt ?? "");
  return Number.isNaN(duration) ? undefined : Math.max(0, duration);
}
