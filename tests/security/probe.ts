// SPDX-License-Identifier: Apache-2.0
// The probe (probe.c) in a session, run as each of the two users that guest code can be.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { binDir } from "../support/paths.js";
import type { TestSession } from "../support/session.js";

export type Who = "sandbox" | "root";

const PROGRAM = "/workspace/probe";

/** Puts the probe into the session. */
export async function install(session: TestSession): Promise<void> {
  await session.write("probe", readFileSync(join(binDir, "inis-test-probe")), { mode: 0o755 });
}

/** What the probe printed. */
export async function probe(session: TestSession, who: Who, ...args: string[]): Promise<string> {
  const result = await session.exec([...(who === "root" ? ["sudo", "-n"] : []), PROGRAM, ...args]);
  assert.equal(result.exit_code, 0, `probe ${args.join(" ")} as ${who}: ${JSON.stringify(result)}`);
  return result.stdout;
}

/** The probe's lines "NAME RESULT…", by name. */
export async function outcomes(session: TestSession, who: Who, ...args: string[]): Promise<Map<string, string>> {
  const lines = (await probe(session, who, ...args)).split("\n").filter(Boolean);
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)]));
}

/** Fails with all that did not end as it must. `may` holds the results that are fine, words separated by spaces. */
export function assertOutcomes(all: Map<string, string>, names: string[], may: string): void {
  const fine = may.split(" ");
  const wrong = names.filter((name) => !fine.includes(all.get(name) ?? "not tried"));
  assert.deepEqual(
    wrong.map((name) => `${name}: ${all.get(name) ?? "not tried"}`),
    [],
  );
}
