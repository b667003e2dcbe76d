// SPDX-License-Identifier: Apache-2.0
// All adapter tests, with the oldest supported @mastra/core.
import assert from "node:assert/strict";
import { test } from "node:test";
import { newest } from "./support/core.js";
import "./all.js";

test("these_tests_run_on_the_oldest_core", () => assert.equal(newest, false));
