// SPDX-License-Identifier: Apache-2.0
// Runs one command of a test step: its output goes to the step's log, its lines to whoever counts.
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "..", "..");
export const jobs = "2";
const logs = join(root, "build", "test-logs");

/** The log of one step; a step that failed shows its end. */
export class Log {
  constructor(step) {
    mkdirSync(logs, { recursive: true });
    this.path = join(logs, `${step.replaceAll(/[^a-z0-9-]+/gi, "-")}.log`);
    writeFileSync(this.path, "");
  }
  write(text) {
    appendFileSync(this.path, text);
  }
  tail(lines = 40) {
    return readFileSync(this.path, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
  }
}

/** Answers the exit code. With onLine, stdout is taken line by line and is not logged. */
export function run(log, command, args, { env = {}, onLine, timeoutMs = 20 * 60_000 } = {}) {
  return new Promise((done) => {
    log.write(`$ ${command} ${args.join(" ")}\n`);
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const timer = setTimeout(() => {
      log.write(`\nstill running after ${timeoutMs / 1000} s, killed\n`);
      process.kill(-child.pid, "SIGKILL");
    }, timeoutMs);
    let rest = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      if (!onLine) return log.write(text);
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      lines.forEach(onLine);
    });
    child.stderr.on("data", (data) => log.write(data));
    child.on("error", (error) => {
      log.write(`${error.message}\n`);
      clearTimeout(timer);
      done(127);
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      done(code ?? 1);
    });
  });
}

/** One result for a command that either works or does not. */
export async function check(name, log, command, args, options) {
  const code = await run(log, command, args, options);
  return code === 0 ? { name, outcome: "passed" } : { name, outcome: "failed", error: log.tail() };
}
