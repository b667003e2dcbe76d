// SPDX-License-Identifier: Apache-2.0
// The code interpreter as both published clients run it: a program put into the session and driven with ordinary calls.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { randomBytes, sha256 } from "../../support/helpers.js";
import { repository } from "../../support/paths.js";
import type { Members } from "./answers.js";
import type { Client } from "./suite.js";

const NAME = "inis-kernel";
const ROOT = "/workspace/.inis_kernel";
const SCRIPT = readFileSync(join(repository, "tests/conformance/clients/kernel.py"), "utf8");
const VERSION = sha256(SCRIPT).slice(0, 16);
const EXEC_SLACK_MS = 10_000;

export class Interpreter {
  private ready = false;
  /** How often a kernel was started. */
  starts = 0;

  constructor(
    private readonly client: Client,
    private readonly id: string,
  ) {}

  private async running(): Promise<boolean> {
    return this.client.getProcess(this.id, NAME).then(
      ({ state }) => state === "running",
      () => false,
    );
  }

  private async ensure(): Promise<void> {
    if (this.ready) return;
    const { client, id } = this;
    const old = await this.running();
    const version = old ? await client.readText(id, `${ROOT}/version`).catch(() => "") : "";
    if (version.trim() !== VERSION) await this.install(old);
    this.ready = true;
  }

  private async install(old: boolean): Promise<void> {
    const { client, id } = this;
    const folders = ["requests", "results", "artifacts"].map((name) => `${ROOT}/${name}`);
    assert.equal((await client.exec(id, `mkdir -p ${folders.join(" ")}`)).exit_code, 0);
    await client.write(id, `${ROOT}/kernel.py`, SCRIPT);
    await client.write(id, `${ROOT}/version`, VERSION);
    if (old) await client.kill(id, NAME);
    await client.start(id, NAME, ["python3", `${ROOT}/kernel.py`, ROOT]);
    this.starts++;
  }

  private async attempt(code: string, timeoutMs: number): Promise<Members[] | undefined> {
    const request = randomBytes(16).toString("hex");
    const result = `${ROOT}/results/${request}.json`;
    await this.client.write(this.id, `${ROOT}/requests/.${request}.tmp`, JSON.stringify({ id: request, code }));
    const rounds = Math.floor(timeoutMs / 50) + 1;
    const script = [
      `mv ${ROOT}/requests/.${request}.tmp ${ROOT}/requests/${request}.json`,
      `for i in $(seq ${rounds}); do`,
      `if [ -f ${result} ]; then cat ${result}; rm -f ${result}; exit 0; fi; sleep 0.05; done`,
      `echo '{"__inis_timeout__": true}'`,
    ].join("\n");
    const { stdout } = await this.client.exec(this.id, script, { timeoutMs: timeoutMs + EXEC_SLACK_MS });
    const reply = JSON.parse(stdout) as Members;
    return reply.id === request ? reply.results : undefined;
  }

  async run(code: string, timeoutMs = 30_000): Promise<Members[]> {
    await this.ensure();
    const results = await this.attempt(code, timeoutMs);
    if (results) return results;
    if (await this.running()) return [{ type: "error", ename: "TimeoutError" }];
    this.ready = false;
    await this.ensure();
    return (await this.attempt(code, timeoutMs)) ?? assert.fail("a fresh kernel does not answer");
  }

  async restart(): Promise<void> {
    await this.client.kill(this.id, NAME).catch(() => {});
    this.ready = false;
    await this.ensure();
  }
}
