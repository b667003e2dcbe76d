// SPDX-License-Identifier: Apache-2.0
// `client.sessions`: making and finding sessions, and calls on one by its id.

import * as exec from "../api/exec.js";
import * as files from "../api/files.js";
import * as sessions from "../api/sessions.js";
import type { Client } from "../client.js";
import { Session } from "../session.js";
import type * as t from "../types/index.js";

export class Sessions {
  readonly #client: Client;

  /** @internal */
  constructor(client: Client) {
    this.#client = client;
  }

  /** Makes a session and waits until it is ready; one that cannot be waited for is destroyed again. */
  create(options?: t.CreateSessionOptions): Promise<Session> {
    return Session.create(this.#client, options);
  }

  /** A session that exists already. Sends nothing. */
  attach(id: string): Session {
    return Session.attach(this.#client, id);
  }

  /**
   * One page of sessions.
   *
   * @example
   * const { sessions } = await client.sessions.list({ externalId: "user-17" });
   */
  list(options?: t.ListSessionsOptions): Promise<t.ListSessionsResult> {
    return sessions.listSessions(this.#client._transport, options);
  }

  get(id: string, options?: t.CallOptions): Promise<t.SessionInfo> {
    return sessions.getSession(this.#client._transport, id, options);
  }

  usage(id: string, options?: t.CallOptions): Promise<t.SessionUsage> {
    return sessions.sessionUsage(this.#client._transport, id, options);
  }

  pause(id: string, options?: t.CallOptions): Promise<t.SessionInfo> {
    return sessions.pauseSession(this.#client._transport, id, options);
  }

  resume(id: string, options?: t.CallOptions): Promise<t.SessionInfo> {
    return sessions.resumeSession(this.#client._transport, id, options);
  }

  fork(id: string, count: number, options?: t.CallOptions): Promise<t.ForkResult> {
    return sessions.forkSession(this.#client._transport, id, count, options);
  }

  archiveRetry(id: string, options?: t.CallOptions): Promise<t.ArchiveStatus> {
    return sessions.retryArchive(this.#client._transport, id, options);
  }

  /** Runs one command in several sessions. A session that cannot be reached is told in its result. */
  batchExec(options: t.BatchExecOptions): Promise<t.BatchExecResult[]> {
    return exec.batchExec(this.#client._transport, options);
  }

  readFile(id: string, path: string, encoding?: "text", options?: t.RangeOptions): Promise<string>;
  readFile(id: string, path: string, encoding: "base64", options?: t.RangeOptions): Promise<Uint8Array>;
  readFile(
    id: string,
    path: string,
    encoding?: t.FileEncoding,
    options?: t.RangeOptions,
  ): Promise<string | Uint8Array> {
    return files.readFile(this.#client._transport, id, path, encoding, options);
  }

  listFiles(id: string, path: string, options?: t.CallOptions): Promise<string[]> {
    return files.listFiles(this.#client._transport, id, path, options);
  }

  writeFile(
    id: string,
    path: string,
    content: string | Uint8Array,
    encoding?: t.FileEncoding,
    options?: t.WriteFileOptions,
  ): Promise<void> {
    return files.writeFile(this.#client._transport, id, path, content, encoding, options);
  }

  writeFiles(id: string, items: readonly t.FileBatchItem[], options?: t.CallOptions): Promise<t.FileBatchResult[]> {
    return files.writeFiles(this.#client._transport, id, items, options);
  }

  findFiles(id: string, pattern: string, options?: t.FindFilesOptions): Promise<t.FindFilesResult> {
    return files.findFiles(this.#client._transport, id, pattern, options);
  }

  grepFiles(id: string, pattern: string, options?: t.GrepFilesOptions): Promise<t.GrepFilesResult> {
    return files.grepFiles(this.#client._transport, id, pattern, options);
  }
}
