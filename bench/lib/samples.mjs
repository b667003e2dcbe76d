// SPDX-License-Identifier: Apache-2.0
// Taking samples side by side, and what is said about them.

/**
 * One sample of each contestant a round, in an order that moves on each round, so that whatever slows the machine down
 * slows all of them down. A contestant is `{ take, before?, after? }`; only `take` is measured: it answers a number.
 */
export async function sideBySide(rounds, quiet, contestants) {
  const names = Object.keys(contestants);
  const samples = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    await quiet.wait();
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + Math.max(round, 0)) % names.length];
      const { before, take, after } = contestants[name];
      await before?.();
      const sample = await take();
      await after?.(sample);
      // The first round is for caches.
      if (round >= 0) samples[name].push(sample);
    }
  }
  return samples;
}

/** The value below which a part of the samples lies (nearest rank). */
export function percentile(samples, part) {
  if (samples.length === 0) return null;
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)];
}

export function summary(samples) {
  return {
    n: samples.length,
    p50: percentile(samples, 0.5),
    p95: percentile(samples, 0.95),
    p99: percentile(samples, 0.99),
  };
}
