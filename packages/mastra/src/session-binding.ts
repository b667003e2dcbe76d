// SPDX-License-Identifier: Apache-2.0
// Which session a sandbox works on, and how it comes and goes.
//
// An attached binding was given its session and never creates, pauses or deletes one. An owned binding finds the
// session of its logical id or creates it. All acquiring goes through one promise, so twenty commands that arrive
// at once make one session.

import { Client, InisError, type Session } from "@inis-run/sdk";
import { isInisError, sessionGone } from "./errors.js";
import { createSession, findSession, isUsable, type StartOutcome } from "./identity.js";
import { createRequest, type InisSandboxOptions } from "./options.js";
import { isSessionGone } from "./recovery.js";

export class SessionBinding {
  readonly owned: boolean;
  readonly #options: InisSandboxOptions;
  readonly #logicalId: string;
  /** Nobody can have made a session of this id yet: it is random and was not used here. */
  #fresh: boolean;
  /** A create whose answer never came may have made a session. */
  #unaccounted = false;
  #client: Client | undefined;
  #session: Session | undefined;
  #acquiring: Promise<StartOutcome> | undefined;

  constructor(logicalId: string, options: InisSandboxOptions) {
    this.#options = options;
    this.#logicalId = logicalId;
    this.#fresh = options.id === undefined;
    this.#client = options.client;
    this.owned = options.session === undefined;
  }

  /** The session in use; undefined before the first start and after it was found to be gone. */
  get session(): Session | undefined {
    return this.#session;
  }

  /** Makes sure that there is a session and that it can be used. */
  acquire(signal?: AbortSignal): Promise<StartOutcome> {
    this.#acquiring ??= (this.owned ? this.#acquireOwned(signal) : this.#attach(signal)).finally(() => {
      this.#acquiring = undefined;
    });
    return this.#acquiring;
  }

  /**
   * Judges an error that a request on `session` met. True means that the session is gone and may be replaced by
   * the next `acquire()`; the request had no effect and may be repeated there.
   *
   * @throws when the session is gone and must not be replaced.
   */
  async lost(session: Session, error: unknown): Promise<boolean> {
    if (!(await isSessionGone(session, error))) return false;
    this.#forget(session, error);
    return true;
  }

  /**
   * Deletes the session in use. Without one, it is looked up by the logical id if a create may have succeeded
   * unnoticed, or if that is asked for. Returns false if there was none.
   */
  async delete({ lookUp = this.#unaccounted } = {}): Promise<boolean> {
    const session = this.#session ?? (lookUp ? await this.#locate() : undefined);
    if (!session) return false;
    try {
      await session.destroy();
    } catch (error) {
      if (!(await isSessionGone(session, error))) throw error;
      this.#session = undefined;
      return false;
    }
    this.#session = undefined;
    return true;
  }

  async #attach(signal?: AbortSignal): Promise<StartOutcome> {
    const given = this.#options.session as Session | string;
    const session = typeof given === "string" ? this.#getClient().sessions.attach(given) : given;
    try {
      await this.#verify(session, signal);
    } catch (error) {
      throw (await isSessionGone(session, error)) ? sessionGone(session.sessionId, error) : error;
    }
    this.#session = session;
    return "connected";
  }

  async #acquireOwned(signal?: AbortSignal): Promise<StartOutcome> {
    if (this.#session && (await this.#reuse(this.#session, signal))) return "connected";
    const client = this.#getClient();
    if (!this.#fresh) {
      this.#session = await findSession(client, this.#logicalId, signal);
      if (this.#session && (await this.#reuse(this.#session, signal))) return "connected";
    }
    const { session, outcome } = await this.#create(client, signal);
    this.#session = session;
    return outcome;
  }

  async #create(client: Client, signal?: AbortSignal) {
    const fresh = this.#fresh;
    this.#fresh = false;
    this.#unaccounted = true;
    try {
      const made = await createSession(client, this.#logicalId, createRequest(this.#options), fresh, signal);
      this.#unaccounted = false;
      return made;
    } catch (error) {
      if (isInisError(error) && error.status !== undefined && error.status < 500) this.#unaccounted = false;
      throw error;
    }
  }

  /** Wakes a known session up. False if it is gone and may be replaced. */
  async #reuse(session: Session, signal?: AbortSignal): Promise<boolean> {
    try {
      const { state } = await this.#verify(session, signal);
      if (state === "paused") await session.resume({ signal });
      return true;
    } catch (error) {
      if (!(await isSessionGone(session, error))) throw error;
      this.#forget(session, error);
      return false;
    }
  }

  async #verify(session: Session, signal?: AbortSignal) {
    const info = await session.get({ signal });
    if (isUsable(info)) return info;
    const reason = info.statusReason ?? info.endReason;
    throw new InisError(`the session is ${info.state}${reason ? ` (${reason})` : ""}`, { code: "session_ended" });
  }

  #forget(session: Session, cause: unknown): void {
    if (!this.owned || this.#options.onSessionGone === "fail") throw sessionGone(session.sessionId, cause);
    if (this.#session === session) this.#session = undefined;
  }

  async #locate(): Promise<Session | undefined> {
    const given = this.#options.session;
    if (given === undefined) return findSession(this.#getClient(), this.#logicalId);
    return typeof given === "string" ? this.#getClient().sessions.attach(given) : given;
  }

  #getClient(): Client {
    this.#client ??= new Client({ token: this.#options.apiKey, baseUrl: this.#options.baseUrl });
    return this.#client;
  }
}
