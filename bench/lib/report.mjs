// SPDX-License-Identifier: Apache-2.0
// Rows of results: one object each, held against its peer and its bar.
import { percentile, summary } from "./samples.mjs";

/**
 * One row.
 *
 * samples: the subject's; peer: the name of what it is compared with and `peerSamples`, if with anything.
 * bar: what the ratio of the medians, or without a peer the median itself, must not exceed (or, with `least`, must
 * reach). No bar: the row informs.
 */
export function makeRow({ name, unit, samples, peer = null, peerSamples = [], bar = null, least = false, ...more }) {
  const figures = summary(samples);
  const peerP50 = percentile(peerSamples, 0.5);
  const ratio = peerP50 ? figures.p50 / peerP50 : null;
  const judged = peer ? ratio : figures.p50;
  const holds = bar === null || judged === null ? null : least ? judged >= bar : judged <= bar;
  return { name, unit, ...figures, peer, peer_p50: peerP50, ratio, bar, holds, ...more };
}

function number(value) {
  if (value === null || value === undefined) return "";
  if (Number.isInteger(value)) return String(value);
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function cells(row) {
  const bar = row.bar === null ? "" : `${row.least ? "≥" : "≤"} ${number(row.bar)}`;
  const verdict = row.holds === null ? "" : row.holds ? "holds" : "**missed**";
  const peer = row.peer ? `${row.peer} ${number(row.peer_p50)}` : "";
  const figures = [row.p50, row.p95, row.p99].map(number);
  return [row.name, row.unit, row.n, ...figures, peer, number(row.ratio), bar, verdict, number(row.baseline), row.pool];
}

const HEAD = ["what", "unit", "n", "p50", "p95", "p99", "against", "ratio", "bar", "", "spawn p50", "pool"];

export function markdown({ rows, machine, quick, quiet }) {
  const line = (words) => `| ${words.map((word) => word ?? "").join(" | ")} |`;
  return [
    `${machine}; ${quick ? "QUICK, " : ""}${quiet ? "quiet while measured" : "the machine was busy: compare ratios only"}`,
    "",
    line(HEAD),
    line(HEAD.map(() => "---")),
    ...rows.map((row) => line(cells(row))),
    "",
  ].join("\n");
}
