// SPDX-License-Identifier: Apache-2.0
// What a session can use up: its own share, counted over all its processes, and nothing of the machine's or of others'.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { guestInit } from "../support/footprint.js";
import type { RawClient } from "../support/http.js";
import { scaled } from "../support/paths.js";
import { Server } from "../support/server.js";
import { sh, TestSession } from "../support/session.js";

const PIDS = 96;
const DISK_MB = 64;
/** What the server itself was started with may be less. */
const FILES = Math.min(
  16_384,
  Number(/^Max open files +\d+ +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))![1]),
);

let server: Server;
let client: RawClient;
let session: TestSession;
let init: number;

before(async () => {
  server = await Server.start({ pids_max: PIDS, disk_mb: DISK_MB });
  client = server.client();
  session = await TestSession.create(client, { size: "small" });
  await session.start("marker", ["sleep", "86395"]);
  init = guestInit(server, "86395");
});
after(() => server?.stop());

/** Holds this much memory for a while. */
const hold = (mb: number) => [
  "python3",
  "-c",
  `import sys, time
block = bytearray()
for i in range(${mb} // 16):
    block += b"x" * (16 << 20)
print("held", flush=True)
time.sleep(60)`,
];

test("T7_memory_is_limited_over_all_processes_of_a_session", async () => {
  const other = await TestSession.create(client, { size: "small" });
  // Each alone would fit.
  await Promise.all(["one", "two"].map((name) => session.start(name, hold(640))));
  const first = await Promise.race(["one", "two"].map((name) => session.exited(name)));
  assert.equal(first.oom, true, `one is killed for want of memory: ${JSON.stringify(first)}`);
  await Promise.all(["one", "two"].map((name) => session.kill(name, { grace_ms: 0 })));
  assert.equal(await session.output("echo alive"), "alive\n");
  assert.equal((await session.process("marker")).state, "running", "only who asks for too much goes");
  assert.equal(await other.output("echo undisturbed"), "undisturbed\n");
  await other.destroy();
});

test("shared_memory_is_counted_and_bounded", async () => {
  const size = await session.output("stat -f -c '%b %S' /dev/shm");
  const [blocks, block] = size.trim().split(" ").map(Number);
  assert(blocks! * block! <= 1024 << 20, `/dev/shm of ${size}`);
  const { exit_code } = await session.exec(
    sh("head -c 1200M /dev/zero >/dev/shm/fill; r=$?; rm -f /dev/shm/fill; exit $r"),
  );
  assert.notEqual(exit_code, 0);
});

test("what_a_session_asks_for_first_goes_first_when_memory_runs_out", async () => {
  // A command has its score a moment after its start, and gives it to what it starts then.
  assert.equal((await session.output("sleep 0.5; cat /proc/self/oom_score_adj")).trim(), "300");
  assert(Number(readFileSync(`/proc/${init}/oom_score_adj`, "utf8")) < 300, "PID 1 is not the first to go");
});

/** Starts processes until the kernel says no, or twice the limit. */
const FORKS = `
import os, signal
children = []
try:
    while len(children) < ${2 * PIDS}:
        pid = os.fork()
        if pid == 0: signal.pause()
        children.append(pid)
except OSError: pass
print(len(children))
for pid in children: os.kill(pid, 9)`;

test("T7_processes_are_limited_over_all_commands_of_a_session", async () => {
  const counts = await Promise.all([1, 2].map(() => session.exec(["python3", "-c", FORKS])));
  const all = counts.map(({ stdout }) => Number(stdout));
  // Both count what they had while the other had its own; neither can have had more than there are.
  assert(
    all.every((count) => count < PIDS),
    `${all} processes`,
  );
  assert.equal(await session.output("echo alive"), "alive\n");
});

/** The value of a file of the session's cgroup, whichever hierarchy has the controller. */
function limit(controller: string, v1: string, v2: string): string {
  const lines = readFileSync(`/proc/${init}/cgroup`, "utf8").trim().split("\n");
  const row = lines.find((line) => line.split(":")[1]!.split(",").includes(controller));
  if (row) return readFileSync(`/sys/fs/cgroup/${controller}${row.split(":")[2]}/${v1}`, "utf8").trim();
  // The agent is in a leaf; the limits are the unit's.
  const path = lines.find((line) => line.startsWith("0::"))!.slice(3);
  const candidates = [path, path.slice(0, path.lastIndexOf("/"))].map((dir) => `/sys/fs/cgroup${dir}/${v2}`);
  const file = candidates.find((name) => existsSync(name) && !readFileSync(name, "utf8").startsWith("max"));
  return file ? readFileSync(file, "utf8").trim() : "max";
}

test("T7_limits_are_the_cgroup's", () => {
  assert.equal(limit("pids", "pids.max", "pids.max"), String(PIDS));
  assert.equal(limit("memory", "memory.limit_in_bytes", "memory.max"), String(1024 << 20));
  const quota = limit("cpu", "cpu.cfs_quota_us", "cpu.max").split(" ")[0];
  const period = limit("cpu", "cpu.cfs_period_us", "cpu.max").split(" ").at(-1);
  assert.equal(Number(quota) / Number(period), 1, "one CPU");
});

test("the_disk_and_its_inodes_are_the_session's", async () => {
  const fill = await session.exec(sh("head -c 100M /dev/zero >/workspace/fill"));
  assert.notEqual(fill.exit_code, 0);
  assert.match(fill.stderr, /No space left/);
  // A file that is deleted and still open counts as well.
  const hidden = await session.exec(
    sh("rm -f /workspace/fill; exec 9>/workspace/hidden; rm /workspace/hidden; head -c 100M /dev/zero >&9"),
  );
  assert.notEqual(hidden.exit_code, 0);
  const inodes = `
import os
os.mkdir("/workspace/many")
try:
    for i in range(30000): os.mknod(f"/workspace/many/{i}")
    print("no limit")
except OSError as error: print(os.strerror(error.errno))`;
  assert.equal((await session.exec(["python3", "-c", inodes])).stdout, "No space left on device\n");
  await session.output("rm -rf /workspace/many && echo room >/workspace/room");
});

test("T7_the_open_files_of_a_process_are_limited", async () => {
  const open = `
import os, resource
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
try:
    for n in range(${8 * FILES}): os.open("/dev/null", os.O_RDONLY)
except OSError as error: print(soft, hard, os.strerror(error.errno))`;
  for (const who of [[], ["sudo", "-n"]]) {
    const { stdout, stderr } = await session.exec([...who, "python3", "-c", open]);
    assert.equal(stdout, `${FILES} ${FILES} Too many open files\n`, stderr);
  }
  assert.equal(await session.output("echo alive"), "alive\n");
});

test("nothing_dumps_core", async () => {
  assert.equal(await session.output("ulimit -Hc; ulimit -Sc"), "0\n0\n");
  const crash = await session.exec(sh("cd /workspace && sh -c 'kill -SEGV $$'; ls -a | grep -c core"));
  assert.equal(crash.stdout, "0\n");
});

test("orphans_are_reaped_and_the_count_falls_back", async () => {
  const orphans = `
import os, time
for i in range(${scaled(1000, 200)}):
    if os.fork() == 0:
        if os.fork() == 0: os._exit(0)
        os._exit(0)
    os.wait()`;
  assert.equal((await session.exec(["python3", "-c", orphans])).exit_code, 0);
  const zombies = "grep -l '^State:.*zombie' /proc/[0-9]*/status 2>/dev/null | wc -l";
  assert.equal((await session.output(zombies)).trim(), "0");
});
