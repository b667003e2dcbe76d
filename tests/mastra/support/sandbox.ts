// SPDX-License-Identifier: Apache-2.0
// One server for all tests of a process, and sandboxes on it that are gone after their tests.
import { randomUUID } from "node:crypto";
import { after, before, describe } from "node:test";
import { InisSandbox, type InisSandboxOptions } from "@inis-run/mastra";
import { Client } from "@inis-run/sdk";
import { Server } from "../../support/server.js";
import { coreName } from "./core.js";

let running: Server | undefined;

before(async () => {
  running = await Server.start();
});
after(() => running?.stop());

export function server(): Server {
  if (!running) throw new Error("the server runs only while tests do");
  return running;
}

export function client(): Client {
  return new Client({ baseUrl: server().baseUrl, token: server().token });
}

/** A sandbox that owns its session, unless the options say otherwise. */
export function makeSandbox(options: InisSandboxOptions = {}): InisSandbox {
  return new InisSandbox({ client: client(), ...options });
}

export function uniqueId(): string {
  return `test-${randomUUID()}`;
}

/** A group of tests on one sandbox, which is started before and destroyed after them. */
export function onSandbox(title: string, options: InisSandboxOptions, declare: (sandbox: () => InisSandbox) => void) {
  describe(`${title} (${coreName})`, () => {
    let sandbox: InisSandbox;
    before(async () => {
      sandbox = makeSandbox(options);
      await sandbox._start();
    });
    after(() => sandbox._destroy());
    declare(() => sandbox);
  });
}

/** Runs the work with a sandbox of its own. */
export async function withSandbox<T>(
  options: InisSandboxOptions,
  work: (sandbox: InisSandbox) => Promise<T>,
): Promise<T> {
  const sandbox = makeSandbox(options);
  try {
    return await work(sandbox);
  } finally {
    await sandbox._destroy();
  }
}

/** Command lines of the sandbox's processes whose arguments contain the text. */
export async function runningIn(sandbox: InisSandbox, text: string): Promise<string[]> {
  const script = 'for f in /proc/[0-9]*/cmdline; do tr "\\0" " " <"$f" 2>/dev/null; echo; done';
  const { stdout } = await sandbox.executeCommand(script);
  return stdout.split("\n").filter((line) => line.includes(text) && !line.includes("/proc/[0-9]*/cmdline"));
}
