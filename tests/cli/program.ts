// SPDX-License-Identifier: Apache-2.0
// Runs the program `inis` as a shell would.
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { binDir } from "../support/paths.js";

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
  bytes: Buffer;
}

export interface ProgramOptions {
  env?: Record<string, string>;
  /** What stdin holds; undefined: /dev/null. */
  input?: string | Buffer;
  /** What the file holds that stdin is. */
  file?: Buffer;
  /** Leaves a pipe on stdin open and silent. */
  openStdin?: boolean;
  spawn?: SpawnOptions;
  program?: string;
}

/** The environment without any setting of ours but those given. */
export function cleanEnv(extra: Record<string, string> = {}): Record<string, string> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("INIS_"));
  return { ...(Object.fromEntries(inherited) as Record<string, string>), ...extra };
}

/** A descriptor of a file with this content and no name. */
function openFile(content: Buffer): number {
  const path = join(mkdtempSync(join(tmpdir(), "inis-stdin-")), "file");
  writeFileSync(path, content);
  const fd = openSync(path, "r");
  rmSync(dirname(path), { recursive: true });
  return fd;
}

export class Program {
  private constructor(
    readonly child: ChildProcess,
    readonly outcome: Promise<Outcome>,
  ) {}

  static start(args: string[], options: ProgramOptions = {}): Program {
    const stdin = options.file
      ? openFile(options.file)
      : options.input === undefined && !options.openStdin
        ? "ignore"
        : "pipe";
    const child = spawn(options.program ?? join(binDir, "inis"), args, {
      env: cleanEnv(options.env),
      stdio: [stdin, "pipe", "pipe"],
      ...options.spawn,
    });
    if (typeof stdin === "number") closeSync(stdin);
    child.stdin?.on("error", () => {});
    if (options.input !== undefined) child.stdin?.end(options.input);
    return new Program(child, collect(child));
  }

  /** Waits until stdout holds the text. */
  async prints(text: string): Promise<void> {
    let seen = "";
    for await (const [chunk] of onData(this.child)) {
      seen += chunk;
      if (seen.includes(text)) return;
    }
    throw new Error(`ended without printing ${JSON.stringify(text)}`);
  }
}

async function* onData(child: ChildProcess): AsyncGenerator<[string]> {
  const ended = once(child, "close").then(() => undefined);
  for (;;) {
    const event = await Promise.race([once(child.stdout!, "data") as Promise<[Buffer]>, ended]);
    if (!event) return;
    yield [event[0].toString()];
  }
}

async function collect(child: ChildProcess): Promise<Outcome> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on("data", (chunk) => stdout.push(chunk));
  child.stderr?.on("data", (chunk) => stderr.push(chunk));
  const [code] = await once(child, "close");
  const bytes = Buffer.concat(stdout);
  return { code, stdout: bytes.toString(), stderr: Buffer.concat(stderr).toString(), bytes };
}

export function inis(args: string[], options: ProgramOptions = {}): Promise<Outcome> {
  return Program.start(args, options).outcome;
}
