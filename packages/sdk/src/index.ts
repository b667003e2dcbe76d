// SPDX-License-Identifier: Apache-2.0
// Everything that `@inis-run/sdk` exports.

export { Client } from "./client.js";
export { InisError, type InisErrorDetail } from "./errors.js";
export { PTY } from "./pty/pty.js";
export { Session } from "./session.js";
export type * from "./types/index.js";
