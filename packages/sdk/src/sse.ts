// SPDX-License-Identifier: Apache-2.0
// Server-Sent Events: bytes in any pieces → frames.
//
// A line is decoded only once it is complete, so a piece may end anywhere, also inside a character. Lines end in \n
// or \r\n. A frame is given out at the blank line that ends it; one that was cut off is dropped.

import { InisError } from "./errors.js";

export interface Frame {
  event: string;
  data: string;
  id?: string;
}

/** No sane frame is longer; a server that sends no line ends must not fill the memory. */
const MAX_LINE = 64 * 1024 * 1024;
const LF = 10;

export class SseParser {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** Pieces of the line that is not complete yet. */
  #partial: Uint8Array[] = [];
  #partialLength = 0;
  #event = "message";
  #data: string | undefined;
  #id: string | undefined;

  /** The frames that these bytes complete. */
  push(bytes: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      const frame = this.#line(this.#join(bytes.subarray(start, end)));
      if (frame) frames.push(frame);
      start = end + 1;
    }
    this.#keep(bytes.subarray(start));
    return frames;
  }

  #join(last: Uint8Array): string {
    if (this.#partial.length === 0) return this.#decoder.decode(last);
    const line = new Uint8Array(this.#partialLength + last.length);
    let at = 0;
    for (const piece of [...this.#partial, last]) {
      line.set(piece, at);
      at += piece.length;
    }
    this.#partial = [];
    this.#partialLength = 0;
    return this.#decoder.decode(line);
  }

  #keep(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#partialLength += piece.length;
    if (this.#partialLength > MAX_LINE) {
      throw new InisError("the server sent a stream line without end", { code: "invalid_response" });
    }
    this.#partial.push(piece);
  }

  #line(text: string): Frame | undefined {
    const line = text.endsWith("\r") ? text.slice(0, -1) : text;
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#event = value;
    else if (field === "data") this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    else if (field === "id") this.#id = value;
    return undefined;
  }

  #dispatch(): Frame | undefined {
    const frame = this.#data === undefined ? undefined : { event: this.#event, data: this.#data, id: this.#id };
    this.#event = "message";
    this.#data = undefined;
    this.#id = undefined;
    return frame;
  }
}
