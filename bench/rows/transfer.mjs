// SPDX-License-Identifier: Apache-2.0
// Many bytes: files up and down, and a command's output.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { daemons, pss } from "../lib/footprint.mjs";

const MIB = 1 << 20;
const POOL = 1;

export const transfer = {
  name: "transfer",
  async run(bench) {
    const bytes = bench.count(1024, 32) * MIB;
    const { engine, stopwatch, path } = await session(bench);
    const file = join(scratch(bench), "file");
    const url = `${path}/files/stream?path=big`;
    let sha;
    const memory = [];
    const watched = async (work) => {
      const timer = setInterval(() => memory.push(pss(daemons(engine)).withoutFiles), 100);
      return work().finally(() => clearInterval(timer));
    };
    const idle = pss(daemons(engine)).withoutFiles;
    const samples = await bench.sideBySide(bench.count(3), {
      socket: {
        take: async () => {
          const copied = await stopwatch.copy(bytes, file);
          sha = copied.sha256;
          return copied.ms;
        },
      },
      up: { take: async () => same(sha, await watched(() => stopwatch.put(url, bytes))) },
      down: { take: async () => same(sha, await watched(() => stopwatch.fetch("GET", url, null, file))) },
    });
    const size = `${bytes / MIB} MiB`;
    for (const direction of ["up", "down"]) {
      bench.addTimed({
        name: `file.${direction}`,
        samples: samples[direction],
        peer: `socket, ${size}`,
        peerSamples: samples.socket,
        bar: 1.5,
        pool: POOL,
      });
    }
    // Flat: what a few windows and buffers take, however many bytes went by.
    bench.add({
      name: "file.daemon-growth",
      unit: "KiB",
      samples: [Math.max(0, Math.max(...memory) - idle)],
      bar: 4096,
      pool: POOL,
    });
  },
};

export const stream = {
  name: "stream",
  async run(bench) {
    const bytes = bench.count(256, 16) * MIB;
    const { stopwatch, path } = await session(bench);
    const file = join(scratch(bench), "file");
    const command = ["head", "-c", String(bytes), "/dev/zero"];
    const rate = (ms) => bytes / MIB / (ms / 1000);
    const samples = await bench.sideBySide(bench.count(5, 1), {
      socket: { take: async () => rate((await stopwatch.copy(bytes, file)).ms) },
      stream: {
        take: async () => {
          const got = await stopwatch.fetch("POST", `${path}/exec?stream=true`, { command });
          // Base64 in events: at least four bytes for three.
          if (got.bytes < (bytes / 3) * 4) throw new Error(`${got.bytes} bytes of events for ${bytes} bytes`);
          return rate(got.ms);
        },
      },
    });
    bench.add({
      name: "stream.stdout",
      unit: "MiB/s",
      samples: samples.stream,
      peer: "socket",
      peerSamples: samples.socket,
      pool: POOL,
    });
  },
};

async function session(bench) {
  const engine = await bench.engine({ pool: POOL });
  const stopwatch = await bench.stopwatch(engine);
  const { status, text } = await stopwatch.request("POST", "/v1/sessions", {});
  if (status !== 201) throw new Error(`create: ${status} ${text}`);
  return { engine, stopwatch, path: `/v1/sessions/${JSON.parse(text).session_id}` };
}

function scratch(bench) {
  const directory = mkdtempSync(join(tmpdir(), "inis-bench-files-"));
  bench.atEnd(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function same(expected, { sha256, ms }) {
  if (sha256 !== expected) throw new Error(`SHA-256 ${sha256} instead of ${expected}`);
  return ms;
}
