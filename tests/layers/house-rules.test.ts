// SPDX-License-Identifier: Apache-2.0
// Rules for every file of the repository: length, licence line, and nothing that only its makers could follow.
import assert from "node:assert/strict";
import test from "node:test";
import { linesOf, matches, projectFiles } from "./sources.js";

const CODE = /\.(c|h|ts|mts|mjs|cjs|js|sh|cmake|py)$|(^|\/)CMakeLists\.txt$|^Makefile$/;
const MAX_LINES = 800;

test("no source file is longer than 800 lines", () => {
  const long = projectFiles(CODE)
    .map((path) => ({ path, lines: linesOf(path).length }))
    .filter(({ lines }) => lines > MAX_LINES);
  assert.deepEqual(long, []);
});

test("every source file says its licence in its first lines", () => {
  const without = projectFiles(CODE).filter(
    (path) =>
      !linesOf(path)
        .slice(0, 3)
        .some((line) => line.includes("SPDX-License-Identifier: Apache-2.0")),
  );
  assert.deepEqual(without, []);
});

test("no file points outside the repository or at how it was made", () => {
  const foreign = /\.\.\/shared|\/work\/|\b(api|design|container|mastra|cases|style|vm)\.md\b|\bissue #?\d/i;
  assert.deepEqual(matches(projectFiles(/./), foreign), []);
});

test("no file names the host of a package registry", () => {
  const host = /\bregistry\.(?!example\b)[a-z0-9-]+\.(org|com|io)\b|\bdeb\.[a-z]+\.org\b|"resolved": *"http/;
  assert.deepEqual(matches(projectFiles(/./), host), []);
});

test("no debt is left as a comment", () => {
  const debt = /\b(T[O]DO|F[I]XME|X[X]X)\b/;
  assert.deepEqual(matches(projectFiles(CODE), debt), []);
});
