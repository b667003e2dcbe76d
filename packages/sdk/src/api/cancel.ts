// SPDX-License-Identifier: Apache-2.0
// Makes an AbortSignal end a buffered command for real: leaving a buffered call does not stop the command, so it is
// given an id and cancelled by that. Servers without extension `exec.id` are merely left.

import { InisError } from "../errors.js";
import { CallScope, sleep } from "../scope.js";
import type { Transport } from "../transport.js";
import type { ExecResult } from "../types/index.js";
import { idSegment, segment } from "../wire.js";

/** How long a cancellation may take before the caller is told anyway. */
const CANCEL_LIMIT_MS = 10_000;
/** The cancellation may overtake the command on its way; then it is not known yet, and this is the pause between tries. */
const RETRY_MS = 50;

type Run = (execId: string | undefined, signal: AbortSignal | undefined) => Promise<ExecResult>;

export async function cancelOnAbort(
  transport: Transport,
  sessionId: string,
  signal: AbortSignal,
  chosenId: string | undefined,
  run: Run,
): Promise<ExecResult> {
  const cancellable = chosenId !== undefined || (await transport.extensions({ signal })).has("exec.id");
  if (!cancellable) return run(undefined, signal);

  const execId = chosenId ?? crypto.randomUUID();
  const call = new CallScope();
  const outcome = run(execId, call.signal);
  const watch = new CallScope(signal);
  try {
    return await watch.race(outcome);
  } catch (error) {
    if (!signal.aborted) throw error;
    await cancel(transport, `/v1/sessions/${idSegment(sessionId)}/execs/${segment(execId)}`, outcome);
    throw signal.reason;
  } finally {
    call.abort(signal.reason);
    watch.dispose();
  }
}

/** Returns when the command has ended, or nothing more can be done about it. */
async function cancel(transport: Transport, path: string, outcome: Promise<unknown>): Promise<void> {
  const limit = new CallScope(undefined, CANCEL_LIMIT_MS);
  const ended = (): void => limit.abort(undefined);
  outcome.then(ended, ended);
  try {
    while (!limit.signal.aborted) {
      try {
        return await transport.send({ method: "DELETE", path, options: { signal: limit.signal } });
      } catch (error) {
        if (!(error instanceof InisError && error.status === 404)) return;
        await sleep(RETRY_MS, limit.signal);
      }
    }
  } catch {
    // The limit passed or the command ended by itself; the caller hears of the abort either way.
  } finally {
    limit.dispose();
  }
}
