// SPDX-License-Identifier: Apache-2.0
// What a user may say about a sandbox, and what of it is said to the service.

import type { Client, ConnectionCreate, Session, SessionSize } from "@inis-run/sdk";
import type { RequestContext } from "@mastra/core/request-context";
import type { MastraSandboxOptions } from "@mastra/core/workspace";
import { type LooseEnvironment, mergeEnvironments } from "./environment.js";
import type { ShellMode } from "./shell.js";

/** What to do when the session behind an owned sandbox turns out to be gone. */
export type SessionGonePolicy = "recreate" | "fail";

/**
 * Options of {@link InisSandbox}. All are optional: without any, the sandbox creates a session of its own on
 * first use, with the credentials of the environment or, when there are none, on the embedded engine.
 */
export interface InisSandboxOptions extends Pick<MastraSandboxOptions, "onStart" | "onStop" | "onDestroy"> {
  /**
   * The sandbox's own, logical name. An owned sandbox with the same id finds its session again, also from
   * another program: the id is stored with the session as its `external_id`. Without one, a random id is
   * made and every instance is a new session. An id should therefore be unique within an account.
   */
  id?: string;
  /**
   * Use this session (or the session with this id) instead of creating one. Such a session is *attached*: it is
   * never paused, destroyed or replaced by the sandbox.
   */
  session?: Session | string;
  /** A client to use. Otherwise one is made from `apiKey` and `baseUrl`, when it is first needed. */
  client?: Client;
  apiKey?: string;
  baseUrl?: string;

  /** The new session's human-readable name; unique in the account, so clones do not inherit it. */
  sessionName?: string;
  template?: string;
  size?: SessionSize;
  labels?: Record<string, string>;
  /** Credentials that the platform adds to matching outgoing requests, without the guest ever seeing them. */
  connections?: ConnectionCreate[];
  /** Whether the network is open or closed to what `egressAllow` does not list. */
  egressDefault?: "allow" | "deny";
  /** Host names that stay reachable. Given alone it implies `egressDefault: 'deny'`. */
  egressAllow?: string[];
  /** Environment of every command. A per-command value wins. It is applied to attached sessions as well. */
  env?: LooseEnvironment;
  /** Environment that is stored encrypted and never returned by the service. Only for new sessions. */
  secrets?: Record<string, string>;
  /** Idle time after which the session is paused. 0 or absent: the server's default. */
  idleTimeoutMs?: number;
  /** Hard limit of the session's life. 0 or absent: none. */
  maxLifetimeMs?: number;

  /** Replaces the text that tells the model about the sandbox, or derives it from the default. */
  instructions?: string | ((context: { defaultInstructions: string; requestContext?: RequestContext }) => string);

  /** Where commands run that name no directory of their own. Default `/workspace`. */
  workingDirectory?: string;
  /** `login` (default) reads the guest's profile before each command, `plain` saves that time. */
  shell?: ShellMode;
  /** Limit for foreground commands that are given none. Default 5 minutes; the server allows up to an hour. */
  commandTimeoutMs?: number;
  /** A background process that runs keeps the session from being paused for idleness. Default false. */
  keepBackgroundAlive?: boolean;
  /**
   * Who may open the URLs of `networking.getPortUrl`. `token` (default): whoever has the URL, which contains an
   * access token. `public`: everybody.
   */
  portVisibility?: "token" | "public";
  /**
   * When an owned session is found to be gone (deleted elsewhere, expired, its host lost): `recreate` (default)
   * makes a new, empty one; `fail` reports an error. An attached session is never replaced.
   */
  onSessionGone?: SessionGonePolicy;
}

/** What a clone may have of its own; the rest it inherits. */
export interface CloneOptions {
  /** The clone's logical id. Default: a random one, so that the clone is a new session. */
  id?: string;
  /** Attach the clone to this existing session. Without it the clone owns a session of its own. */
  sandboxId?: string;
  /** Added to the environment of this sandbox. */
  env?: Record<string, string>;
  workingDirectory?: string;
  idleTimeoutMinutes?: number;
}

export const DEFAULT_DIRECTORY = "/workspace";
export const DEFAULT_COMMAND_TIMEOUT_MS = 5 * 60_000;
/** The server's own limit for a foreground command. */
export const MAX_COMMAND_TIMEOUT_MS = 60 * 60_000;

/** @throws {RangeError} for a number of milliseconds that cannot be meant. */
export function checkOptions(options: InisSandboxOptions): void {
  for (const name of ["idleTimeoutMs", "maxLifetimeMs", "commandTimeoutMs"] as const) {
    const value = options[name];
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0)) {
      throw new RangeError(`${name} must be a non-negative integer, not ${value}`);
    }
  }
  mergeEnvironments(options.env, options.secrets);
}

/** The create request of an owned session, except for its identity. */
export function createRequest(options: InisSandboxOptions): NonNullable<Parameters<Client["sessions"]["create"]>[0]> {
  const { template, size, labels, connections, secrets } = options;
  return {
    name: options.sessionName,
    template,
    size,
    labels,
    connections,
    secrets,
    egress: egressOf(options),
    env: mergeEnvironments(options.env),
    idleTimeoutMs: options.idleTimeoutMs || undefined,
    maxLifetimeMs: options.maxLifetimeMs || undefined,
    // A session that its id finds again outlives the program.
    lease: options.id === undefined ? undefined : false,
  };
}

function egressOf({ egressDefault, egressAllow }: InisSandboxOptions) {
  if (egressDefault === undefined && egressAllow === undefined) return undefined;
  return { mode: egressDefault ?? "deny", allow: egressAllow };
}
