// SPDX-License-Identifier: Apache-2.0
// Waiting, with an end.

import { setTimeout as sleep } from "node:timers/promises";

/** Waits; returns early, without an error, when the signal is aborted. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}

/** The promise's value, or undefined when that takes longer than `ms`. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController();
  try {
    return await Promise.race([promise, sleep(ms, undefined, { signal: timer.signal }).catch(() => undefined)]);
  } finally {
    timer.abort();
  }
}

/** A time limit as the server wants it: whole milliseconds, or undefined for none. */
export function wholeMs(limit: number | undefined): number | undefined {
  return limit && Number.isFinite(limit) ? Math.ceil(limit) : undefined;
}
