// SPDX-License-Identifier: Apache-2.0
// Background processes of a sandbox. A process is known by its name in the session, which serves as its pid; any
// program that works on the same session can find it again by that.

import { randomUUID } from "node:crypto";
import type { ProcessInfo as InisProcessInfo, Session, StartProcessOptions } from "@inis-run/sdk";
import { type ProcessInfo, SandboxProcessManager, type SpawnProcessOptions } from "@mastra/core/workspace";
import { type Capabilities, capabilitiesOf } from "./capabilities.js";
import { isInisError } from "./errors.js";
import { InisProcessHandle } from "./process-handle.js";
import type { InisSandbox } from "./sandbox.js";
import { displayCommand, exportPrefix, type ShellMode, shellArgv } from "./shell.js";
import { wholeMs } from "./timing.js";

/** The newer core's options; the older one passes on what it does not know. */
type SpawnOptions = SpawnProcessOptions & { stdinMode?: "pipe" | "ignore" };

/** How the manager starts processes, from the sandbox's options. */
export interface ProcessDefaults {
  shell: ShellMode;
  keepAlive: boolean;
}

/** What the server can have as a name. Models make up pids. */
const PROCESS_NAME = /^[A-Za-z0-9._-]{1,64}$/;

export class InisProcessManager extends SandboxProcessManager<InisSandbox> {
  readonly #defaults: ProcessDefaults;

  /** @internal */
  constructor(defaults: ProcessDefaults) {
    super();
    this.#defaults = defaults;
  }

  /**
   * Starts a command line in the background. Its standard input is a pipe unless `stdinMode` is `ignore`, its
   * `timeout` is enforced by the server where the server can.
   */
  override async spawn(command: string, options: SpawnOptions = {}): Promise<InisProcessHandle> {
    const name = `mastra-${randomUUID()}`;
    const env = this.sandbox.environmentFor(options.env);
    const timeoutMs = wholeMs(options.timeout);
    const wantsStdin = options.stdinMode !== "ignore";
    return this.sandbox.request(async (session) => {
      const capabilities = await capabilitiesOf(session);
      const line = capabilities.processEnv ? command : exportPrefix(env) + command;
      const start: StartProcessOptions = {
        cwd: await this.sandbox.directoryFor(session, options.cwd),
        keepAlive: this.#defaults.keepAlive,
        env: capabilities.processEnv ? env : undefined,
        stdin: wantsStdin && capabilities.processStdin ? true : undefined,
        timeoutMs: capabilities.processTimeout ? timeoutMs : undefined,
      };
      const info = await session.startProcess(name, shellArgv(this.#defaults.shell, line), start);
      const hostTimeoutMs = capabilities.processTimeout ? undefined : timeoutMs;
      const handle = this.#handle(
        session,
        capabilities,
        info,
        { timeoutMs, hostTimeoutMs, hasStdin: wantsStdin },
        options,
      );
      handle.follow();
      return handle;
    });
  }

  /** All processes of the session, those of other programs too. Always asks the server. */
  override async list(): Promise<ProcessInfo[]> {
    const processes = await this.sandbox.request((session) => session.listProcesses());
    return processes.map((info) => ({
      pid: info.name,
      command: this.#commandOf(info),
      running: info.state === "running",
      exitCode: info.exitCode,
    }));
  }

  /** A process of the session, also one that another program started; its output so far is in the handle. */
  override async get(pid: string): Promise<InisProcessHandle | undefined> {
    const tracked = this._tracked.get(pid);
    if (tracked) return tracked as InisProcessHandle;
    if (!PROCESS_NAME.test(pid)) return undefined;
    try {
      return await this.sandbox.request(async (session) => {
        const info = await session.getProcess(pid);
        const handle = this.#handle(session, await capabilitiesOf(session), info);
        handle.command = this.#commandOf(info);
        await handle.attach();
        return handle;
      });
    } catch (error) {
      if (isNoSuchProcess(error)) return undefined;
      throw error;
    }
  }

  /** @internal The session is about to be paused: asking for output would wake it. */
  suspend(): void {
    for (const handle of this.#handles()) handle.suspend();
  }

  /** @internal */
  resume(): void {
    for (const handle of this.#handles()) handle.resume();
  }

  /** @internal */
  detach(reason: Error): void {
    for (const handle of this.#handles()) handle.detach(reason);
  }

  #handle(
    session: Session,
    capabilities: Capabilities,
    info: InisProcessInfo,
    facts: { timeoutMs?: number; hostTimeoutMs?: number; hasStdin?: boolean } = { hasStdin: info.hasStdin },
    output?: SpawnOptions,
  ): InisProcessHandle {
    const warn = (message: string, error: unknown) => this.sandbox.warn(message, error);
    const handle = new InisProcessHandle({ session, capabilities, info, warn, ...facts }, output);
    this._tracked.set(handle.pid, handle);
    return handle;
  }

  *#handles(): Generator<InisProcessHandle> {
    for (const handle of this._tracked.values()) yield handle as InisProcessHandle;
  }

  #commandOf(info: InisProcessInfo): string | undefined {
    return this._tracked.get(info.name)?.command ?? (info.command && displayCommand(info.command));
  }
}

function isNoSuchProcess(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return isInisError(cause) && cause.status === 404;
}
