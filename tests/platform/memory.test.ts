// SPDX-License-Identifier: Apache-2.0
// What the server took for much at once goes back to the machine when it has nothing to do.
import assert from "node:assert/strict";
import { chownSync, existsSync, mkdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { anonymousKb, role } from "../support/footprint.js";
import { eventually } from "../support/helpers.js";
import { Server } from "../support/server.js";
import { sh } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite();

/**
 * How many captures at once, of how many bytes: each below the size from which the C library gets and gives back memory
 * for one thing alone. What stays of them otherwise differs, now and then it is nothing.
 */
const CROWDS = [
  [1, 100_000],
  [1, 400_000],
  [4, 100_000],
  [3, 300_000],
] as const;
/** Caches of the store that fill once, and the pages of which a part is in use. */
const KEPT_KB = 350;

test("L7_memory_for_much_at_once_goes_back_when_the_server_rests", async () => {
  const capture = async (size: number) => {
    const { stdout } = await t.session.exec(sh(`yes 0123456789 | head -c ${size}`));
    assert.equal(stdout.length, size);
  };
  const front = role(t.server, "front");
  const before = anonymousKb(front);
  for (const [count, size] of CROWDS) {
    await Promise.all(Array.from({ length: count }, () => capture(size)));
    await eventually(`the memory of ${count} × ${size} is given back`, () => {
      const kept = anonymousKb(front) - before;
      assert(kept < KEPT_KB, `${kept} kB more than before`);
      return true;
    });
  }
});

/** More than fit into what the test lets the server have, each with the name of a session. */
const ENDED = 12_000;
/** One in so many is too old, and removed at the server's first look at all of them. */
const STALE = 200;

/** What a server that has run for long keeps of sessions that have ended. Returns the paths of those that are too old. */
function endedSessions(logs: string): string[] {
  const { uid } = statSync(logs);
  const stale: string[] = [];
  for (let i = 0; i < ENDED; i++) {
    const id = [...i.toString(5)].map((digit) => "bcdef"[Number(digit)]).join("");
    const path = join(logs, id.padStart(21, "a"));
    mkdirSync(path);
    chownSync(path, uid, uid);
    if (i % STALE > 0) continue;
    utimesSync(path, 0, 0);
    stale.push(path);
  }
  return stale;
}

test("L7_memory_does_not_follow_the_number_of_ended_sessions", async () => {
  const server = await Server.start();
  try {
    const used = async () => {
      assert.equal((await server.client().send("GET", "/v1/sessions")).status, 200);
      return anonymousKb(role(server, "front"));
    };
    const before = await used();
    await server.terminate();
    const stale = endedSessions(server.state("logs"));
    await server.launch();
    await eventually("the server has looked at all", () => !stale.some(existsSync));
    await eventually("the memory is as before", async () => {
      const more = (await used()) - before;
      assert(more < KEPT_KB, `${more} kB more than before`);
      return true;
    });
  } finally {
    await server.stop();
  }
});
