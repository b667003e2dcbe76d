// SPDX-License-Identifier: Apache-2.0
// A command of an agent through Mastra: our adapter against Mastra's own sandbox on the host.
//
// All three run the same `bash -lc true` with an empty profile of the user, in one process of Node.js.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InisSandbox } from "@inis-run/mastra";
import { LocalSandbox } from "@mastra/core/workspace";

const POOL = 1;

export const adapter = {
  name: "adapter",
  async run(bench) {
    const engine = await bench.engine({ pool: POOL });
    const baseline = await bench.stopwatch();
    const home = mkdtempSync(join(tmpdir(), "inis-bench-home-"));
    bench.atEnd(() => rmSync(home, { recursive: true, force: true }));
    writeFileSync(join(home, ".bash_profile"), "");
    const ours = new InisSandbox({ baseUrl: engine.baseUrl, apiKey: engine.token });
    const none = new LocalSandbox({ workingDirectory: home, env: { HOME: home }, isolation: "none" });
    const bwrap = new LocalSandbox({
      workingDirectory: home,
      env: { HOME: home },
      isolation: "bwrap",
      nativeSandbox: { readWritePaths: [home] },
    });
    for (const sandbox of [ours, none, bwrap]) {
      await sandbox._start();
      bench.atEnd(() => sandbox._destroy());
    }
    await ours.executeCommand(': > "$HOME/.bash_profile"');
    const samples = await bench.sideBySide(bench.count(80, 3), {
      spawn: { take: () => baseline.spawn(["/bin/true"]) },
      ours: { take: () => timed(() => ours.executeCommand("true")) },
      none: { take: () => timed(() => none.executeCommand("bash", ["-lc", "true"])) },
      bwrap: { take: () => timed(() => bwrap.executeCommand("bash", ["-lc", "true"])) },
    });
    const row = (name, peer, peerSamples, bar) =>
      bench.addTimed({ name, samples: samples.ours, peer, peerSamples, bar, pool: POOL }, samples.spawn);
    row("adapter.exec.local", "LocalSandbox", samples.none, 1.2);
    row("adapter.exec.bwrap", "LocalSandbox, bwrap", samples.bwrap, 1.0);
  },
};

async function timed(run) {
  const from = performance.now();
  const result = await run();
  const ms = performance.now() - from;
  if (result.exitCode !== 0) throw new Error(`exit code ${result.exitCode}: ${result.stderr}`);
  return ms;
}
