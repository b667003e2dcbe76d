// SPDX-License-Identifier: Apache-2.0
// A strict reader of Prometheus' text format, version 0.0.4: what is only tolerated elsewhere is refused here.
import assert from "node:assert/strict";
import type { RawClient } from "./http.js";

export type Labels = Record<string, string>;

export interface Sample {
  name: string;
  labels: Labels;
  value: number;
}

interface Family {
  name: string;
  type: string;
  help: string;
  samples: Sample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(,|$)/y;
const VALUE = /^(?:\d+(?:\.\d+)?|\+Inf)$/;

function readLabels(text: string, line: string): Labels {
  const labels: Labels = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const at = LABEL.lastIndex;
    const match = LABEL.exec(text);
    assert(match && match.index === at, `labels of ${line}`);
    const [, name, raw] = match;
    assert(!(name! in labels), `a label twice: ${line}`);
    labels[name!] = raw!.replace(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
    assert(match[3] === "" || LABEL.lastIndex < text.length, `a comma at the end: ${line}`);
  }
  return labels;
}

function readSample(line: string): Sample {
  const match = /^([^{ ]+)(?:\{(.+)\})? (\S+)$/.exec(line);
  assert(match, `no sample: ${line}`);
  const [, name, labels, value] = match;
  assert.match(name!, NAME, line);
  assert.match(value!, VALUE, line);
  return { name: name!, labels: labels ? readLabels(labels, line) : {}, value: Number(value) };
}

const identity = ({ name, labels }: Sample) => `${name}${JSON.stringify(Object.entries(labels).sort())}`;

function checkHistogram(family: Family): void {
  const series = new Map<string, Sample[]>();
  for (const sample of family.samples) series.set(rowOf(sample), [...(series.get(rowOf(sample)) ?? []), sample]);
  for (const [row, samples] of series) {
    const buckets = samples.filter(({ name }) => name.endsWith("_bucket"));
    const bounds = buckets.map(({ labels }) => Number(labels.le!.replace("+Inf", "Infinity")));
    const counts = buckets.map(({ value }) => value);
    assert.equal(bounds.at(-1), Number.POSITIVE_INFINITY, `${row} ends with +Inf`);
    for (let i = 1; i < bounds.length; i++) {
      assert(bounds[i]! > bounds[i - 1]!, `${row}: bounds rise`);
      assert(counts[i]! >= counts[i - 1]!, `${row}: buckets add up`);
    }
    const one = (suffix: string) => samples.filter(({ name }) => name === family.name + suffix);
    assert.deepEqual([one("_sum").length, one("_count").length], [1, 1], row);
    assert.equal(one("_count")[0]!.value, counts.at(-1), `${row}: count is the last bucket`);
    assert.equal(samples.length, buckets.length + 2, row);
  }
}

function rowOf({ labels }: Sample): string {
  const { le: _, ...rest } = labels;
  return JSON.stringify(Object.entries(rest).sort());
}

function checkFamily(family: Family): void {
  assert.match(family.name, NAME);
  assert(["counter", "gauge", "histogram"].includes(family.type), `${family.name}: type ${family.type}`);
  assert(family.help.length > 0 && !/\\(?![\\n])/.test(family.help), `${family.name}: help`);
  assert.equal(family.name.endsWith("_total"), family.type === "counter", `${family.name} is a ${family.type}`);
  const suffixes = family.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
  for (const sample of family.samples) {
    assert(
      suffixes.some((suffix) => sample.name === family.name + suffix),
      `${sample.name} in ${family.name}`,
    );
    assert.equal("le" in sample.labels, sample.name === `${family.name}_bucket`, `le of ${sample.name}`);
  }
  if (family.type === "histogram") checkHistogram(family);
}

export class Metrics {
  private constructor(readonly families: Map<string, Family>) {}

  static parse(text: string): Metrics {
    assert(text.endsWith("\n"), "the last line is ended too");
    const families = new Map<string, Family>();
    const seen = new Set<string>();
    let family: Family | undefined;
    let help: [name: string, text: string] | undefined;
    for (const line of text.slice(0, -1).split("\n")) {
      const comment = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line);
      if (comment?.[1] === "HELP") {
        assert(!help && !families.has(comment[2]!), `help for a family that was: ${line}`);
        help = [comment[2]!, comment[3]!];
      } else if (comment) {
        assert.equal(help?.[0], comment[2], `type without its help: ${line}`);
        family = { name: comment[2]!, type: comment[3]!, help: help![1], samples: [] };
        families.set(family.name, family);
        help = undefined;
      } else {
        assert(family && !help, `a sample outside of a family: ${line}`);
        const sample = readSample(line);
        assert(!seen.has(identity(sample)), `twice: ${line}`);
        seen.add(identity(sample));
        family.samples.push(sample);
      }
    }
    for (const each of families.values()) checkFamily(each);
    return new Metrics(families);
  }

  static async scrape(client: RawClient): Promise<Metrics> {
    const { headers, body } = await client.expect(200, "GET", "/metrics");
    assert.equal(headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    return Metrics.parse(body.toString("utf8"));
  }

  get samples(): Sample[] {
    return [...this.families.values()].flatMap(({ samples }) => samples);
  }

  /** The one sample with exactly these labels; 0 when there is none yet. */
  get(name: string, labels: Labels = {}): number {
    const wanted = identity({ name, labels, value: 0 });
    return this.samples.find((sample) => identity(sample) === wanted)?.value ?? 0;
  }

  /** All samples of a name added up. */
  sum(name: string): number {
    return this.samples.filter((sample) => sample.name === name).reduce((sum, { value }) => sum + value, 0);
  }
}
