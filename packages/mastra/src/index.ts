// SPDX-License-Identifier: Apache-2.0
// Everything that `@inis-run/mastra` exports.

export type { InisErrorDetails } from "./errors.js";
export { InisFilesystem, type InisFilesystemOptions } from "./filesystem.js";
export type { CloneOptions, InisSandboxOptions, SessionGonePolicy } from "./options.js";
export { InisProcessHandle } from "./process-handle.js";
export { InisProcessManager } from "./process-manager.js";
export { InisSandbox } from "./sandbox.js";
export type { ShellMode } from "./shell.js";
export type { SandboxFile } from "./write-files.js";
