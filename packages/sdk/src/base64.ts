// SPDX-License-Identifier: Apache-2.0
// Standard base64 between bytes and text, for runtimes with and without Node's Buffer.

import { InisError } from "./errors.js";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PAD = "=".charCodeAt(0);
const INVALID = 255;

const ENCODE = Uint8Array.from(ALPHABET, (character) => character.charCodeAt(0));
const DECODE = new Uint8Array(128).fill(INVALID);
ENCODE.forEach((code, value) => {
  DECODE[code] = value;
});

export function encodeBase64(bytes: Uint8Array): string {
  const out = new Uint8Array(Math.ceil(bytes.length / 3) * 4).fill(PAD);
  const put = (at: number, value: number): void => {
    out[at] = ENCODE[value & 63]!;
  };
  let at = 0;
  for (let i = 0; i < bytes.length; i += 3, at += 4) {
    const left = bytes.length - i;
    const group = (bytes[i]! << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    put(at, group >> 18);
    put(at + 1, group >> 12);
    if (left > 1) put(at + 2, group >> 6);
    if (left > 2) put(at + 3, group);
  }
  return new TextDecoder().decode(out);
}

/** Padding may be missing; anything else outside the alphabet is an error. */
export function decodeBase64(text: string): Uint8Array {
  let end = text.length;
  while (end > 0 && end > text.length - 2 && text.charCodeAt(end - 1) === PAD) end--;
  if (end % 4 === 1) throw invalid();
  const out = new Uint8Array(Math.floor((end * 3) / 4));
  let at = 0;
  let group = 0;
  let bits = 0;
  for (let i = 0; i < end; i++) {
    const value = DECODE[text.charCodeAt(i)] ?? INVALID;
    if (value === INVALID) throw invalid();
    group = ((group << 6) | value) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out[at++] = group >> bits;
    }
  }
  return out;
}

function invalid(): InisError {
  return new InisError("the server sent malformed base64", { code: "invalid_response" });
}
