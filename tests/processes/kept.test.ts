// SPDX-License-Identifier: Apache-2.0
// How much is kept of ended sessions is bounded: by the operator's settings, and against agents that have been broken.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "../support/contract.js";
import { loopsBelow } from "../support/footprint.js";
import { eventually } from "../support/helpers.js";
import { scaled } from "../support/paths.js";
import { Server } from "../support/server.js";
import { sh, TestSession } from "../support/session.js";

const MiB = 1024 * 1024;
const ENDED = { ended: true };

async function withServer(config: JsonObject, work: (server: Server) => Promise<void>): Promise<void> {
  const server = await Server.start(config);
  try {
    await work(server);
  } finally {
    await server.stop();
  }
}

/** Runs a script in the spool directory of the one session of a server, as whoever has broken its agent could. */
function inSpool(server: Server, script: string): void {
  const device = loopsBelow(server.stateDir)
    .map((name) => `/dev/${name}`)
    .find((path) => onDisk(server, path, "ls -A") !== "");
  assert(device, "the session's disk");
  onDisk(server, device, script);
}

/** Mounted in a namespace of its own: a server that starts meanwhile would take a copy of the mount along, and keep it. */
function onDisk(server: Server, device: string, script: string): string {
  const at = join(server.stateDir, "mnt");
  const whole = `mount -t ext4 "$1" "$2"; cd "$2/spool"; ${script}`;
  mkdirSync(at);
  const { status, stdout, stderr } = spawnSync("unshare", ["-m", "sh", "-ec", whole, "sh", device, at], {
    encoding: "utf8",
  });
  rmdirSync(at);
  assert.equal(status, 0, `${script}: ${stderr}`);
  return stdout;
}

/** Destroys the session and returns what the server has put aside of it. */
async function destroyed(server: Server, session: TestSession): Promise<string[]> {
  await session.destroy();
  const directory = join(server.stateDir, "logs", session.id);
  const front = lstatSync(join(server.stateDir, "logs")).uid;
  const names = readdirSync(directory);
  let bytes = 0;
  for (const name of names) {
    const { mode, uid, size, nlink } = lstatSync(join(directory, name));
    assert.deepEqual([mode, uid, nlink], [0o100600, front, 1], name);
    bytes += size;
  }
  assert.notEqual(front, 0);
  assert(names.length <= 4096 && bytes <= 67 * MiB, `${names.length} files, ${bytes} bytes`);
  return names;
}

test("P5_what_a_broken_agent_leaves_is_refused_and_has_no_effect_outside", { timeout: 600_000 }, () =>
  withServer({ pool: 0 }, async (server) => {
    const session = await TestSession.create(server.client());
    await session.start("good", sh("echo good"));
    await session.exited("good");
    inSpool(
      server,
      `
      ln -s /etc/passwd link@out@0000000000000000
      ln -s ${server.keyFile} good@err@0000000000000000
      mkfifo fifo@out@0000000000000000
      mknod zero@out@0000000000000000 c 1 5
      mkdir dir@out@0000000000000000
      echo x >twice@out@0000000000000000; ln twice@out@0000000000000000 twice@err@0000000000000000
      truncate -s 10G sparse@out@0000000000000000
      echo x >"odd name@out@0000000000000000"; echo x >..out; echo x >.hidden; echo x >a@out@zz
      echo x >far@out@ffffffffffffffff
      echo fine >other@out@0000000000000000
    `,
    );
    const names = await destroyed(server, session);
    assert.deepEqual(names.sort(), ["good@out@0000000000000000", "other@out@0000000000000000", "table"]);
    assert.deepEqual(
      (await session.processes(ENDED)).map(({ name }) => name),
      ["good"],
    );
    assert.equal((await session.logs("good", ENDED)).stdout, "good\n");
    await session.expect(404, "GET", "/processes/other/logs", { query: ENDED });
  }),
);

