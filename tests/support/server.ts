// SPDX-License-Identifier: Apache-2.0
// A real server for the tests of one file: its own state directory, port and key; stops exactly what it started.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "./contract.js";
import { descendants } from "./footprint.js";
import { eventually, PATIENCE_MS } from "./helpers.js";
import { RawClient } from "./http.js";
import { binDir } from "./paths.js";

interface EngineFile {
  pid: number;
  start_time: number;
  base_url: string;
  key_file: string;
  version: string;
}

/** Where the state of a server lies when it is not a temporary directory: in the mount namespace of a process. */
export interface Place {
  stateDir: string;
  namespace: number;
}

export class Server {
  /** What the tests keep of the server, and its state too unless that is told to lie elsewhere. */
  private readonly directory = mkdtempSync(join(tmpdir(), "inis-test-"));
  readonly keyFile = join(this.directory, "key");
  readonly logFile = join(this.directory, "server.log");
  private readonly clients: RawClient[] = [];
  private readonly args: string[] = [];
  private child?: ChildProcess;
  private engine?: EngineFile;
  private lastLogs = "";
  readonly stateDir: string;

  private constructor(
    config?: JsonObject,
    private readonly inherited: number[] = [],
    private readonly place?: Place,
  ) {
    this.stateDir = place?.stateDir ?? this.directory;
    if (!config) return;
    const file = join(this.directory, "config.json");
    writeFileSync(file, JSON.stringify(config));
    this.args = ["--config", file];
  }

  /**
   * Starts a server, with this configuration file if any; it is left these descriptors, as careless parents do. A place
   * that is given stays the caller's to remove.
   */
  static async start(config?: JsonObject, inherited: number[] = [], place?: Place): Promise<Server> {
    const server = new Server(config, inherited, place);
    try {
      await server.launch();
      return server;
    } catch (error) {
      server.clear();
      throw error;
    }
  }

  get pid(): number {
    assert(this.child?.pid, "the server does not run");
    return this.child.pid;
  }

  get baseUrl(): string {
    assert(this.engine, "the server has not been started");
    return this.engine.base_url;
  }

  get version(): string {
    assert(this.engine, "the server has not been started");
    return this.engine.version;
  }

  /** All keys, one a line of the file, which is read when the server starts. */
  get keys(): string[] {
    return readFileSync(this.keyFile, "utf8").trim().split("\n");
  }

  get token(): string {
    return this.keys[0]!;
  }

  /** A client of the server as it runs now; closed with it. */
  client(key = this.token): RawClient {
    const client = new RawClient(this.baseUrl, key);
    this.clients.push(client);
    return client;
  }

  logs(): string {
    return existsSync(this.logFile) ? readFileSync(this.logFile, "utf8") : this.lastLogs;
  }

  /** Something in the state directory, as it is seen from here. */
  state(name: string): string {
    const path = join(this.stateDir, name);
    return this.place ? join(`/proc/${this.place.namespace}/root`, path) : path;
  }

  /** Starts the program on this state directory, a second time too. */
  async launch(): Promise<void> {
    const file = this.state("engine.json");
    const args = ["serve", "--listen", "127.0.0.1:0", "--state-dir", this.stateDir, "--key-file", this.keyFile];
    const command = [join(binDir, "inisd"), ...args, ...this.args];
    if (this.place) command.unshift("nsenter", "-m", "-t", String(this.place.namespace));
    const child = spawn(command[0]!, command.slice(1), {
      stdio: ["ignore", "pipe", "pipe", ...this.inherited],
    });
    const log = createWriteStream(this.logFile, { flags: "a" });
    child.stdout!.pipe(log, { end: false });
    child.stderr!.pipe(log, { end: false });
    this.child = child;
    child.once("error", (error) => log.write(`${error.message}\n`));
    const outcome = await eventually("the server says that it listens", () => {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return "ended" as const;
      const engine = JSON.parse(readFileSync(file, "utf8")) as EngineFile;
      if (engine.pid !== child.pid) return false;
      this.engine = engine;
      return "listening" as const;
    });
    assert.equal(outcome, "listening", `inisd did not start:\n${this.logs()}`);
    assert.equal(statSync(file).mode & 0o777, 0o600, "engine.json is for its owner only");
    assert.equal(statSync(this.keyFile).mode & 0o777, 0o600, "the key file is for its owner only");
  }

  /** SIGTERM, then waits for the end. Sessions stay. */
  async terminate(): Promise<void> {
    const child = this.child;
    assert(child, "the server does not run");
    if (child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
    }
    this.child = undefined;
    for (const client of this.clients.splice(0)) client.close();
    assert.equal(
      child.exitCode,
      0,
      `inisd ended with ${child.exitCode ?? child.signalCode}:\n${this.logs().slice(-4000)}`,
    );
  }

  /** After the daemon's processes were killed: starts it again on what is left. */
  async relaunchAfterKill(): Promise<void> {
    await eventually(
      "the killed daemon is gone",
      () => this.child?.signalCode !== null || this.child.exitCode !== null,
    );
    for (const client of this.clients.splice(0)) client.close();
    await this.launch();
  }

  /** Runs a second `inisd serve` on the same state directory to its end. */
  async tryAnother(): Promise<{ code: number | null; stderr: string }> {
    const args = ["serve", "--listen", "127.0.0.1:0", "--state-dir", this.stateDir, "--key-file", this.keyFile];
    const child = spawn(join(binDir, "inisd"), args, { stdio: ["ignore", "ignore", "pipe"] });
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk;
    });
    const timer = setTimeout(() => child.kill("SIGTERM"), PATIENCE_MS);
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    clearTimeout(timer);
    return { code, stderr };
  }

  /** Destroys every session, ends the server and removes its state; once. */
  async stop(): Promise<void> {
    if (!existsSync(this.directory)) return;
    try {
      if (!this.child) await this.launch();
      await this.destroySessions();
      await this.terminate();
    } finally {
      this.clear();
    }
  }

  /** What a power cut does: everything ends at once, the sessions' processes too. */
  crash(): void {
    const left = this.child?.pid === undefined ? [] : descendants(this.child.pid);
    for (const { pid } of left) {
      try {
        process.kill(pid, "SIGKILL");
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, "ESRCH", "it went with another");
      }
    }
  }

  /** Ends whatever an orderly stop has left, so that a failed test disturbs no other. */
  private clear(): void {
    this.crash();
    this.lastLogs = this.logs();
    rmSync(this.directory, { recursive: true, force: true });
  }

  async destroySessions(): Promise<void> {
    const client = this.client();
    const { json } = await client.expect(200, "GET", "/v1/sessions", { query: { limit: 200 } });
    for (const { session_id } of json.sessions as { session_id: string }[]) {
      const { status } = await client.send("DELETE", `/v1/sessions/${session_id}`);
      assert([204, 404].includes(status), `destroy: ${status}`);
    }
  }
}
