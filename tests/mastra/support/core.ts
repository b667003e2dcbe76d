// SPDX-License-Identifier: Apache-2.0
// Which version of @mastra/core this process tests the adapter with.
import * as workspace from "@mastra/core/workspace";

/** True for the newest version under test: it has classes that the oldest lacks. */
export const newest = "SandboxAbortError" in workspace;

export const coreName = newest ? "core 1.71" : "core 1.55";
