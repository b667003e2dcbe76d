// SPDX-License-Identifier: Apache-2.0
// Makes system calls of a running process fail, by strace: it works for static programs too, and needs no other build.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { eventually } from "../support/helpers.js";

export interface Fault {
  call: string;
  error: string;
  /** The when-th such call of a thread fails; "N+" from there on all. */
  when: string;
}

export class Injection {
  private said = "";

  private constructor(
    private readonly child: ChildProcess,
    private readonly trace: () => string,
  ) {}

  /** From here on the threads of the process meet the fault; its children do not. */
  static async begin(pid: number, fault: Fault): Promise<Injection> {
    const inject = `inject=${fault.call}:error=${fault.error}:when=${fault.when}`;
    const threads = readdirSync(`/proc/${pid}/task`).flatMap((thread) => ["-p", thread]);
    const args = ["-e", `trace=${fault.call}`, "-e", inject, ...threads];
    const child = spawn("strace", args, { stdio: ["ignore", "ignore", "pipe"] });
    let text = "";
    const injection = new Injection(child, () => text);
    child.stderr!.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    await eventually("the tracer is attached", () => {
      assert(child.exitCode === null, `strace ended: ${text}`);
      return text.split("attached").length > threads.length / 2;
    });
    return injection;
  }

  /** Lets the process go; whether a call has failed. */
  async end(): Promise<boolean> {
    const over = new Promise((resolve) => this.child.once("close", resolve));
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill("SIGINT");
      await over;
    }
    this.said = this.trace();
    return this.said.includes("(INJECTED)");
  }

  /** What the tracer saw. */
  get report(): string {
    return this.said.slice(-2000);
  }
}
