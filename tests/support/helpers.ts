// SPDX-License-Identifier: Apache-2.0
// Small things that many tests need.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

export { randomBytes } from "node:crypto";
export { sleep };

/** A bound for what must happen "soon" even on a busy machine. */
export const PATIENCE_MS = 60_000;

/** Repeats the check until it neither throws nor returns false; fails with its last complaint. */
export async function eventually<T>(
  what: string,
  check: () => T | false | Promise<T | false>,
  patience = PATIENCE_MS,
): Promise<T> {
  const deadline = Date.now() + patience;
  for (let pause = 10; ; pause = Math.min(pause * 2, 250)) {
    let complaint: unknown = "it stayed false";
    try {
      const value = await check();
      if (value !== false) return value;
    } catch (error) {
      complaint = error;
    }
    if (Date.now() > deadline) {
      const text = complaint instanceof Error ? complaint.message : String(complaint);
      assert.fail(`${what}: not within ${patience} ms: ${text}`);
    }
    await sleep(pause);
  }
}

export function sha256(bytes: Buffer | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Fails when the work takes longer than the bound, which is meant to be generous. */
export async function withinMs<T>(what: string, ms: number, work: Promise<T>): Promise<T> {
  const timeout = new AbortController();
  const late = sleep(ms, undefined, { signal: timeout.signal }).then(() =>
    assert.fail(`${what}: longer than ${ms} ms`),
  );
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    timeout.abort();
  }
}

/** Runs the jobs with at most `width` at a time. */
export async function parallel<T>(width: number, count: number, job: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = new Array(count);
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) results[index] = await job(index);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, worker));
  return results;
}

/** Shell text that is one word whatever it holds. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
