// SPDX-License-Identifier: Apache-2.0
// All adapter tests, with the newest supported @mastra/core. Everything that may load it is imported after the hooks.
import assert from "node:assert/strict";
import { register } from "node:module";
import { test } from "node:test";

register("./support/newest-core-hooks.js", import.meta.url);
const { newest } = await import("./support/core.js");
await import("./all.js");

test("these_tests_run_on_the_newest_core", () => assert.equal(newest, true));
