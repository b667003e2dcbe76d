// SPDX-License-Identifier: Apache-2.0
// What the server behind a session can do beyond the published protocol.

import type { Session } from "@inis-run/sdk";

export interface Capabilities {
  execEnv: boolean;
  execId: boolean;
  processEnv: boolean;
  processStdin: boolean;
  processTimeout: boolean;
  processKill: boolean;
  logOffsets: boolean;
  fileModes: boolean;
}

/** Asked once per client; an SDK too old to ask has a server treated as plain. */
export async function capabilitiesOf(session: Session): Promise<Capabilities> {
  const names = (await session.extensions?.()) ?? new Set<string>();
  return {
    execEnv: names.has("exec.env"),
    execId: names.has("exec.id"),
    processEnv: names.has("process.env"),
    processStdin: names.has("process.stdin"),
    processTimeout: names.has("process.timeout"),
    processKill: names.has("process.kill"),
    logOffsets: names.has("process.logs.from"),
    fileModes: names.has("files.mode"),
  };
}
