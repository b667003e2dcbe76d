// SPDX-License-Identifier: Apache-2.0
// The audit log of a session.

import type { Transport } from "../transport.js";
import type { AuditOptions, AuditPage } from "../types/index.js";
import { asObject, listFrom } from "../wire.js";
import { sessionPath } from "./sessions.js";

export async function listAudit(
  transport: Transport,
  sessionId: string,
  options: AuditOptions = {},
): Promise<AuditPage> {
  const path = sessionPath(sessionId, "/audit");
  await transport.requireExtensions({ "session.audit": "the audit log" }, options);
  const query = { limit: options.limit || undefined, cursor: options.cursor };
  const answer = asObject(await transport.json({ method: "GET", path, query, options }));
  const page: AuditPage = { entries: listFrom(answer, "entries") };
  if (typeof answer.next_cursor === "string" && answer.next_cursor) page.nextCursor = answer.next_cursor;
  return page;
}
