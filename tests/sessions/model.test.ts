// SPDX-License-Identifier: Apache-2.0
// Many clients at once on one session, at random: every answer is one that the model allows, and nothing is left.
import assert from "node:assert/strict";
import { test } from "node:test";
import { footprint, settledFootprint } from "../support/footprint.js";
import { eventually } from "../support/helpers.js";
import { scaled } from "../support/paths.js";
import { generator, testSeed } from "../support/random.js";
import { sh } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite();

const CLIENTS = 6;

/** Codes that a call on a session may fail with while others pause, resume and destroy it. */
const REFUSALS: Record<number, string[]> = {
  404: ["not_found"],
  409: ["session_not_live", "conflict"],
  410: ["session_ended"],
  503: ["session_unavailable"],
};

class World {
  id = "";
  executed = 0;
  readonly destroyed = new Set<string>();
  constructor(readonly name: string) {}

  path(rest: string, id = this.id): string {
    return `/v1/sessions/${id}${rest}`;
  }

  async call(method: string, rest: string, json?: object): Promise<{ id: string; status: number; json: object }> {
    const { id } = this;
    const known = this.destroyed.has(id);
    const reply = await t.client.send(method, this.path(rest), { json: json as never });
    const code = (reply.json as { code?: string } | undefined)?.code ?? "";
    if (reply.status >= 300)
      assert(REFUSALS[reply.status]?.includes(code), `${method} ${rest}: ${reply.status} ${reply.body}`);
    if (known) assert.equal(reply.status, 404, `${method} ${rest} of a destroyed session`);
    return { id, status: reply.status, json: reply.json };
  }

  async create(): Promise<void> {
    const reply = await t.client.send("POST", "/v1/sessions", { json: { name: this.name } });
    if (reply.status === 409) assert.equal(reply.json.code, "conflict");
    else assert([201, 202].includes(reply.status), `create: ${reply.status} ${reply.body}`);
    if (reply.status < 300) this.id = reply.json.session_id as string;
  }

  async expectState(rest: string, state: string): Promise<void> {
    const { status, json } = await this.call("POST", rest);
    if (status === 200) assert.equal((json as { state: string }).state, state, rest);
  }

  async exec(): Promise<void> {
    const word = `w${++this.executed}`;
    const { status, json } = await this.call("POST", "/exec", {
      command: sh(`echo ${word}; sleep 0.0${this.executed % 9}`),
    });
    if (status !== 200) return;
    const { stdout, exit_code } = json as { stdout: string; exit_code: number };
    assert.deepEqual([stdout, exit_code], [`${word}\n`, 0]);
  }

  async get(): Promise<void> {
    const { status, json } = await this.call("GET", "");
    if (status !== 200) return;
    const { state } = json as { state: string };
    assert(["creating", "live", "paused"].includes(state), state);
  }

  async destroy(): Promise<void> {
    const { id, status } = await this.call("DELETE", "");
    if (status === 204) this.destroyed.add(id);
  }

  async step(roll: number): Promise<void> {
    if (roll < 5) await this.exec();
    else if (roll < 9) await this.expectState("/pause", "paused");
    else if (roll < 12) await this.expectState("/resume", "live");
    else if (roll < 15) await this.get();
    else if (roll < 16) await this.destroy();
    else await this.create();
  }
}

test("S3_random_calls_of_many_clients_get_only_legal_answers_and_leave_nothing", async (context) => {
  const seed = testSeed();
  context.diagnostic(`INIS_TEST_SEED=${seed}`);
  const before = await settledFootprint(t.server);
  const world = new World(`model ${seed}`);
  await world.create();
  const clients = Array.from({ length: CLIENTS }, async (_, i) => {
    const dice = generator(seed + i * 7919);
    for (let n = 0; n < scaled(500, 60); n++) await world.step(dice(18));
  });
  // A command that a pause has caught waits for a resume.
  const resuming = setInterval(() => void world.call("POST", "/resume").catch(() => {}), 200);
  const results = await Promise.allSettled(clients);
  clearInterval(resuming);
  for (const result of results) if (result.status === "rejected") throw result.reason;
  await world.create();
  await world.expectState("/resume", "live");
  await t.client.expect(204, "DELETE", world.path(""));
  await eventually("everything is as before", () => {
    const { frontFiles: _, brokerFiles: __, ...now } = footprint(t.server);
    const { frontFiles: ___, brokerFiles: ____, ...then } = before;
    assert.deepEqual(now, then);
    return true;
  });
});
