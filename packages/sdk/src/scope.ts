// SPDX-License-Identifier: Apache-2.0
// The life of one call: the caller's signal and the call's own time limit, joined into one signal.
//
// Written by hand rather than with AbortSignal.any and AbortSignal.timeout, which keep closures alive as long as a
// long-lived caller's signal lives. `dispose` takes the listener and the timer away.

export class CallScope {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal | undefined;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #onAbort = (): void => this.abort(this.#parent?.reason);

  /** @param timeoutMs 0 or undefined means no limit. */
  constructor(parent?: AbortSignal, timeoutMs?: number) {
    this.#parent = parent;
    if (parent?.aborted) this.abort(parent.reason);
    else parent?.addEventListener("abort", this.#onAbort, { once: true });
    if (timeoutMs) this.#timer = setTimeout(() => this.abort(timeoutError(timeoutMs)), clampDelay(timeoutMs));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#parent?.removeEventListener("abort", this.#onAbort);
  }

  /** Settles as `promise` does, or rejects with the scope's reason when that ends first. */
  async race<T>(promise: Promise<T>): Promise<T> {
    const { signal } = this;
    if (signal.aborted) {
      promise.catch(() => {});
      throw signal.reason;
    }
    let onAbort: (() => void) | undefined;
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
    });
    try {
      return await Promise.race([promise, aborted]);
    } catch (error) {
      // A platform may reject with an error of its own for a signal that ended; the reason is what the caller gave.
      throw signal.aborted ? signal.reason : error;
    } finally {
      if (onAbort) signal.removeEventListener("abort", onAbort);
    }
  }
}

function timeoutError(ms: number): DOMException {
  return new DOMException(`The call was aborted after its time limit of ${ms} ms`, "AbortError");
}

/** setTimeout fires at once for a delay that does not fit 32 bits. */
export function clampDelay(ms: number): number {
  return Math.min(ms, 0x7fff_ffff);
}

/** Waits; rejects with the signal's reason when that ends first. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  const scope = new CallScope(signal);
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await scope.race(
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ms);
      }),
    );
  } finally {
    clearTimeout(timer);
    scope.dispose();
  }
}
