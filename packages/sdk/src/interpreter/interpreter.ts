// SPDX-License-Identifier: Apache-2.0
// The code interpreter: keeps a Python kernel running in the session and hands it code, with ordinary calls only.

import { exec } from "../api/exec.js";
import { readFile, writeFile } from "../api/files.js";
import { getProcess, killProcess, startProcess } from "../api/processes.js";
import { InisError } from "../errors.js";
import type { Transport } from "../transport.js";
import type { InterpreterResult, RunCodeOptions, SignalOptions } from "../types/index.js";
import { asObject, listFrom } from "../wire.js";
import { KERNEL_SCRIPT } from "./kernel.js";

const PROCESS = "inis-kernel";
const ROOT = "/workspace/.inis_kernel";
const DEFAULT_TIMEOUT_MS = 30_000;
const POLL_MS = 50;
const SLACK_MS = 10_000;
const TIMEOUT_MARKER = "__inis_timeout__";

export class Interpreter {
  readonly #transport: Transport;
  readonly #sessionId: string;
  /** Settles when this session's kernel is known to run; forgotten when that fails. */
  #ready: Promise<void> | undefined;

  constructor(transport: Transport, sessionId: string) {
    this.#transport = transport;
    this.#sessionId = sessionId;
  }

  async run(code: string, options: RunCodeOptions = {}): Promise<InterpreterResult[]> {
    const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    for (let attempt = 1; ; attempt++) {
      await this.#ensure(signal);
      const outcome = await this.#submit(code, timeoutMs, signal);
      if (Array.isArray(outcome)) return this.#withImages(outcome, signal);
      if (await this.#running(signal)) return [errorItem("TimeoutError", outcome.problem)];
      this.#ready = undefined;
      if (attempt === 2) return [errorItem("KernelError", "the interpreter ended while it ran this code")];
    }
  }

  async restart(options: SignalOptions = {}): Promise<void> {
    const { signal } = options;
    this.#ready = undefined;
    await this.#kill(signal);
    await this.#ensure(signal);
  }

  async #ensure(signal: AbortSignal | undefined): Promise<void> {
    this.#ready ??= this.#install(signal).catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    await this.#ready;
  }

  async #install(signal: AbortSignal | undefined): Promise<void> {
    const version = await scriptVersion();
    const running = await this.#running(signal);
    if (running && (await this.#installedVersion(signal)) === version) return;
    await this.#shell(`mkdir -p ${ROOT}/requests ${ROOT}/results ${ROOT}/artifacts && rm -f ${ROOT}/pid`, { signal });
    await this.#write("kernel.py", KERNEL_SCRIPT, signal);
    await this.#write("version", version, signal);
    if (running) await this.#kill(signal);
    await this.#start(signal);
  }

  async #start(signal: AbortSignal | undefined): Promise<void> {
    try {
      const command = ["python3", `${ROOT}/kernel.py`, ROOT];
      await startProcess(this.#transport, this.#sessionId, PROCESS, command, { signal });
    } catch (error) {
      // Another client of the same session was faster: its kernel serves both.
      if (!(error instanceof InisError && error.status === 409)) throw error;
    }
  }

  async #running(signal: AbortSignal | undefined): Promise<boolean> {
    try {
      return (await getProcess(this.#transport, this.#sessionId, PROCESS, { signal })).state === "running";
    } catch {
      signal?.throwIfAborted();
      return false;
    }
  }

  async #kill(signal: AbortSignal | undefined): Promise<void> {
    try {
      await killProcess(this.#transport, this.#sessionId, PROCESS, { signal });
    } catch {
      signal?.throwIfAborted();
    }
  }

  async #installedVersion(signal: AbortSignal | undefined): Promise<string | undefined> {
    try {
      const text = await readFile(this.#transport, this.#sessionId, `${ROOT}/version`, "text", { signal });
      return String(text).trim();
    } catch {
      signal?.throwIfAborted();
      return undefined;
    }
  }

  #write(name: string, content: string, signal: AbortSignal | undefined): Promise<void> {
    return writeFile(this.#transport, this.#sessionId, `${ROOT}/${name}`, content, undefined, { signal });
  }

  #shell(command: string, options: { signal?: AbortSignal; timeoutMs?: number }) {
    return exec(this.#transport, this.#sessionId, command, options);
  }

  /** What the code produced, or why that is not known. */
  async #submit(
    code: string,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<InterpreterResult[] | { problem: string }> {
    const id = crypto.randomUUID().replaceAll("-", "");
    await this.#write(`requests/.${id}.tmp`, JSON.stringify({ id, code }), signal);
    const result = await this.#shell(waitCommand(id, timeoutMs), { signal, timeoutMs: timeoutMs + SLACK_MS });
    if (result.truncated) return [errorItem("KernelError", "the result is larger than one answer may be")];
    const answer = parse(result.stdout);
    if (answer?.id === id) return listFrom(answer, "results");
    return { problem: `timed out after ${timeoutMs} ms, context left intact` };
  }

  async #withImages(results: InterpreterResult[], signal: AbortSignal | undefined): Promise<InterpreterResult[]> {
    for (const result of results) {
      if (result.type !== "image" || !result.path) continue;
      const path = result.path.startsWith("/") ? result.path : `${ROOT}/${result.path}`;
      try {
        const data = await readFile(this.#transport, this.#sessionId, path, "base64", { signal });
        if (typeof data !== "string") result.data = data;
      } catch {
        signal?.throwIfAborted();
      }
    }
    return results;
  }
}

/**
 * Hands the request over and waits in the session, so that no call is needed for each look. A kernel that is gone is
 * not waited for, and must not leave its request to the next one.
 */
function waitCommand(id: string, timeoutMs: number): string {
  const rounds = Math.floor(timeoutMs / POLL_MS) + 1;
  return `cd ${ROOT} && mv requests/.${id}.tmp requests/${id}.json || exit 1
for ((i = 0; i < ${rounds}; i++)); do
  gone=
  if [ -s pid ] && read -r pid < pid && ! kill -0 "$pid" 2>/dev/null; then gone=1; fi
  if [ -e results/${id}.json ]; then cat results/${id}.json; rm -f results/${id}.json; exit; fi
  if [ "$gone" ]; then rm -f requests/${id}.json; break; fi
  sleep ${POLL_MS / 1000}
done
echo '{"${TIMEOUT_MARKER}": true}'`;
}

function parse(stdout: string): Record<string, unknown> | undefined {
  try {
    return asObject(JSON.parse(stdout));
  } catch {
    return undefined;
  }
}

function errorItem(ename: string, evalue: string): InterpreterResult {
  return { type: "error", ename, evalue, traceback: "" };
}

/** Tells one kernel script from another. */
async function scriptVersion(): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(KERNEL_SCRIPT));
  return Array.from(new Uint8Array(digest, 0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
