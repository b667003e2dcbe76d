// SPDX-License-Identifier: Apache-2.0
// Leases: a session of the embedded engine ends soon after the program that made it, however that ended.
//
// While the client that made a session can still be reached by the program, a timer says so to the engine. The timer
// keeps neither the program nor the client alive.

import { InisError } from "../errors.js";
import type { Transport } from "../transport.js";
import type { CreateSessionOptions } from "../types/index.js";
import { sessionPath } from "./sessions.js";

const EXTENSION = "session.lease";
const LEASE_MS = 60_000;
/** Codes by which the server says that there is no such lease any more. */
const OVER = new Set(["not_found", "session_ended", "conflict"]);

/** The lease that a new session is to have: only of the embedded engine, and only if nothing else ends the session. */
export async function leaseFor(transport: Transport, options: CreateSessionOptions): Promise<number | undefined> {
  if (!transport.embedded || options.lease === false || options.maxLifetimeMs) return undefined;
  const { signal, timeoutMs } = options;
  return (await transport.extensions({ signal, timeoutMs })).has(EXTENSION) ? LEASE_MS : undefined;
}

/** The sessions of one client whose leases it renews. */
export class Leases {
  readonly #held = new Map<string, ReturnType<typeof setInterval>>();

  hold(transport: Transport, id: string, leaseMs: number): void {
    if (this.#held.has(id)) return;
    const reference = new WeakRef(transport);
    const timer = setInterval(() => {
      const alive = reference.deref();
      if (alive) void renew(alive, id);
      else clearInterval(timer);
    }, leaseMs / 3);
    (timer as { unref?: () => void }).unref?.();
    this.#held.set(id, timer);
  }

  drop(id: string): void {
    clearInterval(this.#held.get(id));
    this.#held.delete(id);
  }
}

async function renew(transport: Transport, id: string): Promise<void> {
  try {
    await transport.send({ method: "POST", path: sessionPath(id, "/lease"), json: {} });
  } catch (error) {
    // Any other failure may pass before the lease is over.
    if (error instanceof InisError && OVER.has(error.code ?? "")) transport.leases.drop(id);
  }
}
