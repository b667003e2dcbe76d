// SPDX-License-Identifier: Apache-2.0
// From a sandbox's logical id to its session on the server, and back.
//
// The logical id is the session's `external_id`. Two programs that start the same id at the same moment send
// the same idempotency key, so the server makes one session for both.

import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { Client, Session, SessionInfo } from "@inis-run/sdk";
import { isInisError } from "./errors.js";
import type { createRequest } from "./options.js";

/** Whether a start made the session or found it. */
export type StartOutcome = "created" | "connected";

const MAX_EXTERNAL_ID_BYTES = 255;
/** A key that was used by a session since ended may still be remembered; each attempt has a key of its own. */
const MAX_ATTEMPTS = 5;
const IN_PROGRESS_LIMIT_MS = 60_000;
const IN_PROGRESS_PAUSE_MS = 300;
const USABLE_STATES: ReadonlySet<string> = new Set(["live", "creating", "paused"]);

export function externalId(logicalId: string): string {
  if (Buffer.byteLength(logicalId) <= MAX_EXTERNAL_ID_BYTES) return logicalId;
  return `sha256:${digest(logicalId)}`;
}

/** True for a session that can be worked with, at once or after waking it up. */
export function isUsable(info: SessionInfo): boolean {
  return USABLE_STATES.has(info.state);
}

/** The newest usable session of this logical id. */
export async function findSession(
  client: Client,
  logicalId: string,
  signal?: AbortSignal,
): Promise<Session | undefined> {
  const wanted = externalId(logicalId);
  let cursor: string | undefined;
  do {
    const page = await client.sessions.list({ externalId: wanted, cursor, signal });
    const found = page.sessions.find((info) => info.externalId === wanted && isUsable(info));
    if (found) return client.sessions.attach(found.sessionId);
    cursor = page.nextCursor;
  } while (cursor);
  return undefined;
}

/**
 * Creates the session of this logical id, or returns the one that another program has just created. A `fresh` id has
 * never been used, so nothing needs to be checked.
 */
export async function createSession(
  client: Client,
  logicalId: string,
  request: ReturnType<typeof createRequest>,
  fresh: boolean,
  signal?: AbortSignal,
): Promise<{ session: Session; outcome: StartOutcome }> {
  const deadline = Date.now() + IN_PROGRESS_LIMIT_MS;
  for (let attempt = 0; ; ) {
    const last = attempt + 1 >= MAX_ATTEMPTS;
    try {
      const idempotencyKey = `mastra-${digest(logicalId)}-${attempt}`;
      const session = await client.sessions.create({
        ...request,
        externalId: externalId(logicalId),
        idempotencyKey,
        signal,
      });
      if (fresh || last || (await stillExists(session, signal))) return { session, outcome: "created" };
      attempt++;
    } catch (error) {
      const code = isInisError(error) ? error.code : undefined;
      if (code === "idempotency_key_in_progress" && Date.now() < deadline) {
        await setTimeout(IN_PROGRESS_PAUSE_MS, undefined, { signal });
      } else if (code === "conflict" && !last) {
        const winner = await findSession(client, logicalId, signal);
        if (winner) return { session: winner, outcome: "connected" };
        attempt++;
      } else {
        throw error;
      }
    }
  }
}

/** A replayed create may answer with a session that has ended since. */
async function stillExists(session: Session, signal?: AbortSignal): Promise<boolean> {
  try {
    return isUsable(await session.get({ signal }));
  } catch (error) {
    if (isInisError(error) && (error.status === 404 || error.status === 410)) return false;
    throw error;
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 40);
}
