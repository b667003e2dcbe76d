// SPDX-License-Identifier: Apache-2.0
// Session: one sandbox, by its id. Each method is one call to the server, apart from those that say otherwise.

/// <reference lib="esnext.disposable" preserve="true" />
import "./dispose.js";
import { listAudit } from "./api/audit.js";
import * as exec from "./api/exec.js";
import * as files from "./api/files.js";
import * as network from "./api/network.js";
import * as processes from "./api/processes.js";
import * as ptys from "./api/ptys.js";
import * as sessions from "./api/sessions.js";
import * as snapshots from "./api/snapshots.js";
import * as transfer from "./api/transfer.js";
import type { Client } from "./client.js";
import { Interpreter } from "./interpreter/interpreter.js";
import { LegacyFiles } from "./legacy-files.js";
import { openPty } from "./pty/open.js";
import type { PTY } from "./pty/pty.js";
import type { Transport } from "./transport.js";
import type * as t from "./types/index.js";

/**
 * One sandbox. Made by `client.sessions.create()` or `client.sessions.attach(id)`.
 *
 * Paths are absolute under `/workspace`, or relative to it. A session that was paused wakes when it is used. Every
 * method rejects with an `InisError` for what the server refuses, and with the platform's own error for a network
 * failure or an abort.
 *
 * @example
 * await using session = await client.sessions.create();
 * const { stdout } = await session.exec("uname -a");
 */
export class Session {
  readonly sessionId: string;
  /** Older names of the text file calls. */
  readonly files: LegacyFiles;
  readonly #transport: Transport;
  readonly #interpreter: Interpreter;

  private constructor(transport: Transport, sessionId: string) {
    this.#transport = transport;
    this.sessionId = sessionId;
    this.files = new LegacyFiles(transport, sessionId);
    this.#interpreter = new Interpreter(transport, sessionId);
  }

  /** Makes a session and waits until it is ready; one that cannot be waited for is destroyed again. */
  static async create(client: Client, options?: t.CreateSessionOptions): Promise<Session> {
    const transport = client._transport;
    return new Session(transport, await sessions.createSession(transport, options));
  }

  /** A session that exists already. Sends nothing. */
  static attach(client: Client, sessionId: string): Session {
    return new Session(client._transport, sessionId);
  }

