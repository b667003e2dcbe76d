// SPDX-License-Identifier: Apache-2.0
// `inis up` and `inis down`: the engine of a state directory, and what becomes of its sessions.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { eventually, withinMs } from "../support/helpers.js";
import { inis, Program } from "./program.js";

describe("inis up and down", () => {
  let folder: string;
  let env: Record<string, string>;
  const call = (...args: string[]) => withinMs(args.join(" "), 90_000, inis(args, { env }));
  const run = async (...args: string[]) => {
    const outcome = await call(...args);
    assert.equal(outcome.code, 0, outcome.stderr);
    return outcome.stdout;
  };
  const up = async () => JSON.parse(await run("up", "--json"));

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "inis-up-"));
    chmodSync(folder, 0o711);
    env = { INIS_STATE_DIR: join(folder, "state") };
  });
  after(async () => {
    await call("down", "--destroy");
    rmSync(folder, { recursive: true, force: true });
  });

  test("up starts it once, down stops it, and both may be said again", async () => {
    const first = await up();
    assert.equal(first.started, true);
    assert.ok(existsSync(`/proc/${first.pid}`));
    const words = readFileSync(`/proc/${first.pid}/cmdline`, "utf8").split("\0");
    assert.equal(words[words.indexOf("--exit-when-idle") + 1], "0", "it stays until down");
    assert.deepEqual(await up(), { ...first, started: false });
    assert.equal(await run("up", "-q"), "");
    assert.match(await run("up"), /^running at http:\/\/127\.0\.0\.1:\d+, state in /);
    assert.match(await run("down"), /^stopped; 0 sessions/);
    await eventually("its process is gone", () => !existsSync(`/proc/${first.pid}`));
    const none = await call("down");
    assert.deepEqual([none.code, none.stdout], [0, ""]);
    assert.match(none.stderr, /no engine runs/);
    const silent = await call("down", "-q");
    assert.deepEqual([silent.code, silent.stderr], [0, ""]);
  });

  test("down names the sessions that would be left and refuses; --force leaves them to the next one", async () => {
    const { pid } = await up();
    const id = (await run("create", "--name", "kept")).trim();
    await run("start", id, "clock", "--", "sleep", "600");
    const refused = await call("down");
    assert.equal(refused.code, 125);
    assert.match(refused.stderr, new RegExp(`${id} is live \\(kept\\)[\\s\\S]*--destroy[\\s\\S]*--force`));
    assert.ok(existsSync(`/proc/${pid}`));
    const left = JSON.parse(await run("down", "--force", "--json"));
    assert.deepEqual([left.pid, left.stopped, left.sessions[0].session_id], [pid, true, id]);
    await up();
    const [clock] = JSON.parse(await run("ps", "--json", "kept"));
    assert.equal(clock.state, "running");
    assert.match(await run("down", "--destroy"), /1 session destroyed/);
    await up();
    assert.deepEqual(JSON.parse(await run("ls", "--json")), []);
  });

  test("a followed log goes on when the engine is stopped and started again elsewhere, losing nothing", async () => {
    await up();
    const id = (await run("create")).trim();
    const script = "i=0; while [ $i -lt 60 ]; do echo line $i; i=$((i+1)); sleep 0.1; done";
    await run("start", id, "counter", "--", "sh", "-c", script);
    const program = Program.start(["logs", "-f", id, "counter"], { env });
    await program.prints("line 3\n");
    await run("down", "--force");
    await up();
    const { code, stdout, stderr } = await withinMs("logs -f", 90_000, program.outcome);
    assert.equal(code, 0, stderr);
    assert.equal(stdout, Array.from({ length: 60 }, (_, i) => `line ${i}\n`).join(""));
    await run("down", "--destroy");
  });

  test("L17 up that takes too long is 124, one that cannot be is 4", async () => {
    const late = await call("up", "--state-dir", join(folder, "late"), "--timeout", "1ms");
    assert.equal(late.code, 124, late.stderr);
    await call("down", "--state-dir", join(folder, "late"), "--force");
    const bad = await call("up", "--state-dir", "/proc/nowhere");
    assert.equal(bad.code, 4, bad.stderr);
    const json = await call("up", "--json", "--state-dir", "/proc/nowhere");
    assert.deepEqual([json.code, json.stdout, JSON.parse(json.stderr).code], [4, "", "unavailable"]);
  });
});
