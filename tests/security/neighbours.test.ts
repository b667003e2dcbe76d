// SPDX-License-Identifier: Apache-2.0
// Two sessions and the machine: nothing of one can be seen, named or signalled from another.
import assert from "node:assert/strict";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { guestInit } from "../support/footprint.js";
import { sh, TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";

let other: TestSession;
const t = suite({}, async () => {
  other = await TestSession.create(t.client);
  await t.session.start("marker", ["sleep", "86397"]);
  await other.start("marker", ["sleep", "86396"]);
});

const NAMESPACES = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"];

test("every_namespace_is_the_session's_own", () => {
  const inits = [guestInit(t.server, "86397"), guestInit(t.server, "86396")];
  for (const kind of NAMESPACES) {
    const all = ["self", ...inits].map((pid) => readlinkSync(`/proc/${pid}/ns/${kind}`));
    assert.equal(new Set(all).size, all.length, kind);
  }
});

test("shared_memory_of_another_session_does_not_exist", async () => {
  const id = /(\d+)/.exec(await other.output("ipcmk -M 4096 -p 0666"))![1]!;
  const seen = await t.session.output("cat /proc/sysvipc/shm | tail -n +2");
  assert.equal(seen, "");
  assert.notEqual((await t.session.exec(["sudo", "-n", "ipcrm", "-m", id])).exit_code, 0);
  assert.match(await other.output("cat /proc/sysvipc/shm"), new RegExp(`\\b${id}\\b`));
  await other.output("echo mine >/dev/shm/mine");
  assert.equal(await t.session.output("ls /dev/shm"), "");
});

test("processes_of_others_are_neither_seen_nor_signalled", async () => {
  const seen = await t.session.output("cat /proc/[0-9]*/cmdline | tr '\\0' ' '");
  assert.match(seen, /sleep 86397/);
  assert.doesNotMatch(seen, /86396|inisd|inis-broker/);
  // By the pid that it has on the machine, and by all pids that there are.
  const pid = guestInit(t.server, "86396");
  await t.session.exec(sh(`sudo -n kill -9 ${pid}; sudo -n kill -9 -1`));
  assert.equal((await other.process("marker")).state, "running");
  assert.equal(await other.output("echo alive"), "alive\n");
});

test("an_abstract_socket_of_the_machine_or_of_another_session_cannot_be_reached", async () => {
  const listen =
    "import socket, time; s = socket.socket(socket.AF_UNIX); s.bind('\\0neighbour'); s.listen(); print('up', flush=True); time.sleep(600)";
  await other.start("listener", ["python3", "-c", listen]);
  for await (const event of await other.follow("listener")) if (event.bytes.toString() === "up\n") break;
  const dial = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('\\0neighbour')";
  assert.notEqual((await t.session.exec(["python3", "-c", dial])).exit_code, 0);
  assert.equal((await other.exec(["python3", "-c", dial])).exit_code, 0);
  const host = readFileSync("/proc/net/unix", "utf8")
    .split("\n")
    .slice(1)
    .map((line) => line.split(/\s+/)[7]);
  const inside = (await t.session.output("cat /proc/net/unix"))
    .split("\n")
    .slice(1)
    .map((line) => line.split(/\s+/)[7]);
  const shared = inside.filter((path) => path !== undefined && path !== "" && host.includes(path));
  assert.deepEqual(shared, []);
});

test("T9_a_create_changes_no_file_of_the_base", async () => {
  const templates = join(t.server.stateDir, "templates");
  const stamps = () =>
    readdirSync(templates, { recursive: true, encoding: "utf8" })
      .filter((name) => name.includes("/root") || name.includes("/mask"))
      .map((name) => {
        const { uid, gid, ctimeMs } = lstatSync(join(templates, name));
        return `${name} ${uid}:${gid} ${ctimeMs}`;
      })
      .sort();
  const before = stamps();
  assert(before.length > 20, `${before.length} files of the base`);
  const usr = lstatSync("/usr/bin/env").ctimeMs;
  const third = await TestSession.create(t.client);
  await third.output("sudo -n chown -R root /workspace && sudo -n touch /etc/passwd");
  await third.destroy();
  assert.deepEqual(stamps(), before);
  assert.equal(lstatSync("/usr/bin/env").ctimeMs, usr);
});
