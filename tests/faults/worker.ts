// SPDX-License-Identifier: Apache-2.0
// One client under whom the server's processes die: it does a bit of everything with sessions of its own and keeps book
// of what it was told, so that it can be compared with what is there afterwards.
import assert from "node:assert/strict";
import { eventually, sleep } from "../support/helpers.js";
import type { RawClient, Reply, RequestOptions } from "../support/http.js";
import type { Dice } from "../support/random.js";
import { type ProcessLogs, type ProcessObject, sh } from "../support/session.js";
import { Terminal } from "../support/terminal.js";

/** How a connection shows that its server is gone. */
const LOST = ["ECONNRESET", "ECONNREFUSED", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE"];

/** What a server that is coming or going may say. */
const PASSING: Record<number, string[]> = {
  409: ["session_not_live", "idempotency_key_in_progress", "conflict"],
  503: ["unavailable", "session_unavailable"],
};

const COUNTER = sh("n=0; while :; do n=$((n+1)); echo $n; sleep 0.3; done");
const LINES = 1000;
const SESSIONS_MAX = 2;

/** The outcome of a request whose connection was lost: it may have happened or not. */
export class Lost extends Error {}

interface Held {
  id: string;
  key: string;
  /** Of the counter in it, once it was started for certain. */
  pid?: number;
  counted: number;
  /** Undefined after a request whose outcome is not known. */
  state?: "live" | "paused";
}

export class Worker {
  readonly held: Held[] = [];
  readonly gone = new Set<string>();
  /** Creates and destroys that nobody answered: a key, an id. */
  readonly unsure: { creates: string[]; destroys: Held[] } = { creates: [], destroys: [] };
  readonly done: Record<string, number> = {};
  private created = 0;
  private stopped = false;

  constructor(
    readonly name: string,
    private readonly dice: Dice,
    public client: RawClient,
  ) {}

  stop(): void {
    this.stopped = true;
  }

  /** Works until it is stopped. */
  async run(): Promise<void> {
    this.stopped = false;
    while (!this.stopped) {
      try {
        await this.step();
      } catch (error) {
        if (!(error instanceof Lost)) throw error;
        await sleep(150);
      }
    }
  }

  private count(what: string): void {
    this.done[what] = (this.done[what] ?? 0) + 1;
  }

  private async send(method: string, path: string, options?: RequestOptions): Promise<Reply> {
    const reply = await this.client.send(method, path, options).catch((error: NodeJS.ErrnoException) => {
      if (LOST.includes(error.code ?? "")) throw new Lost(error.message);
      throw error;
    });
    const code = reply.json?.code as string | undefined;
    if (PASSING[reply.status]?.includes(code ?? "")) throw new Lost(`${reply.status} ${code}`);
    return reply;
  }

  private expect(reply: Reply, ...statuses: number[]): Reply {
    assert(statuses.includes(reply.status), `${this.name}: ${reply.status} ${reply.body.toString().slice(0, 400)}`);
    return reply;
  }

  private async step(): Promise<void> {
    const session = this.held[this.dice(this.held.length || 1)];
    if (!session || (this.held.length < SESSIONS_MAX && this.dice(4) === 0)) return this.create();
    const roll = this.dice(12);
    if (roll < 3) await this.exec(session);
    else if (roll < 6) await this.stream(session);
    else if (roll < 8) await this.terminal(session);
    else if (roll < 9) await this.pause(session);
    else if (roll < 10) await this.resume(session);
    else if (roll < 11) await this.destroy(session);
    else await this.create();
  }

  private async create(): Promise<void> {
    if (this.held.length >= SESSIONS_MAX) return;
    // One that nobody answered is asked for again, as a client does.
    if (this.unsure.creates.length === 0) this.unsure.creates.push(`${this.name}-${++this.created}`);
    await this.createWith(this.unsure.creates[0]!);
  }

  /** Also the repetition of one that nobody answered: the same key gives the same session. */
  async createWith(key: string): Promise<void> {
    const options = { json: { external_id: key }, headers: { "idempotency-key": key } };
    const reply = this.expect(await this.send("POST", "/v1/sessions", options), 201, 202);
    this.unsure.creates = this.unsure.creates.filter((other) => other !== key);
    const session: Held = { id: reply.json.session_id as string, key, counted: 0, state: "live" };
    this.held.push(session);
    await this.startCounter(session);
    this.count("create");
  }

  /** A process has a name, so that starting it can be repeated. */
  async startCounter(session: Held): Promise<void> {
    const json = { name: "counter", command: COUNTER, keep_alive: true };
    const path = `/v1/sessions/${session.id}/processes`;
    const reply = await this.client.send("POST", path, { json }).catch((error: NodeJS.ErrnoException) => {
      if (LOST.includes(error.code ?? "")) throw new Lost(error.message);
      throw error;
    });
    if (reply.status === 503) throw new Lost("503");
    const known = reply.status === 409 ? await this.counter(session) : (reply.json as unknown as ProcessObject);
    this.expect(reply, 200, 409);
    session.pid = known.pid;
  }

  async counter(session: Held): Promise<ProcessObject> {
    const reply = await this.send("GET", `/v1/sessions/${session.id}/processes/counter`);
    return this.expect(reply, 200).json as unknown as ProcessObject;
  }

  private async exec(session: Held): Promise<void> {
    const word = `w${this.dice(1e9)}`;
    session.state = undefined;
    const options = { json: { command: sh(`echo ${word}; exit 3`) } };
    const { json } = this.expect(await this.send("POST", `/v1/sessions/${session.id}/exec`, options), 200);
    assert.deepEqual([json.stdout, json.exit_code], [`${word}\n`, 3]);
    session.state = "live";
    this.count("exec");
  }

  /** X17: a stream has all of its output and its exit, or no exit at all. */
  private async stream(session: Held): Promise<void> {
    session.state = undefined;
    const script = `i=0; while [ $i -lt ${LINES} ]; do i=$((i+1)); echo $i; done; exit 7`;
    const options = { query: { stream: true }, json: { command: sh(script) } };
    const events = await this.client.events("POST", `/v1/sessions/${session.id}/exec`, options).catch((error) => {
      const text = String(error.message);
      if (LOST.includes(error.code ?? "") || /no event stream but (503|409)/.test(text)) throw new Lost(text);
      throw error;
    });
    const { stdout, terminal } = await events.collect();
    const all = Array.from({ length: LINES }, (_, i) => `${i + 1}\n`).join("");
    assert(all.startsWith(stdout.toString()), "what came is the beginning of what was printed");
    if (terminal?.event !== "exit") throw new Lost(`stream ended with ${terminal?.event ?? "nothing"}`);
    assert.equal((terminal.json as { exit_code: number }).exit_code, 7);
    assert.equal(stdout.toString(), all, "an exit comes after all output");
    session.state = "live";
    this.count("stream");
  }

  private async terminal(session: Held): Promise<void> {
    session.state = undefined;
    const known = { id: session.id, client: this.client, path: (rest: string) => `/v1/sessions/${session.id}${rest}` };
    const terminal = await Terminal.open(known as never, { cmd: sh("echo begin; read x; echo got $x; exit 5") }).catch(
      (error) => {
        const text = String(error.message);
        if (LOST.includes(error.code ?? "") || /503|409|socket|without an answer/.test(text)) throw new Lost(text);
        throw error;
      },
    );
    terminal.type("word\r");
    await terminal.socket.over().catch((error: Error) => {
      assert.fail(`${error.message}; ${session.id}: exit ${terminal.exitCode} after ${JSON.stringify(terminal.text)}`);
    });
    if (terminal.exitCode === undefined) throw new Lost("terminal cut");
    assert.equal(terminal.exitCode, 5);
    assert.match(terminal.text, /got word/);
    session.state = "live";
    this.count("terminal");
  }

  private async pause(session: Held): Promise<void> {
    session.state = undefined;
    this.expect(await this.send("POST", `/v1/sessions/${session.id}/pause`), 200);
    session.state = "paused";
    this.count("pause");
  }

  private async resume(session: Held): Promise<void> {
    session.state = undefined;
    this.expect(await this.send("POST", `/v1/sessions/${session.id}/resume`), 200);
    session.state = "live";
    this.count("resume");
  }

  private async destroy(session: Held): Promise<void> {
    this.held.splice(this.held.indexOf(session), 1);
    this.unsure.destroys.push(session);
    this.expect(await this.send("DELETE", `/v1/sessions/${session.id}`), 204);
    this.unsure.destroys = this.unsure.destroys.filter((other) => other !== session);
    this.gone.add(session.id);
    this.count("destroy");
  }

  /** After the server is back: what was promised is there, what was not known is one or the other. */
  async audit(): Promise<void> {
    assert(this.held.length + this.unsure.creates.length <= SESSIONS_MAX + 1, "no more sessions than were asked for");
    for (const id of this.gone) this.expect(await this.send("GET", `/v1/sessions/${id}`), 404);
    this.gone.clear();
    for (const session of this.unsure.destroys.splice(0)) {
      this.expect(await this.send("DELETE", `/v1/sessions/${session.id}`), 204, 404);
      this.gone.add(session.id);
    }
    for (const session of this.held) await this.auditSession(session);
    for (const key of [...this.unsure.creates]) {
      await eventually("the create with the same key is answered", () => this.createWith(key).then(() => true));
      const { json } = await this.send("GET", "/v1/sessions", { query: { external_id: key } });
      assert.equal((json.sessions as object[]).length, 1, `one session for the key ${key}`);
    }
  }

  private async auditSession(session: Held): Promise<void> {
    const path = `/v1/sessions/${session.id}`;
    const shown = this.expect(await this.send("GET", path), 200).json.state as string;
    assert(["live", "paused"].includes(shown), `${session.id} is ${shown}`);
    if (session.state) assert.equal(shown, session.state, `${session.id} was promised to be ${session.state}`);
    if (session.pid === undefined) await this.startCounter(session);
    const { state, pid } = await this.counter(session);
    assert.deepEqual([state, pid], ["running", session.pid], "the process inside never noticed");
    const last = await eventually("the counter goes on", async () => {
      const { json } = await this.send("GET", `${path}/processes/counter/logs`);
      const numbers = (json as unknown as ProcessLogs).stdout.split("\n").slice(0, -1).map(Number);
      const first = numbers[0] ?? 0;
      assert.deepEqual(
        numbers,
        numbers.map((_, i) => first + i),
        "no line is lost or doubled",
      );
      return (numbers.at(-1) ?? 0) > session.counted ? numbers.at(-1)! : false;
    });
    session.counted = last;
    session.state = "live";
  }
}
