// SPDX-License-Identifier: Apache-2.0
// The engine's own processes: what the one that parses foreign bytes has given up.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { role } from "../support/footprint.js";
import { binDir } from "../support/paths.js";
import { suite } from "../support/suite.js";

const t = suite();

const status = (pid: number) => readFileSync(`/proc/${pid}/status`, "utf8");

test("the_front_is_nobody_and_can_become_nobody_else", () => {
  const front = status(role(t.server, "front"));
  const uids = /^Uid:\s+(.*)$/m.exec(front)![1]!.split("\t").map(Number);
  assert(
    uids.every((uid) => uid > 999),
    `uids ${uids}`,
  );
  assert.match(front, /^Groups:\s*$/m);
  for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"])
    assert.match(front, new RegExp(`^${set}:\\s+0+$`, "m"), set);
  assert.match(front, /^NoNewPrivs:\s+1$/m);
});

test("every_thread_of_the_front_runs_under_its_filter", () => {
  assert.match(status(role(t.server, "front")), /^Seccomp:\s+2$/m);
});

test("nothing_of_the_engine_dumps_core", () => {
  for (const name of ["front", "broker"] as const) {
    const limits = readFileSync(`/proc/${role(t.server, name)}/limits`, "utf8");
    assert.match(limits, /^Max core file size\s+0\s+0\s/m, name);
  }
});

const testBuild = process.env.INIS_WALLS_OFF !== undefined && "this is the build that has it";

test("the_programs_have_no_switch_that_takes_a_wall_away", { skip: testBuild }, () => {
  const found = ["inisd", "inis-broker", "inis-agent", "inis"].filter((name) =>
    readFileSync(join(binDir, name)).includes("INIS_WALLS_OFF"),
  );
  assert.deepEqual(found, []);
});
