// SPDX-License-Identifier: Apache-2.0
// The server has mounts of its own and yet holds none of the machine's: what is unmounted there is let go.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { descendants } from "../support/footprint.js";
import { eventually } from "../support/helpers.js";
import { Server } from "../support/server.js";
import { TestSession } from "../support/session.js";

const POOL = 2;
/** A shared mount, as all are on a machine with an ordinary init, and a disk that is mounted below it. */
const shared = mkdtempSync(join(tmpdir(), "inis-mounts-"));
const disk = join(shared, "disk");
let server: Server;

before(async () => {
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", shared]);
  execFileSync("mount", ["--make-shared", shared]);
  mkdirSync(disk);
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", disk]);
  server = await Server.start({ pool: POOL });
});
after(async () => {
  await server?.stop();
  execFileSync("umount", ["-R", shared]);
  rmdirSync(shared);
});

/** Processes of the server that have it mounted. */
const holders = (path: string) =>
  descendants(server.pid).filter(({ pid }) => {
    try {
      return readFileSync(`/proc/${pid}/mountinfo`, "utf8").includes(` ${path} `);
    } catch {
      return false;
    }
  });

test("what_the_machine_unmounts_is_let_go_by_the_broker_and_by_units_that_wait", async () => {
  const session = await TestSession.create(server.client());
  await eventually("the pool is full", () => holders(disk).length >= 1 + POOL);
  execFileSync("umount", [disk]);
  assert.deepEqual(holders(disk), []);
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", disk]);
  for (const one of [session, await TestSession.create(server.client())])
    assert.doesNotMatch(await one.output("cat /proc/self/mountinfo"), /inis-mounts/);
  assert.equal(readFileSync("/proc/self/mountinfo", "utf8").includes(server.stateDir), false, "ours are ours");
});
