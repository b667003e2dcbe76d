// SPDX-License-Identifier: Apache-2.0
// How much of a process's log has been delivered, so that a new log stream goes on exactly there.

import type { ProcessLogEvent, StreamLogsOptions } from "@inis-run/sdk";

type Stream = "stdout" | "stderr";

const MAX_HELD_BYTES = 3;

export class LogPosition {
  readonly #resumable: boolean;
  /** Bytes from where to go on; used when the server knows offsets. */
  readonly #bytes = { stdout: 0, stderr: 0 };
  /** Characters delivered; used when every stream starts from the beginning. */
  readonly #characters = { stdout: 0, stderr: 0 };
  #toSkip = { stdout: 0, stderr: 0 };
  /** Bytes that the server no longer had when it was their turn. */
  readonly lost = { stdout: 0, stderr: 0 };

  constructor(resumable: boolean) {
    this.#resumable = resumable;
  }

  /** The options of a stream that starts now. */
  start(): Pick<StreamLogsOptions, "from" | "fromStderr" | "positions"> {
    this.#toSkip = { ...this.#characters };
    if (!this.#resumable) return {};
    return { from: this.#bytes.stdout, fromStderr: this.#bytes.stderr, positions: true };
  }

  /** Everything before this offset is no longer there. */
  seek(stream: Stream, offset: number): void {
    this.#bytes[stream] = offset;
    this.lost[stream] = offset;
  }

  /** Notes an event and returns what of it is new. */
  advance(stream: Stream, event: ProcessLogEvent): string {
    if (this.#resumable) {
      this.#noteOffset(stream, event);
      return event.data;
    }
    const skipped = Math.min(this.#toSkip[stream], event.data.length);
    this.#toSkip[stream] -= skipped;
    this.#characters[stream] += event.data.length - skipped;
    return event.data.slice(skipped);
  }

  #noteOffset(stream: Stream, event: ProcessLogEvent): void {
    const end = event.position?.[stream];
    if (end === undefined) return;
    const decoded = this.#bytes[stream] + Buffer.byteLength(event.data);
    // A character whose end has not arrived is in the offset but not in the text: ask for it again as a whole.
    const held = end - decoded;
    this.#bytes[stream] = held >= 0 && held <= MAX_HELD_BYTES ? decoded : end;
    if (held > MAX_HELD_BYTES) this.lost[stream] += held;
  }
}
