// SPDX-License-Identifier: Apache-2.0
// The terminal's messages: one type byte and a payload.

import type { PTYEvent } from "../types/index.js";

/** Most a payload may hold, in either direction. */
export const MAX_PAYLOAD = 1 << 20;
/** Most a received message may hold. */
export const MAX_MESSAGE = MAX_PAYLOAD + 64;

const Type = { data: 1, resize: 2, signal: 3, exit: 5, error: 6, size: 7 } as const;
const Flag = { begin: 1, truncated: 2, live: 4, started: 8 } as const;

export type ServerMessage = PTYEvent | { type: "exit"; exitCode: number } | { type: "error"; text: string };

function message(type: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(1 + payload.length);
  bytes[0] = type;
  bytes.set(payload, 1);
  return bytes;
}

/** Input of any length, in as many messages as it takes. */
export function* dataMessages(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += MAX_PAYLOAD) {
    yield message(Type.data, bytes.subarray(at, at + MAX_PAYLOAD));
  }
}

export function resizeMessage(cols: number, rows: number): Uint8Array {
  const payload = new Uint8Array(4);
  const view = new DataView(payload.buffer);
  view.setUint16(0, rows);
  view.setUint16(2, cols);
  return message(Type.resize, payload);
}

export function signalMessage(signal: number): Uint8Array {
  return message(Type.signal, Uint8Array.of(signal));
}

/** Undefined for messages that are empty or of a type that is not known. */
export function parseMessage(bytes: Uint8Array): ServerMessage | undefined {
  const payload = bytes.subarray(1);
  switch (bytes[0]) {
    case Type.data:
      return { type: "data", bytes: payload };
    case Type.exit:
      if (payload.length < 4) return undefined;
      return { type: "exit", exitCode: new DataView(payload.buffer, payload.byteOffset).getInt32(0) };
    case Type.error:
      return { type: "error", text: new TextDecoder().decode(payload) };
    case Type.size:
      return sizeMessage(payload);
    default:
      return undefined;
  }
}

function sizeMessage(payload: Uint8Array): PTYEvent | undefined {
  if (payload.length < 5) return undefined;
  const view = new DataView(payload.buffer, payload.byteOffset);
  const flags = view.getUint8(4);
  const has = (flag: number): boolean => (flags & flag) !== 0;
  return {
    type: "size",
    rows: view.getUint16(0),
    cols: view.getUint16(2),
    begin: has(Flag.begin),
    truncated: has(Flag.truncated),
    live: has(Flag.live),
    started: has(Flag.started),
  };
}
