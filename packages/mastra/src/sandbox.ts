// SPDX-License-Identifier: Apache-2.0
// InisSandbox: one Mastra sandbox on one Inis session.
//
// The base class owns status, coalescing and hooks; SessionBinding owns which session is used. This file connects the
// two, and hides where the supported versions of @mastra/core differ: in the older one a direct start(), stop() or
// destroy() would bypass status and coalescing, there is no environment overlay and no working directory.
//
// start, stop and destroy must stay methods: the newer core replaces `start` in its constructor. Members that the
// base class declares are narrowed with `declare`, which emits nothing that could overwrite what it set.

import { randomUUID } from "node:crypto";
import type { Session } from "@inis-run/sdk";
import type { RequestContext } from "@mastra/core/request-context";
import {
  type CommandResult,
  type ExecuteCommandOptions,
  MastraSandbox,
  MountNotSupportedError,
  type SandboxInfo,
  SandboxNotReadyError,
} from "@mastra/core/workspace";
import { capabilitiesOf } from "./capabilities.js";
import { DirectoryResolver } from "./directory.js";
import { type LooseEnvironment, mergeEnvironments } from "./environment.js";
import { isInisError, toSandboxError } from "./errors.js";
import { ForegroundRun } from "./execute-command.js";
import type { StartOutcome } from "./identity.js";
import { instructionsFor } from "./instructions.js";
import { WorkspaceOnlyMounts } from "./mounts.js";
import { portUrl } from "./networking.js";
import {
  type CloneOptions,
  checkOptions,
  DEFAULT_COMMAND_TIMEOUT_MS,
  DEFAULT_DIRECTORY,
  type InisSandboxOptions,
  MAX_COMMAND_TIMEOUT_MS,
} from "./options.js";
import { InisProcessManager } from "./process-manager.js";
import { SessionBinding } from "./session-binding.js";
import { factsOf, SessionInfoCache } from "./session-info.js";
import { commandLine } from "./shell.js";
import { wholeMs } from "./timing.js";
import { type SandboxFile, writeFiles } from "./write-files.js";

const PROVIDER = "inis";

type Status = MastraSandbox["status"];
type StartOptions = { abortSignal?: AbortSignal };

/**
 * A Mastra sandbox backed by an Inis session.
 *
 * Without `session` it owns one: found by its `id` or created on first use, paused by `stop()`, deleted by
 * `destroy()`. With `session` it is attached to that one, and never pauses, deletes or replaces it.
 *
 * @example
 * ```ts
 * const workspace = new Workspace({ sandbox: new InisSandbox({ id: "project-42", egressDefault: "deny" }) });
 * const { stdout } = await workspace.sandbox.executeCommand("ls /workspace");
 * ```
 */
