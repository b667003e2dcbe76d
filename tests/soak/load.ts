// SPDX-License-Identifier: Apache-2.0
// A mixed load: sessions that come and go, and some that stay and are used all the time.
import assert from "node:assert/strict";
import { randomBytes, sleep } from "../support/helpers.js";
import type { RawClient } from "../support/http.js";
import { sh, TestSession } from "../support/session.js";
import { Terminal } from "../support/terminal.js";

/** Between the beginnings of two rounds in one place. */
const PACE_MS = 1000;
/** Longer than a server waits before it gives back memory. */
const REST_MS = 2500;

export class Load {
  /** Milliseconds of each exec since they were taken last. */
  private latencies: number[] = [];
  readonly counts: Record<string, number> = {};
  private round = 0;

  constructor(
    private readonly client: RawClient,
    private readonly staying: TestSession[],
    private readonly passing: number,
  ) {}

  takeLatencies(): number[] {
    return this.latencies.splice(0);
  }

  /** As fast as the server can, so many rounds, two at once in each session. When it has returned, nothing goes on. */
  async hurry(rounds: number): Promise<void> {
    const repeat = async (round: () => Promise<void>) => {
      for (let i = 0; i < rounds; i++) await round();
    };
    await Promise.all([this.everywhere("a", repeat), this.everywhere("b", repeat)]);
  }

  /** At a pace that leaves room for others on the machine. When it has returned, nothing goes on. */
  async walk(until: number): Promise<void> {
    await this.everywhere("a", async (round) => {
      for (let next = Date.now(); next < until; next = Math.max(next + PACE_MS, Date.now())) {
        await sleep(next - Date.now());
        await round();
      }
    });
  }

  /** Leaves no connection open, and gives the server time for what it does after an answer. */
  async rest(): Promise<void> {
    this.client.close();
    await sleep(REST_MS);
  }

  /** In a session, the names of what one round uses differ from those of another place. */
  private async everywhere(place: string, repeat: (round: () => Promise<void>) => Promise<void>): Promise<void> {
    await Promise.all([
      ...this.staying.map((session) => repeat(() => this.use(session, place))),
      ...Array.from({ length: this.passing }, () => repeat(() => this.pass())),
    ]);
  }

  private async timed<T>(what: string, work: Promise<T>): Promise<T> {
    const begin = performance.now();
    const value = await work;
    if (what === "exec") this.latencies.push(performance.now() - begin);
    this.counts[what] = (this.counts[what] ?? 0) + 1;
    return value;
  }

  /** One session from create to destroy, with everything in between. */
  private async pass(): Promise<void> {
    const session = await this.timed("create", TestSession.create(this.client)).catch((error: Error) => {
      // A machine that starves a new unit for ten seconds: told in the report, no reason to throw an hour away.
      if (!error.message.startsWith("create: 503 ")) throw error;
      this.counts["refused create"] = (this.counts["refused create"] ?? 0) + 1;
    });
    if (!session) return;
    await this.use(session, "a");
    await this.timed("pause", session.pause());
    await this.timed("resume", session.resume());
    await this.timed("destroy", session.destroy());
  }

  private async use(session: TestSession, place: string): Promise<void> {
    const round = this.round++;
    const { stdout } = await this.timed("exec", session.exec(sh(`echo ${round}`)));
    assert.equal(stdout, `${round}\n`);
    const bytes = randomBytes(50_000);
    await this.timed("write", session.write(place, bytes));
    assert.deepEqual(await this.timed("read", session.read(place)), bytes);
    const stream = await session.execStream(sh("seq 2000"));
    assert.equal((await this.timed("stream", stream.collect())).terminal?.event, "exit");
    const name = `${place}${round % 5}`;
    await this.timed("start", session.start(name, sh("seq 100; sleep 60")));
    await session.logs(name);
    await this.timed("kill", session.kill(name));
    const terminal = await Terminal.open(session, { cmd: sh("read x; exit 4") });
    terminal.type("x\r");
    assert.equal(await this.timed("terminal", terminal.exited()), 4);
  }
}
