// SPDX-License-Identifier: Apache-2.0
// Output larger than this program's memory.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { scaled } from "../support/paths.js";
import { coreName, newest } from "./support/core.js";
import { server, withSandbox } from "./support/sandbox.js";

const program = fileURLToPath(new URL("./support/flood.js", import.meta.url));
const MEBIBYTE = 1024 * 1024;

describe(`memory (${coreName})`, () => {
  for (const [mode, title, megabytes, kept] of [
    ["foreground", "24346_foreground_output_beyond_the_heap_is_a_result", scaled(600, 100), 64 * MEBIBYTE],
    ["background", "16573_background_output_is_kept_within_its_limit", 100, MEBIBYTE],
  ] as const) {
    test(title, async () => {
      await withSandbox({}, async (sandbox) => {
        await sandbox._start();
        const env = {
          ...process.env,
          INIS_BASE_URL: server().baseUrl,
          INIS_API_KEY: server().token,
          INIS_TEST_NEWEST_CORE: newest ? "1" : "",
        };
        const args = ["--max-old-space-size=192", program, mode, String(megabytes), sandbox.session.sessionId];
        const { stdout } = await promisify(execFile)(process.execPath, args, { env });
        const total = megabytes * 1_000_000;
        const dropped = total - kept;
        assert.deepEqual(JSON.parse(stdout), {
          exitCode: 0,
          kept,
          stdoutTruncated: true,
          stdoutDroppedBytes: dropped,
        });
      });
    });
  }
});
