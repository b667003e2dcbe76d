// SPDX-License-Identifier: Apache-2.0
// A command in a session that is there already: by plain HTTP on a kept connection, and by the SDK.
import { Client } from "@inis-run/sdk";
import { TRUE } from "../lib/bench.mjs";

export const exec = {
  name: "exec",
  async run(bench) {
    const engine = await bench.engine({ pool: 1 });
    const stopwatch = await bench.stopwatch(engine);
    const container = await bench.crun().start();
    bench.atEnd(() => container.stop());
    const client = new Client({ baseUrl: engine.baseUrl, token: engine.token });
    const session = await client.sessions.create();
    const path = `/v1/sessions/${session.sessionId}/exec`;
    const samples = await bench.sideBySide(bench.count(150, 3), {
      spawn: { take: () => stopwatch.spawn(["/bin/true"]) },
      crun: { take: () => container.exec() },
      http: { take: async () => check(await stopwatch.request("POST", path, TRUE)) },
      sdk: { take: () => timed(() => session.exec(TRUE.command)) },
    });
    const row = (name, subject, peer, peerSamples, bar) =>
      bench.addTimed({ name, samples: samples[subject], peer, peerSamples, bar, pool: 1 }, samples.spawn);
    row("exec.http", "http", "spawn", samples.spawn, 1.1);
    row("exec.http.crun", "http", "crun exec", samples.crun, 0.2);
    row("exec.sdk", "sdk", "spawn", samples.spawn, null);
  },
};

function check({ ms, status, text }) {
  if (status !== 200 || !text.includes('"exit_code":0')) throw new Error(`exec: ${status} ${text}`);
  return ms;
}

async function timed(run) {
  const from = performance.now();
  const result = await run();
  const ms = performance.now() - from;
  if (result.exitCode !== 0) throw new Error(`exec: exit code ${result.exitCode}`);
  return ms;
}
