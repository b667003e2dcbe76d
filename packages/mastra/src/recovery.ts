// SPDX-License-Identifier: Apache-2.0
// Tells a session that is gone from one that only cannot be reached.
//
// Being wrong in one direction costs an error message, in the other it costs a user's files. So only two things
// count as gone: an error code that says so, and a "not found" that the session itself confirms. Bad keys, rate
// limits, server errors and broken connections never do.

import type { Session } from "@inis-run/sdk";
import { GONE_CODES, isInisError } from "./errors.js";
import { isUsable } from "./identity.js";

/** The request was refused because its session no longer exists. The request has then had no effect. */
export async function isSessionGone(session: Session, error: unknown): Promise<boolean> {
  if (saysGone(error)) return true;
  return isNotFound(error) && (await sessionState(session).catch(() => "unknown")) === "gone";
}

/**
 * What can be done with the session, asked in the way that never wakes it.
 *
 * @throws when the server does not answer that.
 */
export async function sessionState(session: Session): Promise<"live" | "paused" | "gone"> {
  try {
    const info = await session.get();
    if (!isUsable(info)) return "gone";
    return info.state === "paused" ? "paused" : "live";
  } catch (error) {
    if (saysGone(error) || isNotFound(error)) return "gone";
    throw error;
  }
}

function saysGone(error: unknown): boolean {
  return isInisError(error) && GONE_CODES.has(error.code);
}

function isNotFound(error: unknown): boolean {
  return isInisError(error) && error.status === 404 && error.code === "not_found";
}
