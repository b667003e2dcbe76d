// SPDX-License-Identifier: Apache-2.0
// A server of its own for the bench: fresh state directory, free port; ends with everything it made.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const START_MS = 60_000;
const SETTLE_MS = 60_000;

export class Engine {
  stateDir = mkdtempSync(join(tmpdir(), "inis-bench-"));
  #child;
  #url;

  constructor(config) {
    this.pool = config.pool;
  }

  static async start(binDir, config) {
    const engine = new Engine(config);
    const dir = engine.stateDir;
    writeFileSync(join(dir, "config.json"), JSON.stringify({ log_level: "warn", ...config }));
    const log = openSync(join(dir, "server.log"), "a", 0o600);
    engine.#child = spawn(
      join(binDir, "inisd"),
      ["serve", "--listen", "127.0.0.1:0", "--state-dir", dir, "--config", join(dir, "config.json")],
      { stdio: ["ignore", log, log] },
    );
    engine.#child.on("error", () => {}); // told by wait()
    await wait("the server listens", START_MS, () => {
      if (engine.#child.exitCode !== null || engine.#child.pid === undefined) {
        throw new Error(`inisd did not start:\n${readFileSync(join(dir, "server.log"), "utf8")}`);
      }
      return existsSync(join(dir, "engine.json"));
    });
    engine.#url = new URL(JSON.parse(readFileSync(join(dir, "engine.json"), "utf8")).base_url);
    // Also without a pool a server makes one unit, to see whether it can; the first session takes that.
    if (engine.pool === 0) await engine.destroy([(await engine.#call("POST", "/v1/sessions")).session_id]);
    return engine;
  }

  get pid() {
    return this.#child.pid;
  }

  get baseUrl() {
    return this.#url.origin;
  }

  get port() {
    return this.#url.port;
  }

  get token() {
    return readFileSync(join(this.stateDir, "key"), "utf8").trim();
  }

  /** Units of isolation that exist, blank or in use. */
  units() {
    return readdirSync(join(this.stateDir, "units")).length;
  }

  /** Beyond the pool, what a unit has without a process is kept for one more. */
  spare = 1;

  /** Waits until the pool is full and nothing is being destroyed, with so many sessions alive. */
  async settled(sessions) {
    const units = sessions + this.pool + this.spare;
    await wait(`${sessions} sessions and a full pool`, SETTLE_MS, () => this.units() === units, 2);
  }

  async #call(method, path) {
    const reply = await fetch(`${this.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}` },
    });
    if (!reply.ok && reply.status !== 404) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return reply.status === 204 ? {} : await reply.json();
  }

  async destroy(ids) {
    for (const id of ids) await this.#call("DELETE", `/v1/sessions/${id}`);
  }

  async stop() {
    try {
      for (;;) {
        const { sessions } = await this.#call("GET", "/v1/sessions?limit=200");
        if (sessions.length === 0) break;
        await this.destroy(sessions.map((session) => session.session_id));
      }
    } finally {
      const ended = new Promise((resolve) => this.#child.once("exit", resolve));
      this.#child.kill("SIGTERM");
      await ended;
      rmSync(this.stateDir, { recursive: true, force: true });
    }
  }
}

/** Asks until the answer is true. */
export async function wait(what, limitMs, isSo, everyMs = 10) {
  const deadline = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await sleep(everyMs);
  }
}
