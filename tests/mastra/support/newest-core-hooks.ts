// SPDX-License-Identifier: Apache-2.0
// Module hooks that put the newest supported @mastra/core in the place of the oldest, for adapter and tests alike.
import type { ResolveHook } from "node:module";

export const resolve: ResolveHook = (specifier, context, next) =>
  next(specifier.replace(/^@mastra\/core(?=\/|$)/, "mastra-core-newest"), context);
