// SPDX-License-Identifier: Apache-2.0
// RFC 6455 frames as a client writes and reads them. Pure: bytes in, bytes or messages out.
//
// No extensions are offered, so every reserved bit is an error. Messages longer than the limit are refused before
// their bytes are collected.

export const Opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
export type OpcodeValue = (typeof Opcode)[keyof typeof Opcode];

export interface Message {
  opcode: OpcodeValue;
  payload: Uint8Array;
}

/** The server broke the protocol; `closeCode` is what RFC 6455 has us answer. */
export class ProtocolError extends Error {
  readonly closeCode: number;

  constructor(message: string, closeCode = 1002) {
    super(message);
    this.closeCode = closeCode;
  }
}

const FIN = 0x80;
const MASKED = 0x80;
const MAX_CONTROL = 125;
const OPCODES: ReadonlySet<number> = new Set(Object.values(Opcode));

/** One whole message in one masked frame. */
export function encodeFrame(opcode: OpcodeValue, payload: Uint8Array): Uint8Array {
  const { length } = payload;
  const extended = length < 126 ? 0 : length < 65536 ? 2 : 8;
  const frame = new Uint8Array(2 + extended + 4 + length);
  const view = new DataView(frame.buffer);
  frame[0] = FIN | opcode;
  frame[1] = MASKED | (extended === 0 ? length : extended === 2 ? 126 : 127);
  if (extended === 2) view.setUint16(2, length);
  if (extended === 8) view.setBigUint64(2, BigInt(length));
  const mask = crypto.getRandomValues(frame.subarray(2 + extended, 6 + extended));
  const body = frame.subarray(6 + extended);
  for (let i = 0; i < length; i++) body[i] = payload[i]! ^ mask[i & 3]!;
  return frame;
}

interface Header {
  final: boolean;
  opcode: OpcodeValue;
  start: number;
  length: number;
}

/** Bytes in any pieces → whole messages. */
export class FrameReader {
  readonly #maxMessage: number;
  #buffer = new Uint8Array(0);
  /** The message whose fragments are being collected. */
  #opcode: OpcodeValue | undefined;
  #fragments: Uint8Array[] = [];
  #collected = 0;

  constructor(maxMessage: number) {
    this.#maxMessage = maxMessage;
  }

  push(bytes: Uint8Array): Message[] {
    this.#buffer = concat([this.#buffer, bytes]);
    const messages: Message[] = [];
    for (let header = this.#header(); header; header = this.#header()) {
      const end = header.start + header.length;
      if (this.#buffer.length < end) break;
      const message = this.#frame(header, this.#buffer.slice(header.start, end));
      if (message) messages.push(message);
      this.#buffer = this.#buffer.subarray(end);
    }
    return messages;
  }

  #header(): Header | undefined {
    const buffer = this.#buffer;
    if (buffer.length < 2) return undefined;
    const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    const first = view.getUint8(0);
    const second = view.getUint8(1);
    const opcode = first & 0x0f;
    if (first & 0x70) throw new ProtocolError("reserved bits are set");
    if (second & MASKED) throw new ProtocolError("a server's frame is masked");
    if (!OPCODES.has(opcode)) throw new ProtocolError(`unknown opcode ${opcode}`);
    const short = second & 0x7f;
    const start = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (buffer.length < start) return undefined;
    const length = short === 126 ? view.getUint16(2) : short === 127 ? Number(view.getBigUint64(2)) : short;
    const header = { final: (first & FIN) !== 0, opcode: opcode as OpcodeValue, start, length };
    this.#check(header);
    return header;
  }

  #check({ final, opcode, length }: Header): void {
    if (opcode >= Opcode.close) {
      if (!final || length > MAX_CONTROL) throw new ProtocolError("malformed control frame");
      return;
    }
    const continues = opcode === Opcode.continuation;
    if (continues !== (this.#opcode !== undefined)) throw new ProtocolError("fragments are out of order");
    if (this.#collected + length > this.#maxMessage) throw new ProtocolError("message is too large", 1009);
  }

  #frame({ final, opcode }: Header, payload: Uint8Array): Message | undefined {
    if (opcode >= Opcode.close) return { opcode, payload };
    this.#opcode ??= opcode;
    this.#fragments.push(payload);
    this.#collected += payload.length;
    if (!final) return undefined;
    const message = { opcode: this.#opcode, payload: concat(this.#fragments) };
    this.#opcode = undefined;
    this.#fragments = [];
    this.#collected = 0;
    return message;
  }
}

function concat(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
