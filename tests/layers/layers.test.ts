// SPDX-License-Identifier: Apache-2.0
// The layers of engine/ include only downwards, and only what this table allows.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { repository } from "../support/paths.js";
import { linesOf, projectFiles } from "./sources.js";

// Lowest first. What runs inside a session (agent) and what runs as root (broker, driver) never
// sees the code that parses what clients send.
const ALLOWED: Record<string, string[]> = {
  base: [],
  os: ["base"],
  wire: ["base"],
  template: ["base", "os"],
  agent: ["base", "os", "wire"],
  driver: ["base", "os", "wire", "template"],
  doctor: ["base", "os", "driver"],
  broker: ["base", "os", "wire", "driver"],
  store: ["base"],
  session: ["base", "wire", "store"],
  http: ["base"],
  api: ["base", "wire", "session", "store", "http"],
  daemon: ["base", "os", "wire", "template", "doctor", "broker", "session", "store", "http", "api"],
  cli: ["base", "os", "template"],
};

const sources = projectFiles(/^engine\/.*\.[ch]$/);
const layerOf = (path: string) => path.split("/")[1] ?? "";

/** Names that a source file includes, but for those that the build of its layer makes. */
function includes(path: string): string[] {
  const recipe = `engine/${layerOf(path)}/CMakeLists.txt`;
  const build = existsSync(join(repository, recipe)) ? linesOf(recipe).join("\n") : "";
  return linesOf(path)
    .flatMap((line) => /^\s*#\s*include\s+"([^"]+)"/.exec(line)?.[1] ?? [])
    .filter((name) => name.includes("/") || !build.includes(name));
}

test("every folder of engine/ is a layer of the table", () => {
  assert.deepEqual(
    [...new Set(sources.map(layerOf))].filter((layer) => !(layer in ALLOWED)),
    [],
  );
});

test("the table itself only points downwards", () => {
  const order = Object.keys(ALLOWED);
  for (const [layer, below] of Object.entries(ALLOWED)) {
    for (const other of below) assert.ok(order.indexOf(other) < order.indexOf(layer), `${layer} → ${other}`);
  }
});

test("includes name existing files from engine/ on", () => {
  const wrong = sources.flatMap((path) =>
    includes(path)
      .filter((name) => !existsSync(join(repository, "engine", name)))
      .map((name) => `${path}: "${name}"`),
  );
  assert.deepEqual(wrong, []);
});

test("a layer includes only what the table allows", () => {
  const wrong = sources.flatMap((path) =>
    includes(path)
      .map((name) => name.split("/")[0] ?? "")
      .filter((layer) => layer !== layerOf(path) && !ALLOWED[layerOf(path)]?.includes(layer))
      .map((layer) => `${path} includes ${layer}/`),
  );
  assert.deepEqual(wrong, []);
});
