// SPDX-License-Identifier: Apache-2.0
// The measuring program (bench/native) as an object: one command at a time, times in milliseconds.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export class Stopwatch {
  #child;
  #lines;
  #stderr = "";

  /** With `wrapper`, the program runs below that command: in another namespace, say. */
  constructor(program, wrapper = []) {
    const [command, ...args] = [...wrapper, program];
    this.#child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
    this.#child.on("error", (error) => {
      this.#stderr += error.message;
    });
    this.#child.stdin.on("error", () => {}); // its end is seen on its output
    this.#child.stderr.setEncoding("utf8").on("data", (text) => {
      this.#stderr = (this.#stderr + text).slice(-4000);
    });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** The words of the answer behind "ok"; throws what it refused. */
  async #ask(...words) {
    if (words.some((word) => /[\t\n]/.test(String(word)))) throw new Error("tabs and newlines separate words");
    this.#child.stdin.write(`${words.join("\t")}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`the stopwatch has ended: ${this.#stderr}`);
    const [outcome, ...rest] = value.split("\t");
    if (outcome !== "ok") throw new Error(`${words[0]}: ${rest.join(" ")}`);
    return rest;
  }

  /** Milliseconds of one program of the host, from its start to its end. */
  async spawn(argv) {
    const [ns, status] = await this.#ask("spawn", ...argv);
    if (status !== "0") throw new Error(`${argv.join(" ")}: wait status ${status}`);
    return ns / 1e6;
  }

  async spawnMany(count, atOnce, argv) {
    const [ns, failed] = await this.#ask("spawns", count, atOnce, ...argv);
    return { ms: ns / 1e6, failed: Number(failed) };
  }

  async target(engine) {
    await this.#ask("target", engine.port, engine.token);
  }

  async request(method, path, body) {
    const [ns, status, text] = await this.#ask("request", method, path, body === undefined ? "" : JSON.stringify(body));
    return { ms: ns / 1e6, status: Number(status), text };
  }

  /** A create and its first command. */
  async session(create, exec) {
    const [ns, id] = await this.#ask("session", JSON.stringify(create), JSON.stringify(exec));
    return { ms: ns / 1e6, id };
  }

  async burst(count, create, exec) {
    const [ns, failed, ids] = await this.#ask(
      "burst",
      count,
      JSON.stringify(create),
      exec ? JSON.stringify(exec) : "-",
    );
    return { ms: ns / 1e6, failed: Number(failed), ids: ids ? ids.split(",") : [] };
  }

  async steady(seconds, connections, create, exec) {
    const [ns, cycles, failed] = await this.#ask(
      "steady",
      seconds,
      connections,
      JSON.stringify(create),
      JSON.stringify(exec),
    );
    return { seconds: ns / 1e9, cycles: Number(cycles), failed: Number(failed) };
  }

  async fetch(method, path, body, file = "-") {
    const [ns, bytes, sha256] = await this.#ask("fetch", method, path, body ? JSON.stringify(body) : "", file);
    return { ms: ns / 1e6, bytes: Number(bytes), sha256 };
  }

  async put(path, bytes) {
    const [ns, text] = await this.#ask("put", path, bytes);
    return { ms: ns / 1e6, ...JSON.parse(text) };
  }

  async copy(bytes, file) {
    const [ns, sha256] = await this.#ask("copy", bytes, file);
    return { ms: ns / 1e6, sha256 };
  }

  async close() {
    const ended = new Promise((resolve) => this.#child.once("close", resolve));
    this.#child.stdin.end();
    if (this.#child.exitCode === null && this.#child.signalCode === null) await ended;
  }
}
