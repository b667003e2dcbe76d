// SPDX-License-Identifier: Apache-2.0
// A reporter for node --test: one JSON object a line, for scripts/testing/node.mjs to count.
// A suite is not a test of its own, unless a hook of it failed; a file without tests is a failure.
import { resolve } from "node:path";

export default async function* report(events) {
  for await (const { type, data } of events) {
    if (type === "test:stdout" || type === "test:stderr") yield line({ kind: "output", text: data.message });
    else if (type === "test:pass" || type === "test:fail") yield* result(type === "test:pass", data);
  }
}

function* result(passed, { name, file, skip, details }) {
  if (details?.type === "suite" && (passed || details.error?.failureType === "subtestsFailed")) return;
  const test = { kind: "test", name, file, ms: Math.round(details?.duration_ms ?? 0) };
  if (skip !== undefined)
    yield line({ ...test, outcome: "skipped", reason: typeof skip === "string" ? skip : undefined });
  else if (!passed) yield line({ ...test, outcome: "failed", error: describe(details?.error) });
  else if (file && resolve(name) === resolve(file))
    yield line({ ...test, outcome: "failed", error: "the file holds no test" });
  else yield line({ ...test, outcome: "passed" });
}

function describe(error) {
  const cause = error?.cause ?? error;
  return String(cause?.stack ?? cause?.message ?? cause);
}

const line = (object) => `${JSON.stringify(object)}\n`;
