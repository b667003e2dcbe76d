// SPDX-License-Identifier: Apache-2.0
// A terminal as the published clients open and use it: typed frames in binary messages.
import assert from "node:assert/strict";
import { eventually } from "../../support/helpers.js";
import { Op, RawWebSocket } from "../../support/websocket.js";
import type { Query } from "./client.js";
import type { Client } from "./suite.js";

export interface TerminalOptions {
  rows?: number;
  cols?: number;
  command?: string[];
  cwd?: string;
}

function queryOf({ rows = 24, cols = 80, command = [], cwd }: TerminalOptions): Query {
  return [
    ["rows", String(rows)],
    ["cols", String(cols)],
    ["term", "xterm-256color"],
    ["colorterm", "truecolor"],
    ...command.map((word): [string, string] => ["cmd", word]),
    ...(cwd === undefined ? [] : ([["cwd", cwd]] as Query)),
  ];
}

export class PlayedTerminal {
  output = Buffer.alloc(0);
  exitCode?: number;
  private socket!: RawWebSocket;

  /** Raises like both clients do when the handshake is refused. */
  static async open(client: Client, id: string, options: TerminalOptions = {}): Promise<PlayedTerminal> {
    const terminal = new PlayedTerminal();
    const url = new URL(client.terminalTarget(id, queryOf(options)), client.baseUrl);
    const own = { token: client.token, headers: client.handshake };
    terminal.socket = await RawWebSocket.open(url, own, ({ op, payload }) => terminal.take(op, payload));
    const { status, body } = terminal.socket.handshake;
    if (status !== 101) throw new Error(`${status}: ${JSON.parse(body.toString("utf8")).error}`);
    return terminal;
  }

  private take(op: number, payload: Buffer): void {
    assert.equal(op, Op.binary, "messages are binary");
    assert.equal(this.exitCode, undefined, "nothing follows the exit code");
    assert(payload.length <= (1 << 20) + 64, "a message that clients accept");
    if (payload[0] === 0x01) this.output = Buffer.concat([this.output, payload.subarray(1)]);
    else if (payload[0] === 0x05) this.exitCode = payload.readInt32BE(1);
    else assert.fail(`a frame of type ${payload[0]}`);
  }

  private send(...bytes: (number | Buffer)[]): void {
    this.socket.send(
      Op.binary,
      Buffer.concat(bytes.map((part) => (typeof part === "number" ? Buffer.of(part) : part))),
    );
  }

  write(text: string): void {
    this.send(0x01, Buffer.from(text));
  }

  resize(cols: number, rows: number): void {
    const size = Buffer.alloc(4);
    size.writeUInt16BE(rows, 0);
    size.writeUInt16BE(cols, 2);
    this.send(0x02, size);
  }

  signal(number: number): void {
    this.send(0x03, number);
  }

  /** Python's library pings and drops a link that does not answer with the same payload. */
  async ping(payload: string): Promise<void> {
    this.socket.send(Op.ping, Buffer.from(payload));
    await eventually("the ping is answered", () =>
      this.socket.pings.some((frame) => frame.op === Op.pong && frame.payload.toString() === payload),
    );
  }

  async shows(text: string): Promise<void> {
    await eventually(`the terminal shows ${JSON.stringify(text)}`, () => {
      this.socket.check();
      return this.output.includes(text);
    });
  }

  /** Waits for the exit code and for the close that follows it. */
  async exited(): Promise<number> {
    await eventually("the exit code comes", () => {
      this.socket.check();
      return this.exitCode !== undefined;
    });
    await this.socket.over();
    return this.exitCode!;
  }

  /** Goes away like a client that closes. */
  async close(): Promise<void> {
    this.socket.send(Op.close, Buffer.of(0x03, 0xe8));
    await this.socket.over();
  }
}
