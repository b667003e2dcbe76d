// SPDX-License-Identifier: Apache-2.0
// Node's built-in modules, for the few functions that need one. Nothing here runs when the SDK is imported, so that
// the SDK loads on runtimes that have no such modules.

import { InisError } from "./errors.js";

interface BuiltinModules {
  "node:child_process": typeof import("node:child_process");
  "node:crypto": typeof import("node:crypto");
  "node:fs/promises": typeof import("node:fs/promises");
  "node:http": typeof import("node:http");
  "node:https": typeof import("node:https");
  "node:path": typeof import("node:path");
  "node:url": typeof import("node:url");
}

interface ProcessLike {
  argv?: string[];
  env?: Record<string, string | undefined>;
  versions?: { node?: string };
  getBuiltinModule?: (name: string) => unknown;
}

function currentProcess(): ProcessLike | undefined {
  return (globalThis as { process?: ProcessLike }).process;
}

/** An environment variable; undefined where it is unset, empty, or the runtime has no environment. */
export function environment(name: string): string | undefined {
  return currentProcess()?.env?.[name] || undefined;
}

/** Whether this runtime can have programs and files: Node, or one that speaks its API. */
export function hasNode(): boolean {
  return currentProcess()?.versions?.node !== undefined;
}

/** Path of the program that runs, where there is one. */
export function mainProgram(): string | undefined {
  return currentProcess()?.argv?.[1];
}

/** @param purpose what needs the module, for the error of a runtime that lacks it */
export async function nodeModule<Name extends keyof BuiltinModules>(
  name: Name,
  purpose: string,
): Promise<BuiltinModules[Name]> {
  const builtin = currentProcess()?.getBuiltinModule?.(name);
  if (builtin) return builtin as BuiltinModules[Name];
  try {
    // The name is not a literal here, and so no bundler for browsers stumbles over it.
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as BuiltinModules[Name];
  } catch (cause) {
    throw new InisError(`${purpose} needs Node.js; this runtime has no ${name}`, {
      code: "unsupported_runtime",
      cause,
    });
  }
}
