// SPDX-License-Identifier: Apache-2.0
// Defines the symbol of `await using` where the runtime lacks it. Imported for its effect, before a class uses it.

if (typeof Symbol.asyncDispose !== "symbol") {
  Object.defineProperty(Symbol, "asyncDispose", { value: Symbol.for("Symbol.asyncDispose") });
}
