// SPDX-License-Identifier: Apache-2.0
// Whether a step left processes of ours that nobody looks after: units that have outlived their test and its server.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** The kernel, and who waits for what ends, take a moment. */
const PATIENCE_MS = 30_000;

function status(pid) {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}

/** By pid. Those of a server that runs beside the tests have it for a parent. */
export function abandoned() {
  return readdirSync("/proc").filter(
    (pid) => /^\d+$/.test(pid) && /^Name:\tinis.*\nUmask:.*\nState:\t[^Z].*\n(?:.*\n)*PPid:\t1\n/.test(status(pid)),
  );
}

/** One result: nothing was abandoned that had not been `before`. */
export async function nothingAbandoned(before) {
  const deadline = Date.now() + PATIENCE_MS;
  const left = () => abandoned().filter((pid) => !before.includes(pid));
  while (left().length > 0 && Date.now() < deadline) await sleep(200);
  const error = left()
    .map((pid) => status(pid))
    .join("\n");
  return { name: "no process is left behind", outcome: error === "" ? "passed" : "failed", error };
}