test("P5_however_many_files_and_bytes_an_agent_leaves_few_are_kept", { timeout: 600_000 }, () =>
  withServer({ pool: 0 }, async (server) => {
    const session = await TestSession.create(server.client());
    await session.start("good", sh("echo good"));
    await session.exited("good");
    const count = scaled(100_000, 20_000);
    inSpool(
      server,
      `
      python3 -c "for i in range(${count}): open('p%d@out@0000000000000000' % i, 'w').write('x')"
      python3 -c "for i in range(100): open('q@out@%016x' % (i << 20), 'wb').write(b'y' * (1 << 20))"
    `,
    );
    const names = await destroyed(server, session);
    assert(names.length > 1000, "an honest part is kept");
  }),
);

test("P5_records_that_make_no_sense_are_not_there", () =>
  withServer({ pool: 0 }, async (server) => {
    const session = await TestSession.create(server.client());
    await session.start("first", sh("exit 1"));
    await session.exited("first");
    await session.start("second", sh("exit 2"));
    await session.exited("second");
    inSpool(
      server,
      `python3 - <<'E'
import random
random.seed(5)
t = open('table', 'rb').read()
good = t[2048:4096]
slots = [bytes(random.randrange(256) for _ in range(2048)) for _ in range(50)]
for at in range(0, 120): slots.append(good[:at] + bytes([good[at] ^ 0xff]) + good[at + 1:])
slots.append(good[:4] + b'\\xff\\xff\\xff\\x7f' + good[8:])
open('table', 'wb').write(b''.join(slots) + good + good[:1000])
E`,
    );
    await session.destroy();
    const list = await session.processes(ENDED);
    assert(list.length >= 1);
    assert.equal((await session.process("second", ENDED)).name, "second");
    await session.expect(404, "GET", "/processes/first", { query: ENDED });
  }));

test("P5_the_oldest_logs_give_way_when_there_are_too_many", () =>
  withServer({ logs_max_mb: 10, pool: 1 }, async (server) => {
    const sessions: TestSession[] = [];
    for (let i = 0; i < 4; i++) {
      const session = await TestSession.create(server.client());
      await session.start("big", sh(`yes ${i} | head -c 4000000`));
      await session.exited("big");
      await session.destroy();
      sessions.push(session);
    }
    const kept = () => readdirSync(join(server.stateDir, "logs")).sort();
    const newest = sessions
      .slice(2)
      .map(({ id }) => id)
      .sort();
    await eventually("two are left", () => {
      assert.deepEqual(kept(), newest);
      return true;
    });
    assert.deepEqual(await sessions[0]!.processes(ENDED), []);
    assert.equal((await sessions[3]!.logs("big", ENDED)).stdout.length, 4_000_000);
  }));

test("P5_nothing_is_kept_when_the_operator_says_so", async () => {
  await withServer({ logs_keep_hours: 0 }, async (server) => {
    const session = await TestSession.create(server.client());
    await session.start("p", sh("echo secret"));
    await session.exited("p");
    await session.destroy();
    assert.deepEqual(readdirSync(join(server.stateDir, "logs")), []);
    assert.deepEqual(await session.processes(ENDED), []);
  });
});

test("P5_a_guest_cannot_reach_the_directory_of_its_logs", () =>
  withServer({ pool: 0 }, async (server) => {
    const session = await TestSession.create(server.client());
    await session.start("p", sh("echo text-of-a-log; exec sleep 600"));
    await eventually("it has begun", async () => (await session.logs("p")).stdout !== "");
    const script = `
      for f in /proc/1/fd/*; do ls "$f/" "$f/.." >/dev/null 2>&1 && echo "reached $f"; done
      grep -rl text-of-a-log /run /tmp /var/tmp 2>/dev/null | wc -l
      find / -xdev -name '*@out@*' 2>/dev/null | wc -l`;
    for (const prefix of [[], ["sudo", "-n"]]) {
      const { stdout, exit_code, stderr } = await session.exec([...prefix, ...sh(script)]);
      assert.deepEqual([stdout, exit_code], ["0\n0\n", 0], stderr);
    }
  }));
