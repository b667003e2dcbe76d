// SPDX-License-Identifier: Apache-2.0
// What the documents point at exists.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { repository } from "../support/paths.js";
import { linesOf, projectFiles } from "./sources.js";

const documents = projectFiles(/\.md$/);

test("every relative link in a document leads to a file", () => {
  const dead = documents.flatMap((path) =>
    [
      ...linesOf(path)
        .join("\n")
        .matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g),
    ]
      .map(([, target]) => target!)
      .filter((target) => !existsSync(join(repository, dirname(path), target)))
      .map((target) => `${path}: ${target}`),
  );
  assert.deepEqual(dead, []);
});

test("every source file that a document names exists", () => {
  const named = /`((?:api|cmake|docs|engine|examples|packages|scripts|tests)\/[\w./@-]+\.[a-z]+)`/g;
  const dead = documents.flatMap((path) =>
    [...linesOf(path).join("\n").matchAll(named)]
      .map(([, target]) => target!)
      .filter((target) => !existsSync(join(repository, target)))
      .map((target) => `${path}: ${target}`),
  );
  assert.deepEqual(dead, []);
});