  /**
   * Runs a command to its end. A string is run by `bash -lc`, an array as it is. Resolves whatever the exit code.
   *
   * With a `signal` and a server that has extension `exec.id`, aborting ends the command in the session before the
   * call rejects; elsewhere it only stops waiting.
   *
   * @example
   * const { exitCode, stdout } = await session.exec(["python3", "-c", "print(6 * 7)"], { timeoutMs: 10_000 });
   */
  exec(command: t.Command, options?: t.ExecOptions): Promise<t.ExecResult> {
    return exec.exec(this.#transport, this.sessionId, command, options);
  }

  /**
   * Runs a command and gives its output as it comes. The command starts with the first event that is asked for.
   * Leaving the loop, or aborting, closes the connection, which ends the command.
   *
   * Rejects with code `stream_interrupted` when the connection ends before the command's end was told, and with
   * `stream_idle_timeout` when it goes silent.
   *
   * @example
   * for await (const event of session.execStream("make")) {
   *   if (event.stream === "exit") console.log("exit code", event.exitCode);
   *   else process.stdout.write(event.data);
   * }
   */
  execStream(command: t.Command, options?: t.ExecStreamOptions): AsyncGenerator<t.ExecStreamEvent, void, undefined> {
    return exec.execStream(this.#transport, this.sessionId, command, options);
  }

  /** Ends a running command that was given an `execId`; resolves once it has ended. Needs extension `exec.id`. */
  cancelExec(execId: string, options?: t.CallOptions): Promise<t.CancelExecResult> {
    return exec.cancelExec(this.#transport, this.sessionId, execId, options);
  }

  /**
   * Runs Python in an interpreter that keeps its variables from call to call, and gives what it printed, drew and
   * evaluated to. Takes several calls to the server. Code that is not done in time goes on; the result is then one
   * `error` named `TimeoutError`.
   *
   * @example
   * await session.runCode("x = 20");
   * await session.runCode("x + 1"); // [{ type: "text", stream: "result", text: "21" }]
   */
  runCode(code: string, options?: t.RunCodeOptions): Promise<t.InterpreterResult[]> {
    return this.#interpreter.run(code, options);
  }

  /** Starts the interpreter afresh: its variables are gone, files stay. */
  restartContext(options?: t.SignalOptions): Promise<void> {
    return this.#interpreter.restart(options);
  }

  /**
   * Opens a terminal, or attaches to a named one that runs.
   *
   * @example
   * await using pty = await session.pty({ cols: 120, rows: 40 });
   * pty.write("ls\n");
   * for await (const bytes of pty) process.stdout.write(bytes);
   */
  pty(options?: t.PTYOptions): Promise<PTY> {
    return openPty(this.#transport, this.sessionId, options);
  }

  /** The named terminals that run. Needs extension `pty.name`. */
  listPtys(options?: t.CallOptions): Promise<t.PTYInfo[]> {
    return ptys.listPtys(this.#transport, this.sessionId, options);
  }

  /** Hangs up on a named terminal and waits until it has ended. Needs extension `pty.name`. */
  killPty(name: string, options?: t.KillPTYOptions): Promise<void> {
    return ptys.killPty(this.#transport, this.sessionId, name, options);
  }

  /** What the server knows about the session. Does not wake it. */
  get(options?: t.CallOptions): Promise<t.SessionInfo> {
    return sessions.getSession(this.#transport, this.sessionId, options);
  }

  /** Names of the protocol extensions that this session's server has; asked once per client. */
  extensions(options?: t.CallOptions): Promise<ReadonlySet<string>> {
    return this.#transport.extensions(options);
  }

  /**
   * What was run in the session, the latest first; also of one that has ended: attach to its id. Needs extension
   * `session.audit`.
   *
   * @example
   * const { entries } = await session.audit({ limit: 10 });
   */
  audit(options?: t.AuditOptions): Promise<t.AuditPage> {
    return listAudit(this.#transport, this.sessionId, options);
  }

  usage(options?: t.CallOptions): Promise<t.SessionUsage> {
    return sessions.sessionUsage(this.#transport, this.sessionId, options);
  }

  /** Freezes the session with its memory and processes, and gives its resources back. */
  pause(options?: t.CallOptions): Promise<t.SessionInfo> {
    return sessions.pauseSession(this.#transport, this.sessionId, options);
  }

  resume(options?: t.CallOptions): Promise<t.SessionInfo> {
    return sessions.resumeSession(this.#transport, this.sessionId, options);
  }

  /** Clones the session; attach to the children by their ids. */
  fork(count: number, options?: t.CallOptions): Promise<t.ForkResult> {
    return sessions.forkSession(this.#transport, this.sessionId, count, options);
  }

  /** Tries again to store a paused session durably. */
  archiveRetry(options?: t.CallOptions): Promise<t.ArchiveStatus> {
    return sessions.retryArchive(this.#transport, this.sessionId, options);
  }

  /** Ends the session with all that is in it. Rejects with `not_found` when it is gone already. */
  destroy(options?: t.DestroyOptions): Promise<void> {
    return sessions.destroySession(this.#transport, this.sessionId, options);
  }

  /** Destroys the session, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.destroy();
  }

  /** Keeps the session's state of this moment; it goes on running. */
  checkpoint(options?: t.CheckpointOptions): Promise<t.CheckpointInfo> {
    return snapshots.checkpoint(this.#transport, this.sessionId, options);
  }

  checkpoints(options?: t.CallOptions): Promise<t.CheckpointInfo[]> {
    return snapshots.listCheckpoints(this.#transport, this.sessionId, options);
  }

  /** Puts the session back to a checkpoint. */
  restore(checkpointId: string, options?: t.CallOptions): Promise<t.SessionInfo> {
    return snapshots.restore(this.#transport, this.sessionId, checkpointId, options);
  }

  saveAsTemplate(name: string, options?: t.SaveAsTemplateOptions): Promise<t.TemplateInfo> {
    return snapshots.saveAsTemplate(this.#transport, this.sessionId, name, options);
  }

  /** Begins to keep files by path or glob; ask `client.artifacts.get` until it is `ready`. */
  captureArtifacts(paths: readonly string[], options?: t.CaptureArtifactsOptions): Promise<t.ArtifactInfo> {
    return snapshots.captureArtifacts(this.#transport, this.sessionId, paths, options);
  }

  artifacts(options?: t.CallOptions): Promise<t.ArtifactInfo[]> {
    return snapshots.listArtifacts(this.#transport, this.sessionId, options);
  }

  /** Gives a port of the session a URL. A string is the visibility. */
  expose(port: number, options?: t.ExposeOptions | "token" | "public"): Promise<t.ExposeResult> {
    return network.expose(this.#transport, this.sessionId, port, options);
  }

  /** Takes a port's URL away; false when it had none. */
  unexpose(port: number, options?: t.CallOptions): Promise<boolean> {
    return network.unexpose(this.#transport, this.sessionId, port, options);
  }

  getEgress(options?: t.CallOptions): Promise<t.EgressState> {
    return network.getEgress(this.#transport, this.sessionId, options);
  }

  /** Replaces the network policy. `mode` is `"deny"` unless given. */
  setEgress(policy: t.EgressPolicy, options?: t.CallOptions): Promise<t.EgressState> {
    return network.setEgress(this.#transport, this.sessionId, policy, options);
  }

  /** Replaces a Connection's secret, rules and lifetime as a whole. */
  rotateConnection(name: string, update: t.ConnectionUpdate, options?: t.CallOptions): Promise<t.ConnectionStatus> {
    return network.rotateConnection(this.#transport, this.sessionId, name, update, options);
  }

  revokeConnection(name: string, options?: t.CallOptions): Promise<void> {
    return network.revokeConnection(this.#transport, this.sessionId, name, options);
  }

  /** A file's content: a string, with invalid UTF-8 replaced; or with `"base64"` its exact bytes. At most 4 MiB. */
  readFile(path: string, encoding?: "text", options?: t.RangeOptions): Promise<string>;
  readFile(path: string, encoding: "base64", options?: t.RangeOptions): Promise<Uint8Array>;
  readFile(path: string, encoding?: t.FileEncoding, options?: t.RangeOptions): Promise<string | Uint8Array>;
  readFile(path: string, encoding?: t.FileEncoding, options?: t.RangeOptions): Promise<string | Uint8Array> {
    return files.readFile(this.#transport, this.sessionId, path, encoding, options);
  }

  /** Names in a directory; those of directories end in `/`. */
  listFiles(path: string, options?: t.CallOptions): Promise<string[]> {
    return files.listFiles(this.#transport, this.sessionId, path, options);
  }

  /** Type, size, mode and time of a path, symbolic links not followed. Needs extension `files.stat`. */
  stat(path: string, options?: t.CallOptions): Promise<t.FileStat> {
    return files.stat(this.#transport, this.sessionId, path, options);
  }

  /** Writes a file, with the directories above it. A string with encoding `"base64"` is taken as encoded already. */
  writeFile(
    path: string,
    content: string | Uint8Array,
    encoding?: t.FileEncoding,
    options?: t.WriteFileOptions,
  ): Promise<void> {
    return files.writeFile(this.#transport, this.sessionId, path, content, encoding, options);
  }

  /** Writes up to 64 files that hold up to 8 MiB together. A file that fails is told in its result and does not stop the others. */
  writeFiles(items: readonly t.FileBatchItem[], options?: t.CallOptions): Promise<t.FileBatchResult[]> {
    return files.writeFiles(this.#transport, this.sessionId, items, options);
  }

  /** Paths that match a glob; `/**` at its end goes down all levels. */
  findFiles(pattern: string, options?: t.FindFilesOptions): Promise<t.FindFilesResult> {
    return files.findFiles(this.#transport, this.sessionId, pattern, options);
  }

  /** Lines that match a regular expression. */
  grepFiles(pattern: string, options?: t.GrepFilesOptions): Promise<t.GrepFilesResult> {
    return files.grepFiles(this.#transport, this.sessionId, pattern, options);
  }

  /** Makes a directory and those above it; one that exists is fine. */
  mkdir(path: string, options?: t.CallOptions): Promise<void> {
    return files.mkdir(this.#transport, this.sessionId, path, options);
  }

  remove(path: string, options?: t.RemoveOptions): Promise<void> {
    return files.remove(this.#transport, this.sessionId, path, options);
  }

  rename(path: string, destPath: string, options?: t.CallOptions): Promise<void> {
    return files.rename(this.#transport, this.sessionId, path, destPath, options);
  }

  /** Streams a file of this machine into the session. `timeoutMs` is the longest time without progress. */
  uploadFile(localPath: string, remotePath: string, options?: t.WriteFileOptions): Promise<t.UploadResult> {
    return transfer.uploadFile(this.#transport, this.sessionId, localPath, remotePath, options);
  }

  /** Streams a file of the session to this machine. `timeoutMs` is the longest time without progress. */
  downloadFile(remotePath: string, localPath: string, options?: t.RangeOptions): Promise<t.DownloadResult> {
    return transfer.downloadFile(this.#transport, this.sessionId, remotePath, localPath, options);
  }

  /**
   * Starts a command in the background, under a name that no running process has.
   *
   * @example
   * await session.startProcess("server", "python3 -m http.server 8000", { keepAlive: true });
   */
  startProcess(name: string, command: t.Command, options?: t.StartProcessOptions): Promise<t.ProcessInfo> {
    return processes.startProcess(this.#transport, this.sessionId, name, command, options);
  }

  /** Running and exited ones. With `ended`, also those of a session that has ended, as far as they are kept. */
  listProcesses(options?: t.ReadProcessOptions): Promise<t.ProcessInfo[]> {
    return processes.listProcesses(this.#transport, this.sessionId, options);
  }

  getProcess(name: string, options?: t.ReadProcessOptions): Promise<t.ProcessInfo> {
    return processes.getProcess(this.#transport, this.sessionId, name, options);
  }

  /** Ends a process and waits until it has ended. On a server with extension `process.kill`, the answer has `killed`. */
  killProcess(name: string, options?: t.KillProcessOptions): Promise<t.ProcessInfo> {
    return processes.killProcess(this.#transport, this.sessionId, name, options);
  }

  /**
   * What a process has written so far, or has written before it exited.
   *
   * @example
   * await session.destroy();
   * const { stdout } = await session.getProcessLogs("server", { ended: true });
   */
  getProcessLogs(name: string, options?: t.ProcessLogsOptions): Promise<t.ProcessLogs> {
    return processes.getProcessLogs(this.#transport, this.sessionId, name, options);
  }

  /** Gives what a process wrote since its start, and then what it writes, until it exits. Leaving does not end it. */
  streamProcessLogs(name: string, options?: t.StreamLogsOptions): AsyncGenerator<t.ProcessLogEvent, void, undefined> {
    return processes.streamProcessLogs(this.#transport, this.sessionId, name, options);
  }

  /**
   * Writes to the standard input of a process that was started with `stdin: true`; resolves once all of it was taken.
   * Needs extension `process.stdin`.
   */
  writeStdin(name: string, data: string | Uint8Array, options?: t.WriteStdinOptions): Promise<t.WriteStdinResult> {
    return processes.writeStdin(this.#transport, this.sessionId, name, data, options);
  }

  /** Closes the standard input of a process. Needs extension `process.stdin`. */
  async closeStdin(name: string, options?: t.CallOptions): Promise<void> {
    await processes.writeStdin(this.#transport, this.sessionId, name, "", { ...options, eof: true });
  }
}
