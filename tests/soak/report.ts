// SPDX-License-Identifier: Apache-2.0
// What was measured over time, whether it grew, and how it looks.

/** One line of the chart: a quantity of one process. */
export type Sample = { minutes: number } & Record<string, number>;

export interface Drift {
  quantity: string;
  before: number;
  after: number;
  /** Of `before`. */
  growth: number;
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

export function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** The middle of the last third against that of the first third. */
export function drifts(samples: Sample[]): Drift[] {
  const third = Math.max(1, Math.floor(samples.length / 3));
  return Object.keys(samples[0] ?? {})
    .filter((quantity) => /_(memory_kb|files|threads)$/.test(quantity))
    .map((quantity) => {
      const before = median(samples.slice(0, third).map((sample) => sample[quantity]!));
      const after = median(samples.slice(-third).map((sample) => sample[quantity]!));
      return { quantity, before, after, growth: before > 0 ? (after - before) / before : after };
    });
}

const COLOURS = ["#2563eb", "#dc2626", "#16a34a", "#9333ea", "#ea580c", "#0891b2"];
const WIDTH = 720;
const HEIGHT = 160;

function chart(samples: Sample[], quantities: string[], top: number): string {
  const highest = Math.max(1, ...samples.flatMap((sample) => quantities.map((name) => sample[name] ?? 0)));
  const last = samples.at(-1)?.minutes || 1;
  const lines = quantities.map((name, i) => {
    const points = samples.map((sample) => {
      const x = (sample.minutes / last) * WIDTH;
      return `${x.toFixed(1)},${(top + HEIGHT - ((sample[name] ?? 0) / highest) * (HEIGHT - 20)).toFixed(1)}`;
    });
    const colour = COLOURS[i % COLOURS.length];
    return (
      `<polyline fill="none" stroke="${colour}" points="${points.join(" ")}"/>` +
      `<text x="${8 + i * 180}" y="${top + 12}" fill="${colour}" font-size="11">${name}</text>`
    );
  });
  return `${lines.join("")}<text x="${WIDTH - 90}" y="${top + 12}" font-size="11">max ${highest.toFixed(0)}</text>`;
}

export function svg(samples: Sample[]): string {
  const names = Object.keys(samples[0] ?? {});
  const groups = [/_memory_kb$/, /_files$/, /_threads$/, /_ms$/].map((kind) => names.filter((name) => kind.test(name)));
  const body = groups.map((quantities, i) => chart(samples, quantities, i * (HEIGHT + 20)));
  const height = groups.length * (HEIGHT + 20);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}">${body.join("")}</svg>\n`;
}

export function markdown(minutes: number, counts: Record<string, number>, found: Drift[], limit: number): string {
  const rows = found.map(
    ({ quantity, before, after, growth }) =>
      `| ${quantity} | ${before} | ${after} | ${(growth * 100).toFixed(1)} % | ${growth > limit ? "**grew**" : "flat"} |`,
  );
  const done = Object.entries(counts).map(([what, count]) => `${count} ${what}`);
  return [
    `# Soak, ${minutes} minutes\n`,
    `Done: ${done.join(", ")}.\n`,
    "| quantity | first third | last third | growth | |",
    "|---|---|---|---|---|",
    ...rows,
    "\n![over time](latest.svg)\n",
  ].join("\n");
}
