// SPDX-License-Identifier: Apache-2.0
// A session without isolation: a server that runs commands and keeps files in a folder of this machine, with just what
// the code interpreter uses. The kernel that runs on it is the real one.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Exchange, FakeServer, json } from "./fake-server.js";

export class LocalSession {
  readonly server: FakeServer;
  readonly folder: string;
  process: ChildProcess | undefined;
  readonly #commands = new Set<ChildProcess>();

  private constructor(server: FakeServer, folder: string) {
    this.server = server;
    this.folder = folder;
  }

  static async start(): Promise<LocalSession> {
    const folder = await mkdtemp(join(tmpdir(), "inis-sdk-"));
    let it: LocalSession | undefined;
    const server = await FakeServer.start((exchange) => it?.serve(exchange));
    it = new LocalSession(server, folder);
    return it;
  }

  /** The place on this machine of a path in the session. */
  local(text: string): string {
    return text.replaceAll("/workspace", this.folder);
  }

  async kill(): Promise<void> {
    if (!this.process || this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.kill("SIGKILL");
    await once(this.process, "exit");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    for (const command of this.#commands) {
      command.kill("SIGKILL");
      await once(command, "close");
    }
    await this.server[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true });
  }

  async serve(exchange: Exchange): Promise<void> {
    const { method, url, body } = exchange.recorded;
    const { pathname, searchParams } = new URL(url, "http://x");
    const call = `${method} ${pathname.replace("/v1/sessions/abc", "")}`;
    if (call === "POST /exec") return json(200, await this.#exec(JSON.parse(body)))(exchange);
    if (call === "PUT /files") return json(200, await this.#write(JSON.parse(body)))(exchange);
    if (call === "GET /files") return this.#read(searchParams, exchange);
    if (call === "POST /processes") return json(200, this.#startProcess(JSON.parse(body)))(exchange);
    if (call === "DELETE /processes/inis-kernel") await this.kill();
    if (!this.process) return json(404, { error: "no such process", code: "not_found" })(exchange);
    json(200, this.#processState())(exchange);
  }

  async #exec({ command }: { command: string[] }) {
    const [program = "", ...args] = command.map((word) => this.local(word));
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
    this.#commands.add(child);
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    const [exitCode] = await once(child, "close");
    this.#commands.delete(child);
    return { stdout, stderr: "", exit_code: exitCode, duration_ms: 1, timed_out: false };
  }

  async #write({ path, content }: { path: string; content: string }) {
    await mkdir(dirname(this.local(path)), { recursive: true });
    await writeFile(this.local(path), content);
    return {};
  }

  async #read(query: URLSearchParams, exchange: Exchange): Promise<void> {
    try {
      const bytes = await readFile(this.local(query.get("path") ?? ""));
      const encoding = query.get("encoding");
      json(200, { content: bytes.toString(encoding === "base64" ? "base64" : "utf8"), encoding })(exchange);
    } catch {
      json(404, { error: "no such file or directory", code: "not_found" })(exchange);
    }
  }

  #startProcess({ command }: { command: string[] }) {
    const [program = "", ...args] = command.map((word) => this.local(word));
    this.process = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"], cwd: this.folder });
    return this.#processState();
  }

  #processState() {
    const running = this.process?.exitCode === null && this.process.signalCode === null;
    return { name: "inis-kernel", state: running ? "running" : "exited" };
  }
}
