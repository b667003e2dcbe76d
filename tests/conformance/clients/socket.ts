// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 over a socket of one's own: the request goes out byte for byte as the caller wrote it, the answer comes back
// unchanged. One connection a request; nothing is retried, redirected or decoded.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export type Header = [name: string, value: string];

export interface WireRequest {
  method: string;
  /** Path and query, already escaped. */
  target: string;
  headers: Header[];
  /** Sent as it is; the headers say its length. */
  body?: Buffer;
  /** Sent as the chunks of a chunked body. */
  chunks?: Buffer[];
}

export interface WireAnswer {
  status: number;
  /** By lower-case name. */
  headers: Map<string, string>;
  /** The body as it comes. */
  pieces(): AsyncGenerator<Buffer>;
  /** The whole body. */
  body(): Promise<Buffer>;
  close(): void;
}

/** What has come in on a socket, taken by lines and by counts. */
class Input {
  private held: Buffer = Buffer.alloc(0);
  private readonly source: AsyncIterator<Buffer>;

  constructor(socket: Socket) {
    this.source = socket[Symbol.asyncIterator]();
  }

  private async more(): Promise<void> {
    const next = await this.source.next();
    assert(!next.done, "the connection ended in the middle of an answer");
    this.held = Buffer.concat([this.held, next.value]);
  }

  async line(): Promise<string> {
    let end = this.held.indexOf("\r\n");
    for (; end < 0; end = this.held.indexOf("\r\n")) await this.more();
    const line = this.held.toString("latin1", 0, end);
    this.held = this.held.subarray(end + 2);
    return line;
  }

  /** What there is, at least one byte and at most `max`. */
  async some(max: number): Promise<Buffer> {
    if (this.held.length === 0) await this.more();
    const piece = this.held.subarray(0, max);
    this.held = this.held.subarray(piece.length);
    return piece;
  }

  async *exactly(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0; ) {
      const piece = await this.some(left);
      left -= piece.length;
      yield piece;
    }
  }
}

async function* chunked(input: Input): AsyncGenerator<Buffer> {
  for (;;) {
    const size = await input.line();
    assert.match(size, /^[0-9a-fA-F]+$/, "a chunk's size");
    if (Number.parseInt(size, 16) === 0) break;
    yield* input.exactly(Number.parseInt(size, 16));
    assert.equal(await input.line(), "", "the end of a chunk");
  }
  assert.equal(await input.line(), "", "no trailers");
}

function bodyOf(status: number, headers: Map<string, string>, input: Input): AsyncGenerator<Buffer> {
  if (status === 204) return input.exactly(0);
  if (headers.get("transfer-encoding") === "chunked") return chunked(input);
  const length = headers.get("content-length");
  assert.match(length ?? "", /^\d+$/, "an answer has a length or is chunked");
  return input.exactly(Number(length));
}

async function readHead(input: Input): Promise<{ status: number; headers: Map<string, string> }> {
  const first = /^HTTP\/1\.1 (\d{3}) /.exec(await input.line());
  assert(first, "a status line");
  const headers = new Map<string, string>();
  for (let line = await input.line(); line !== ""; line = await input.line()) {
    const colon = line.indexOf(":");
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return { status: Number(first[1]), headers };
}

async function write(socket: Socket, bytes: Buffer | string): Promise<void> {
  if (!socket.write(bytes)) await Promise.race([once(socket, "drain"), once(socket, "close")]);
}

async function sendBody(socket: Socket, { body, chunks }: WireRequest): Promise<void> {
  if (body) await write(socket, body);
  if (!chunks) return;
  for (const chunk of chunks) {
    await write(socket, `${chunk.length.toString(16)}\r\n`);
    await write(socket, chunk);
    await write(socket, "\r\n");
  }
  await write(socket, "0\r\n\r\n");
}

/** Sends the request and waits for the head of its answer. */
export async function exchange(baseUrl: string, request: WireRequest): Promise<WireAnswer> {
  const { hostname, port, host } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  socket.on("error", () => {});
  const lines = [["Host", host] as Header, ...request.headers].map(([name, value]) => `${name}: ${value}\r\n`);
  const sent = write(socket, `${request.method} ${request.target} HTTP/1.1\r\n${lines.join("")}\r\n`).then(() =>
    sendBody(socket, request),
  );
  sent.catch(() => {});
  const input = new Input(socket);
  const { status, headers } = await readHead(input);
  const close = () => void socket.destroy();
  async function* pieces(): AsyncGenerator<Buffer> {
    try {
      yield* bodyOf(status, headers, input);
    } finally {
      close();
    }
  }
  const body = async () => {
    const all: Buffer[] = [];
    for await (const piece of pieces()) all.push(piece);
    return Buffer.concat(all);
  };
  return { status, headers, pieces, body, close };
}
