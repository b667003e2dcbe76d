// SPDX-License-Identifier: Apache-2.0
// A foreground command: one streaming request, from start to exit code.
//
// The server owns the timeout and kills the command when the stream is closed, so neither depends on this
// program staying alive. Standard input is at its end from the start. A command that may have run is never
// repeated: when the stream breaks, the caller gets the output so far and is told that the outcome is unknown.

import { randomUUID } from "node:crypto";
import { type ExecStreamEvent, InisError, type Session } from "@inis-run/sdk";
import type { CommandResult, ExecuteCommandOptions } from "@mastra/core/workspace";
import { isInisError, outcomeUnknown } from "./errors.js";
import { RetainedText } from "./retained-text.js";
import { exportPrefix, type ShellMode, shellArgv } from "./shell.js";
import { pause } from "./timing.js";

/** Enough for any log a person or a model reads, and far below what a JavaScript string can hold. */
const DEFAULT_RETAINED_BYTES = 64 * 1024 * 1024;
/** As if by SIGTERM, which is what the server sends to a command whose stream is closed. */
const ABORTED_EXIT_CODE = 143;
/** How long ending a command may take, and its last output to arrive after that. */
const CANCEL_LIMIT_MS = 3_000;
const LAST_OUTPUT_MS = 500;
const TIMED_OUT_EXIT_CODE = 124;
const UNKNOWN_EXIT_CODE = -1;
const OUT_OF_MEMORY = "\nThe sandbox's memory limit was reached; something in this command was killed";

/** What a run needs to know besides its command line. */
export interface RunSettings {
  env?: Record<string, string>;
  cwd: string;
  timeoutMs: number;
  shell: ShellMode;
  /** Whether the server takes an environment as a field. */
  envAsField: boolean;
  /** Whether the server can be told to end the command. */
  cancellable: boolean;
}

/** Output so far, and its listeners. */
class CommandOutput {
  readonly stdout: RetainedText;
  readonly stderr: RetainedText;
  /** What a listener threw: the caller's own error, to be given back as it is. */
  listenerError: unknown;

  constructor(private readonly options: ExecuteCommandOptions) {
    const limit = options.maxRetainedBytes ?? DEFAULT_RETAINED_BYTES;
    this.stdout = new RetainedText(limit);
    this.stderr = new RetainedText(limit);
  }

  emit(stream: "stdout" | "stderr", text: string): void {
    this[stream].append(text);
    try {
      (stream === "stdout" ? this.options.onStdout : this.options.onStderr)?.(text);
    } catch (error) {
      this.listenerError = error;
      throw error;
    }
  }

  result() {
    const out = this.stdout.read();
    const err = this.stderr.read();
    return {
      stdout: out.text,
      stderr: err.text,
      stdoutTruncated: out.droppedBytes > 0,
      stderrTruncated: err.droppedBytes > 0,
      stdoutDroppedBytes: out.droppedBytes,
      stderrDroppedBytes: err.droppedBytes,
    };
  }
}

export class ForegroundRun {
  readonly #line: string;
  readonly #signal: AbortSignal | undefined;
  readonly #output: CommandOutput;
  readonly #startedAt = Date.now();

  constructor(line: string, options: ExecuteCommandOptions) {
    this.#line = line;
    this.#signal = options.abortSignal;
    this.#output = new CommandOutput(options);
  }

  /**
   * Runs the command. Whatever its exit code, a timeout and an abort are results.
   *
   * @throws {InisError} as it came, when the server refused to start the command: nothing has run.
   */
  async on(session: Session, settings: RunSettings): Promise<CommandResult> {
    if (this.#signal?.aborted) return this.aborted();
    const execId = settings.cancellable ? randomUUID() : undefined;
    const connection = new AbortController();
    const giveUp = () => void cancel(session, execId).then(() => connection.abort());
    this.#signal?.addEventListener("abort", giveUp, { once: true });
    let running = false;
    try {
      for await (const event of this.#start(session, settings, execId, connection.signal)) {
        running = true;
        if (event.stream === "stdout" || event.stream === "stderr") this.#output.emit(event.stream, event.data);
        else if (event.stream === "exit") return this.#ended(event, settings.timeoutMs);
        else if (event.stream === "error") throw new InisError(event.data, { code: "stream_error" });
      }
      throw new InisError("the stream ended without an exit code", { code: "stream_interrupted" });
    } catch (error) {
      if (error === this.#output.listenerError) throw error;
      if (this.#signal?.aborted) return this.aborted();
      if (!running && !isInterrupted(error)) throw error;
      throw outcomeUnknown(error, this.#output.result());
    } finally {
      this.#signal?.removeEventListener("abort", giveUp);
    }
  }

  /** The result of a command that was ended, or never started, because its caller gave it up. */
  aborted(): CommandResult {
    return this.#result(ABORTED_EXIT_CODE, { killed: true });
  }

  #start(session: Session, settings: RunSettings, execId: string | undefined, signal: AbortSignal) {
    const { cwd, timeoutMs, env, envAsField, shell } = settings;
    const line = envAsField ? this.#line : exportPrefix(env) + this.#line;
    const options = { cwd, timeoutMs, env: envAsField ? env : undefined, execId, signal };
    return session.execStream(shellArgv(shell, line), options);
  }

  /** Adds to stderr, for whoever reads it, why a command was ended that did not end by itself. */
  #ended(event: ExecStreamEvent, timeoutMs: number): CommandResult {
    const timedOut = event.timedOut === true;
    if (timedOut) this.#output.emit("stderr", `\nCommand timed out after ${timeoutMs} ms`);
    if (event.oom) this.#output.emit("stderr", OUT_OF_MEMORY);
    const exitCode = timedOut ? TIMED_OUT_EXIT_CODE : (event.exitCode ?? UNKNOWN_EXIT_CODE);
    const killed = timedOut || event.oom === true || this.#signal?.aborted === true;
    return this.#result(exitCode, { timedOut, killed });
  }

  #result(exitCode: number, facts: Partial<CommandResult>): CommandResult {
    return {
      success: exitCode === 0,
      exitCode,
      ...this.#output.result(),
      executionTimeMs: Date.now() - this.#startedAt,
      command: this.#line,
      ...facts,
    };
  }
}

/**
 * Ends the command in the guest, so that nothing of it is left when its caller goes on. Where that cannot be asked
 * for, or takes too long, closing the connection does the same a little later.
 */
async function cancel(session: Session, execId: string | undefined): Promise<void> {
  if (execId === undefined) return;
  await session.cancelExec(execId, { timeoutMs: CANCEL_LIMIT_MS }).catch(() => {});
  await pause(LAST_OUTPUT_MS);
}

/** The server had begun to answer, so the command may have been started. */
function isInterrupted(error: unknown): boolean {
  return isInisError(error) && error.status === undefined && error.code.startsWith("stream_");
}
