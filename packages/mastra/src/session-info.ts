// SPDX-License-Identifier: Apache-2.0
// What the service last said about the session, for callers that ask before every tool call.
//
// Asking never wakes a session, takes a second at most and never fails: an older answer, or none, is better than a
// tool call that waits.

import type { Session, SessionInfo } from "@inis-run/sdk";

const FRESH_MS = 3_000;
const DEADLINE_MS = 1_000;

export class SessionInfoCache {
  #session: Session | undefined;
  #info: SessionInfo | undefined;
  #askedAt = 0;
  #asking: Promise<void> | undefined;

  async of(session: Session): Promise<SessionInfo | undefined> {
    if (session !== this.#session) this.#reset(session);
    if (Date.now() - this.#askedAt >= FRESH_MS) {
      this.#asking ??= this.#ask(session).finally(() => {
        this.#asking = undefined;
      });
      await this.#asking;
    }
    return session === this.#session ? this.#info : undefined;
  }

  async #ask(session: Session): Promise<void> {
    this.#askedAt = Date.now();
    try {
      const info = await session.get({ timeoutMs: DEADLINE_MS });
      if (session === this.#session) this.#info = info;
    } catch {
      // Unreachable or gone: the next command will say so with a proper error.
    }
  }

  #reset(session: Session): void {
    this.#session = session;
    this.#info = undefined;
    this.#askedAt = 0;
    this.#asking = undefined;
  }
}

/** The session's share of a sandbox's info; what is not known is left out. */
export function factsOf(session: Session, info: SessionInfo | undefined, owned: boolean) {
  return {
    timeoutAt: info && shutdownTime(info),
    resources: info && { memoryMB: info.memMb, cpuCores: info.vcpus, diskMB: info.diskMb },
    metadata: {
      inisSessionId: session.sessionId,
      state: info?.state,
      owned,
      connections: info?.connections ?? [],
    },
  };
}

/** When the session's compute goes away by itself if nothing happens: its end or its next pause for idleness. */
function shutdownTime(info: SessionInfo): Date | undefined {
  const end = deadline(info.createdAt, info.maxLifetimeMs);
  const idle = info.state === "live" ? deadline(info.lastActiveAt, info.idleTimeoutMs) : undefined;
  const times = [end, idle].filter((time) => time !== undefined);
  return times.length > 0 ? new Date(Math.min(...times)) : undefined;
}

function deadline(from: string | undefined, ms: number | undefined): number | undefined {
  const start = Date.parse(from ?? "");
  return Number.isNaN(start) || !ms ? undefined : start + ms;
}
