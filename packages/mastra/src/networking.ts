// SPDX-License-Identifier: Apache-2.0
// URLs for ports of a sandbox.

import type { Session } from "@inis-run/sdk";
import { isInisError } from "./errors.js";

/**
 * The URL under which a port can be reached from outside, or null when there cannot be one now. A port that is
 * exposed already keeps its URL; looking at it wakes nobody.
 */
export async function portUrl(session: Session, port: number, visibility: "token" | "public"): Promise<string | null> {
  const info = await session.get();
  const exposed = info.exposedPreviews?.find(
    (preview) =>
      preview.port === port && preview.auth === "none" && [visibility, "public"].includes(preview.visibility),
  );
  if (exposed) return exposed.previewUrl || null;
  return info.state === "live" ? expose(session, port, visibility) : null;
}

async function expose(session: Session, port: number, visibility: "token" | "public"): Promise<string | null> {
  try {
    return (await session.expose(port, { visibility })).previewUrl || null;
  } catch (error) {
    if (isInisError(error) && error.code === "not_implemented") return null;
    throw error;
  }
}
