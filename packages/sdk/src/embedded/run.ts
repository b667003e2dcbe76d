// SPDX-License-Identifier: Apache-2.0
// Runs `inis env --json` and reads the engine's address and key from it.

import type { ChildProcess } from "node:child_process";
import type { Endpoint } from "../endpoint.js";
import { InisError } from "../errors.js";
import { nodeModule } from "../node.js";
import { asObject } from "../wire.js";

/** The engine's first start on a machine may have to unpack things. */
const LIMIT_MS = 120_000;
/** How long output may still come after the program's end. */
const DRAIN_MS = 500;
const MAX_OUTPUT = 64 * 1024;

interface Outcome {
  stdout: string;
  stderr: string;
  /** Exit code or signal, or why it did not run. */
  end: string;
  ok: boolean;
  cause?: unknown;
}

export async function askEngine(program: string): Promise<Endpoint> {
  const { spawn } = await nodeModule("node:child_process", "the embedded engine");
  const outcome = await run(spawn(program, ["env", "--json"], { stdio: ["ignore", "pipe", "pipe"] }));
  if (!outcome.ok) throw failed(program, outcome, outcome.end);
  const endpoint = parse(outcome.stdout);
  if (!endpoint) throw failed(program, outcome, "its answer has no base_url and token");
  return endpoint;
}

function parse(text: string): Endpoint | undefined {
  try {
    const { base_url, token } = asObject(JSON.parse(text));
    if (typeof base_url !== "string" || typeof token !== "string" || !base_url || !token) return undefined;
    return { baseUrl: base_url.replace(/\/$/, ""), token };
  } catch {
    return undefined;
  }
}

function failed(program: string, outcome: Outcome, why: string): InisError {
  const said = outcome.stderr.trim();
  return new InisError(`the inis engine did not start: \`${program} env\` failed (${why})${said ? `: ${said}` : ""}`, {
    code: "engine_failed",
    cause: outcome.cause,
  });
}

/**
 * Waits for the program's end, not for the end of its output: an engine that it started in the background may have
 * inherited the pipes.
 */
function run(child: ChildProcess): Promise<Outcome> {
  return new Promise((resolve) => {
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name]?.setEncoding("utf8").on("data", (text: string) => {
        output[name] = (output[name] + text).slice(0, MAX_OUTPUT);
      });
    }
    const finish = (end: string, ok: boolean, cause?: unknown): void => {
      clearTimeout(limit);
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve({ ...output, end, ok, cause });
    };
    const limit = setTimeout(() => {
      child.kill("SIGKILL");
      finish(`no answer in ${LIMIT_MS / 1000} s`, false);
    }, LIMIT_MS);
    child.once("error", (error) => finish(error.message, false, error));
    child.once("exit", (code, signal) => {
      const done = (): void => finish(signal ?? `exit code ${code}`, code === 0);
      const drained = setTimeout(done, DRAIN_MS);
      child.once("close", () => {
        clearTimeout(drained);
        done();
      });
    });
  });
}
