// SPDX-License-Identifier: Apache-2.0
// All public types in one place.

export type * from "./account.js";
export type * from "./audit.js";
export type * from "./call.js";
export type * from "./client.js";
export type * from "./exec.js";
export type * from "./files.js";
export type * from "./interpreter.js";
export type * from "./network.js";
export type * from "./process.js";
export type * from "./pty.js";
export type * from "./session.js";
export type * from "./snapshot.js";
