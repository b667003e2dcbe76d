// SPDX-License-Identifier: Apache-2.0
// The embedded engine: found when it runs, started when it does not, one for any number of callers.
import assert from "node:assert/strict";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { eventually } from "../support/helpers.js";
import { binDir } from "../support/paths.js";
import { inis } from "./program.js";

describe("the embedded engine", () => {
  let folder: string;
  let stateDir: string;
  let env: Record<string, string>;

  const engineFile = () => JSON.parse(readFileSync(join(stateDir, "engine.json"), "utf8"));
  const alive = (pid: number) => existsSync(`/proc/${pid}`);
  const find = async () => {
    const outcome = await inis(["env", "--json"], { env });
    assert.equal(outcome.code, 0, outcome.stderr);
    return JSON.parse(outcome.stdout) as { base_url: string; token: string };
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "inis-embedded-"));
    chmodSync(folder, 0o711); // the server's unprivileged part passes through it
    stateDir = join(folder, "state");
    env = { INIS_STATE_DIR: stateDir };
  });

  afterEach(async () => {
    if (existsSync(join(stateDir, "engine.json"))) {
      const { pid } = engineFile();
      if (pid !== process.pid && alive(pid)) process.kill(pid, "SIGTERM");
      await eventually("the engine ends", () => pid === process.pid || !alive(pid));
    }
    rmSync(folder, { recursive: true, force: true });
  });

  test("env starts it once and then finds it", async () => {
    const first = await find();
    const { pid } = engineFile();
    assert.match(first.base_url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.match(first.token, /^sk_[A-Za-z0-9]{43}$/);
    assert.deepEqual(await find(), first);
    assert.equal(engineFile().pid, pid);
    const lines = (await inis(["env"], { env })).stdout;
    assert.equal(lines, `export INIS_BASE_URL='${first.base_url}'\nexport INIS_API_KEY='${first.token}'\n`);
    const answer = await fetch(`${first.base_url}/v1/sessions`, {
      headers: { authorization: `Bearer ${first.token}` },
    });
    assert.equal(answer.status, 200);
    await answer.text();
  });

  test("what holds a key is readable by its owner only", async () => {
    await find();
    for (const name of ["engine.json", "key", "engine.log"]) {
      assert.equal(statSync(join(stateDir, name)).mode & 0o077, 0, name);
    }
  });

  test("O1 ten programs at once get one engine", async () => {
    const found = await Promise.all(Array.from({ length: 10 }, find));
    assert.equal(new Set(found.map(({ base_url, token }) => `${base_url} ${token}`)).size, 1);
    assert.equal(readFileSync(join(stateDir, "engine.log"), "utf8").match(/listening on/g)?.length, 1);
  });

  test("run works with nothing set but root", async () => {
    const outcome = await inis(["run", "--", "sh", "-c", "id -un; exit 5"], { env });
    assert.deepEqual([outcome.code, outcome.stdout], [5, "sandbox\n"], outcome.stderr);
  });

  test("an engine that was killed is replaced", async () => {
    await find();
    const { pid } = engineFile();
    process.kill(pid, "SIGKILL");
    await eventually("the engine is gone", () => !alive(pid));
    const { base_url } = await find();
    assert.notEqual(engineFile().pid, pid);
    assert.equal((await fetch(`${base_url}/v1/healthz`)).status, 200);
  });

  test("a stale file with the id of another process is not believed", async () => {
    mkdirSync(stateDir, { mode: 0o711 });
    writeFileSync(join(stateDir, "foreign-key"), "sk_foreign\n", { mode: 0o600 });
    const stale = {
      pid: process.pid,
      start_time: 1,
      base_url: "http://127.0.0.1:1",
      key_file: join(stateDir, "foreign-key"),
    };
    writeFileSync(join(stateDir, "engine.json"), JSON.stringify({ ...stale, version: "0.0.0" }));
    const { token } = await find();
    assert.notEqual(token, "sk_foreign");
    assert.notEqual(engineFile().pid, process.pid);
  });

  test("an engine that cannot start is reported with what it said", async () => {
    mkdirSync(join(stateDir, "key"), { recursive: true });
    const outcome = await inis(["env"], { env });
    assert.deepEqual([outcome.code, outcome.stdout], [4, ""]);
    assert.match(outcome.stderr, /key[\s\S]*inis: the embedded engine ended at once; .*engine\.log\n$/);
  });

  test("a missing engine program and a bad state directory are named", async () => {
    const lonely = join(folder, "inis");
    copyFileSync(join(binDir, "inis"), lonely);
    chmodSync(lonely, 0o755);
    const missing = await inis(["env"], { env, program: lonely });
    assert.equal(missing.code, 4);
    assert.match(missing.stderr, /inisd/);
    writeFileSync(join(folder, "file"), "");
    const bad = await inis(["env"], { env: { INIS_STATE_DIR: join(folder, "file", "state") } });
    assert.equal(bad.code, 4);
    assert.match(bad.stderr, /state directory/);
  });

  test("without root it says what to do", async () => {
    const program = join(folder, "inis");
    copyFileSync(join(binDir, "inis"), program);
    chmodSync(program, 0o755);
    chmodSync(folder, 0o755);
    const outcome = await inis(["run", "--", "true"], { env, program, spawn: { uid: 65534, gid: 65534, cwd: "/" } });
    assert.equal(outcome.code, 125);
    assert.match(outcome.stderr, /root.*INIS_BASE_URL/);
  });
});
