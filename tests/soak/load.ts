// SPDX-License-Identifier: Apache-2.0
// A mixed load: sessions that come and go, and some that stay and are used all the time.
import assert from "node:assert/strict";
import { randomBytes } from "../support/helpers.js";
import type { RawClient } from "../support/http.js";
import { sh, TestSession } from "../support/session.js";
import { Terminal } from "../support/terminal.js";

export class Load {
  /** Milliseconds of each exec since they were taken last. */
  private latencies: number[] = [];
  readonly counts: Record<string, number> = {};
  private stopped = false;

  constructor(private readonly client: RawClient) {}

  stop(): void {
    this.stopped = true;
  }

  takeLatencies(): number[] {
    return this.latencies.splice(0);
  }

  private async timed<T>(what: string, work: Promise<T>): Promise<T> {
    const begin = performance.now();
    const value = await work;
    if (what === "exec") this.latencies.push(performance.now() - begin);
    this.counts[what] = (this.counts[what] ?? 0) + 1;
    return value;
  }

  /** One session from create to destroy, with everything in between. */
  private async passing(round: number): Promise<void> {
    const session = await this.timed("create", TestSession.create(this.client));
    await this.use(session, round);
    await this.timed("pause", session.pause());
    await this.timed("resume", session.resume());
    await this.timed("destroy", session.destroy());
  }

  private async use(session: TestSession, round: number): Promise<void> {
    const { stdout } = await this.timed("exec", session.exec(sh(`echo ${round}`)));
    assert.equal(stdout, `${round}\n`);
    const bytes = randomBytes(50_000);
    await this.timed("write", session.write("data", bytes));
    assert.deepEqual(await this.timed("read", session.read("data")), bytes);
    const stream = await session.execStream(sh("seq 2000"));
    assert.equal((await this.timed("stream", stream.collect())).terminal?.event, "exit");
    const name = `p${round % 5}`;
    await this.timed("start", session.start(name, sh("seq 100; sleep 60")));
    await session.logs(name);
    await this.timed("kill", session.kill(name));
    const terminal = await Terminal.open(session, { cmd: sh("read x; exit 4") });
    terminal.type("x\r");
    assert.equal(await this.timed("terminal", terminal.exited()), 4);
  }

  async passingSessions(): Promise<void> {
    for (let round = 0; !this.stopped; round++) await this.passing(round);
  }

  /** A session that stays as long as the load does. */
  async staying(session: TestSession): Promise<void> {
    for (let round = 0; !this.stopped; round++) await this.use(session, round);
    await session.destroy();
  }
}
