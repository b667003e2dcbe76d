// SPDX-License-Identifier: Apache-2.0
// Named terminals: list and end them. Opening one is in ../pty.

import type { Transport } from "../transport.js";
import type { CallOptions, KillPTYOptions, PTYInfo } from "../types/index.js";
import { listFrom, segment } from "../wire.js";
import { SLACK_MS } from "./exec.js";
import { sessionPath } from "./sessions.js";

export async function listPtys(transport: Transport, sessionId: string, options?: CallOptions): Promise<PTYInfo[]> {
  await transport.requireExtensions({ "pty.name": "listPtys" }, options);
  return listFrom(await transport.json({ method: "GET", path: sessionPath(sessionId, "/ptys"), options }), "ptys");
}

export async function killPty(
  transport: Transport,
  sessionId: string,
  name: string,
  options: KillPTYOptions = {},
): Promise<void> {
  const { graceMs } = options;
  await transport.requireExtensions({ "pty.name": "killPty" }, options);
  await transport.send({
    method: "DELETE",
    path: sessionPath(sessionId, `/ptys/${segment(name)}`),
    query: { grace_ms: graceMs },
    options,
    defaultTimeoutMs: transport.limitOfAtLeast((graceMs ?? 0) + SLACK_MS),
  });
}
