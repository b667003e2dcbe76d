// SPDX-License-Identifier: Apache-2.0
// A program of its own, run with a small heap: prints what was kept of a command with very much output.
//
//   node flood.js foreground|background MEGABYTES SESSION      (INIS_BASE_URL, INIS_API_KEY; INIS_TEST_NEWEST_CORE)
import { register } from "node:module";

if (process.env.INIS_TEST_NEWEST_CORE) register("./newest-core-hooks.js", import.meta.url);
const { InisSandbox } = await import("@inis-run/mastra");

const [mode, megabytes, session] = process.argv.slice(2);
const sandbox = new InisSandbox({ session });
const command = `head -c ${megabytes}000000 /dev/zero | tr '\\0' x`;
const result =
  mode === "foreground"
    ? await sandbox.executeCommand(command, [], { timeout: 3_600_000 })
    : await (await sandbox.processes.spawn(command)).wait();
const { exitCode, stdout, stdoutTruncated, stdoutDroppedBytes } = result;
console.log(JSON.stringify({ exitCode, kept: stdout.length, stdoutTruncated, stdoutDroppedBytes }));
process.exit(0);
