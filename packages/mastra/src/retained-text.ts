// SPDX-License-Identifier: Apache-2.0
// The newest part of a text stream, bounded by its size in UTF-8 bytes.
//
// Small pieces are gathered into blocks, so that a command which prints a million short lines costs no more
// than one which prints the same bytes at once. Whole blocks are dropped from the front; the exact cut happens
// once, when the text is read.

const BLOCK_BYTES = 64 * 1024;

interface Block {
  text: string;
  bytes: number;
}

/** @throws {RangeError} unless `limit` is 0, a positive integer or Infinity. */
export function checkRetention(limit: number): number {
  if (limit === Infinity || (Number.isInteger(limit) && limit >= 0)) return limit;
  throw new RangeError("maxRetainedBytes must be a non-negative integer or Infinity");
}

export class RetainedText {
  #blocks: Block[] = [];
  #held = 0;
  #seen = 0;
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = checkRetention(limit);
  }

  append(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#seen += bytes;
    if (bytes === 0 || this.#limit === 0) return;
    const last = this.#blocks.at(-1);
    if (last && last.bytes < BLOCK_BYTES) {
      last.text += text;
      last.bytes += bytes;
    } else {
      this.#blocks.push({ text, bytes });
    }
    this.#held += bytes;
    this.#dropWholeBlocks();
  }

  /** The retained text and how many bytes before it were dropped. */
  read(): { text: string; droppedBytes: number } {
    const [first, ...rest] = this.#blocks;
    if (!first) return { text: "", droppedBytes: this.#seen };
    const excess = this.#held - this.#limit;
    const start = excess > 0 ? newestBytes(first.text, first.bytes - excess) : first.text;
    const cut = excess > 0 ? first.bytes - Buffer.byteLength(start) : 0;
    return { text: [start, ...rest.map((block) => block.text)].join(""), droppedBytes: this.#seen - this.#held + cut };
  }

  #dropWholeBlocks(): void {
    let first = this.#blocks[0];
    while (first && this.#held - first.bytes >= this.#limit) {
      this.#blocks.shift();
      this.#held -= first.bytes;
      first = this.#blocks[0];
    }
  }
}

/** The longest suffix of whole characters that fits into `limit` bytes. */
function newestBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  let start = bytes.length - limit;
  while (start < bytes.length && ((bytes[start] as number) & 0xc0) === 0x80) start++;
  return bytes.toString("utf8", start);
}
