// SPDX-License-Identifier: Apache-2.0
// Options that every call takes.

/** Options of a single call. Every method takes them, as members of its options or as its last argument. */
export interface CallOptions {
  /** Ends the call early; it then rejects with the signal's reason (an `AbortError` by default). */
  signal?: AbortSignal;
  /** Milliseconds the whole HTTP call may take; replaces the client's `timeoutMs` for this call. 0 means no limit. */
  timeoutMs?: number;
}

/** Options of a call whose own `timeoutMs` means something else, such as the time a command may run. */
export type SignalOptions = Pick<CallOptions, "signal">;