export class InisSandbox extends MastraSandbox {
  readonly id: string;
  readonly name = "InisSandbox";
  readonly provider = PROVIDER;
  status: Status = "pending";
  declare readonly processes: InisProcessManager;
  declare readonly mounts: WorkspaceOnlyMounts;
  override readonly networking = { getPortUrl: (port: number) => this.#portUrl(port) };

  readonly #options: InisSandboxOptions;
  readonly #binding: SessionBinding;
  readonly #directories: DirectoryResolver;
  readonly #infoCache = new SessionInfoCache();
  readonly #createdAt = new Date();
  #lastUsedAt: Date | undefined;
  #outcome: StartOutcome | undefined;
  #env: LooseEnvironment;

  constructor(options: InisSandboxOptions = {}) {
    checkOptions(options);
    const { onStart, onStop, onDestroy, shell = "login", keepBackgroundAlive = false } = options;
    const processes = new InisProcessManager({ shell, keepAlive: keepBackgroundAlive });
    super({ name: "InisSandbox", onStart, onStop, onDestroy, processes });
    this.#options = { ...options };
    this.#env = { ...options.env };
    this.id = options.id ?? `inis-${randomUUID()}`;
    this.#binding = new SessionBinding(this.id, this.#options);
    this.#directories = new DirectoryResolver(this.workingDirectory);
    this.mounts = new WorkspaceOnlyMounts(PROVIDER, { mount: () => this.mount(), logger: this.logger });
  }

  /** The live session. For the host program; a model should get tools, not this. */
  get session(): Session {
    const session = this.#binding.session;
    if (!session) throw new SandboxNotReadyError(this.status);
    return session;
  }

  /** Where commands run that name no directory. */
  get workingDirectory(): string {
    return this.#options.workingDirectory ?? DEFAULT_DIRECTORY;
  }

  /** Finds, wakes or creates the session. Needs not be called: the first command does. */
  override start(options?: StartOptions): ReturnType<MastraSandbox["start"]> {
    const result = this.status === "starting" ? this.#acquire(options?.abortSignal) : this.#startThroughBase(options);
    return result as Promise<unknown> as ReturnType<MastraSandbox["start"]>;
  }

  /**
   * Pauses an owned session: files, memory and processes are kept. On a server that cannot pause, the session is
   * left running; either way the next command finds everything as it was.
   */
  override async stop(): Promise<void> {
    if (this.status !== "stopping") return this._stop();
    const session = this.#binding.session;
    if (!this.#binding.owned || !session) return;
    this.processes.suspend();
    try {
      await session.pause();
    } catch (error) {
      await this.#afterFailedPause(session, error);
    }
  }

  /** Deletes an owned session with all that is in it; lets go of an attached one. */
  override async destroy(): Promise<void> {
    if (this.status !== "destroying") return this._destroy();
    if (this.#binding.owned) await this.#binding.delete().catch(rethrowMapped);
    else this.processes.detach(new SandboxNotReadyError("destroyed"));
  }

  /**
   * Deletes the session of this sandbox, attached ones too, even if the sandbox was never started: `destroy()` of a
   * sandbox that was not started does nothing. Returns false if there was no session.
   */
  async deleteSession(): Promise<boolean> {
    await this._startPromise?.catch(() => {});
    const deleted = await this.#binding.delete({ lookUp: true }).catch(rethrowMapped);
    this.status = "destroyed";
    return deleted;
  }

  /** A destroyed sandbox stays destroyed; the base class would make it startable again. */
  override async _stop(): Promise<void> {
    if (this.status === "destroying" || this.status === "destroyed") return;
    await super._stop();
  }

  /**
   * Runs a command to its end, in one request. The command is shell text; arguments are quoted. A failure, a timeout
   * (exit code 124, `timedOut`) and an abort (`killed`) are results, with the output so far.
   */
  override async executeCommand(
    command: string,
    args: string[] = [],
    options: ExecuteCommandOptions = {},
  ): Promise<CommandResult> {
    const line = commandLine(command, args);
    const run = new ForegroundRun(line, options);
    if (options.abortSignal?.aborted) return run.aborted();
    const env = this.environmentFor(options.env);
    return this.request(async (session) => {
      const capabilities = await capabilitiesOf(session);
      return run.on(session, {
        env,
        cwd: await this.directoryFor(session, options.cwd),
        timeoutMs: this.#timeoutOf(options),
        shell: this.#options.shell ?? "login",
        envAsField: capabilities.execEnv,
        cancellable: capabilities.execId,
      });
    });
  }

  /**
   * Writes many files, also large ones, creating the directories above them. Paths are under `/workspace`, or
   * relative to it.
   */
  override async writeFiles(files: SandboxFile[], options: { abortSignal?: AbortSignal } = {}): Promise<void> {
    await this.request((session) => writeFiles(session, files, options.abortSignal));
  }

  /** Adds to or takes from the environment of all commands to come. */
  setEnv(update: (env: Record<string, string | undefined>) => Record<string, string | undefined>): void {
    const env = { ...update({ ...this.#env }) };
    mergeEnvironments(env);
    this.#env = env;
  }

  getEnv(): Record<string, string | undefined> {
    return { ...this.#env };
  }

  /** Always fails: file systems of the host cannot be mounted into a session. */
  override async mount(): Promise<never> {
    throw new MountNotSupportedError(PROVIDER);
  }

  /** Always fails, like `mount`. */
  override async unmount(): Promise<never> {
    throw new MountNotSupportedError(PROVIDER);
  }

  /** What is known about the sandbox. Cheap: never starts or wakes the session, takes a second at most, never fails. */
  override async getInfo(): Promise<SandboxInfo> {
    const session = this.#binding.session;
    const info = session && (await this.#infoCache.of(session));
    const mounts = [...this.mounts.entries].filter(([, entry]) => entry.state === "mounted");
    return {
      id: this.id,
      name: this.name,
      provider: this.provider,
      status: this.status,
      createdAt: info?.createdAt ? new Date(info.createdAt) : this.#createdAt,
      lastUsedAt: this.#lastUsedAt,
      mounts: mounts.map(([path, { filesystem }]) => ({ path, filesystem: filesystem.provider })),
      ...(session && factsOf(session, info, this.#binding.owned)),
    };
  }

  override getInstructions(context?: { requestContext?: RequestContext }): string {
    return instructionsFor(this.#options.instructions, this.workingDirectory, context?.requestContext);
  }

  /** A sandbox with the same configuration and a session of its own. Sends nothing. */
  clone(overrides: CloneOptions = {}): InisSandbox {
    const { session, id, sessionName, ...inherited } = this.#options;
    const { sandboxId, env, workingDirectory, idleTimeoutMinutes } = overrides;
    return new InisSandbox({
      ...inherited,
      id: overrides.id,
      session: sandboxId,
      env: { ...this.#env, ...env },
      workingDirectory: workingDirectory ?? inherited.workingDirectory,
      idleTimeoutMs:
        idleTimeoutMinutes === undefined ? inherited.idleTimeoutMs : Math.round(idleTimeoutMinutes * 60_000),
    });
  }

  /** @internal The environment of a command: the sandbox's, and on top of it the command's own. */
  environmentFor(env: LooseEnvironment | undefined): Record<string, string> | undefined {
    return mergeEnvironments(this.#env, env);
  }

  /** @internal */
  directoryFor(session: Session, directory: string | undefined): Promise<string> {
    return this.#directories.resolve(session, directory);
  }

  /** @internal */
  warn(message: string, error: unknown): void {
    this.logger.warn(message, { sandbox: this.id, error });
  }

  /**
   * @internal Performs an operation on the session, starting it first if need be. When the server refuses the
   * operation because the session is gone, it is performed once more, on the session that takes its place.
   */
  async request<T>(operation: (session: Session) => Promise<T>): Promise<T> {
    await this.ensureRunning();
    const { session } = this;
    this.#lastUsedAt = new Date();
    try {
      return await operation(session);
    } catch (error) {
      const replacement = await this.#replace(session, error);
      return operation(replacement).catch(rethrowMapped);
    }
  }

  /** @throws the error that led here, unless the session is gone and another one could take its place. */
  async #replace(session: Session, error: unknown): Promise<Session> {
    let lost = false;
    try {
      lost = await this.#binding.lost(session, error);
    } catch (gone) {
      if (this.status === "running") this.status = "error";
      throw gone;
    }
    if (!lost || !this.#mayRestart()) throw toSandboxError(error);
    if (this.status === "running" && !this.#binding.session) this.status = "stopped";
    await this.ensureRunning();
    return this.session;
  }

  /** Not while it is being stopped, and not from within the start hook, which the restart would wait for. */
  #mayRestart(): boolean {
    const inStartHook = this.status === "running" && this._startPromise !== undefined;
    return !inStartHook && !["stopping", "destroying", "destroyed"].includes(this.status);
  }

  async #acquire(signal?: AbortSignal) {
    const outcome = await this.#binding.acquire(signal).catch(rethrowMapped);
    this.#outcome = outcome;
    this.processes.resume();
    return { outcome };
  }

  /** A direct call of start(): the older core would run it past status, coalescing and hooks. */
  async #startThroughBase(options?: StartOptions) {
    const start = this._start as (options?: StartOptions) => Promise<unknown>;
    return (await start.call(this, options)) ?? { outcome: this.#outcome };
  }

  #timeoutOf({ timeout }: ExecuteCommandOptions): number {
    if (timeout === Number.POSITIVE_INFINITY) return MAX_COMMAND_TIMEOUT_MS;
    return wholeMs(timeout) ?? (this.#options.commandTimeoutMs || DEFAULT_COMMAND_TIMEOUT_MS);
  }

  async #afterFailedPause(session: Session, error: unknown): Promise<void> {
    const cannotPause = isInisError(error) && error.code === "not_implemented";
    if (cannotPause) {
      this.warn("this server cannot pause sessions; the session is left running", error);
    } else if (await this.#binding.lost(session, error)) {
      this.warn("the session was gone when it was to be paused; the next start makes a new one", error);
    } else {
      this.processes.resume();
      throw toSandboxError(error);
    }
  }

  async #portUrl(port: number): Promise<string | null> {
    if (!this.#binding.session || this.status !== "running") return null;
    return this.request((session) => portUrl(session, port, this.#options.portVisibility ?? "token"));
  }
}

function rethrowMapped(error: unknown): never {
  throw toSandboxError(error);
}
