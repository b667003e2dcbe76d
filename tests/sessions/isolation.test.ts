// SPDX-License-Identifier: Apache-2.0
// What a session cannot see or reach: the network, the host, other sessions, the secrets of others.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { descendants } from "../support/footprint.js";
import { sh, TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite({ egress: { mode: "allow" } });

test("the_egress_that_is_shown_is_the_one_in_force", async () => {
  assert.deepEqual((await t.session.get()).egress, { mode: "deny", allow: [] });
  const { json } = await t.session.expect(200, "GET", "/egress");
  assert.deepEqual(json, { session_id: t.session.id, mode: "deny", allow: [] });
});

test("there_is_no_network_but_the_session's_own_loopback", async () => {
  assert.equal((await t.session.output("cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' '")).trim(), "lo");
  const probe = `
import socket
def reach(family, address):
    s = socket.socket(family, socket.SOCK_STREAM); s.settimeout(3)
    try: s.connect(address); return True
    except OSError: return False
port = int(__import__("sys").argv[1])
print(reach(socket.AF_INET, ("127.0.0.1", port)), reach(socket.AF_INET6, ("::1", port)))
server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen()
print(reach(socket.AF_INET, server.getsockname()))`;
  const port = new URL(t.server.baseUrl).port;
  assert.equal((await t.session.exec(["python3", "-c", probe, port])).stdout, "False False\nTrue\n");
});

test("the_host's_processes_files_and_name_are_not_visible", async () => {
  const commands = await t.session.output("cat /proc/[0-9]*/cmdline | tr '\\0' ' '");
  assert.doesNotMatch(commands, /inisd|inis-broker|node/);
  assert.notEqual((await t.session.output("hostname")).trim(), hostname());
  const absent = [
    t.server.stateDir,
    t.server.keyFile,
    process.cwd(),
    "/root/.ssh",
    "/var/lib/inis",
    "/run/docker.sock",
  ];
  for (const path of absent) assert.notEqual((await t.session.exec(["sudo", "ls", path])).exit_code, 0, path);
  if (existsSync("/etc/shadow")) {
    const shadow = await t.session.exec(["sudo", "cat", "/etc/shadow"]);
    assert.notEqual(shadow.stdout, readFileSync("/etc/shadow", "utf8"));
  }
});

test("root_in_the_guest_is_not_root_of_the_machine", async () => {
  const map = (await t.session.output("cat /proc/self/uid_map")).trim().split(/\s+/).map(Number);
  assert(map[1]! >= 65_536, `guest root is uid ${map[1]} outside`);
  for (const command of [
    "mount -t tmpfs none /mnt",
    "echo 1 >/proc/sys/kernel/sysrq",
    "mknod /tmp/disk b 8 0 && head -c 1 /tmp/disk",
    "dmesg",
    "unshare -Ur true",
  ]) {
    const result = await t.session.exec(["sudo", "sh", "-c", command]);
    assert.notEqual(result.exit_code, 0, command);
  }
});

test("the_base_is_read_only_and_a_session_leaves_no_trace_in_it", async () => {
  assert.notEqual((await t.session.exec(sh("sudo touch /usr/bin/inis-was-here"))).exit_code, 0);
  assert(!existsSync("/usr/bin/inis-was-here"));
});

test("S14_a_new_session_holds_nothing_of_an_old_one", async () => {
  const first = await TestSession.create(t.client);
  await first.output(
    "for d in /workspace /tmp /var/tmp ~ /dev/shm; do echo mine >$d/inis-trace; done; sudo touch /etc/inis-trace /root/inis-trace",
  );
  const other = await TestSession.create(t.client);
  const find = "sudo find / -xdev -name inis-trace 2>/dev/null; sudo find /tmp /dev/shm /workspace -name inis-trace";
  assert.equal((await other.exec(sh(find))).stdout, "");
  await first.destroy();
  const next = await TestSession.create(t.client);
  assert.equal((await next.exec(sh(find))).stdout, "");
  await next.destroy();
  await other.destroy();
});

test("sessions_do_not_see_one_another", async () => {
  const other = await TestSession.create(t.client);
  await other.start("listener", [
    "python3",
    "-c",
    "import socket, time; s = socket.socket(socket.AF_UNIX); s.bind('\\0shared-name'); s.listen(); print('up', flush=True); time.sleep(600)",
  ]);
  for await (const event of await other.follow("listener")) if (event.bytes.toString() === "up\n") break;
  const connect = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('\\0shared-name')";
  assert.notEqual((await t.session.exec(["python3", "-c", connect])).exit_code, 0);
  assert.equal((await other.exec(["python3", "-c", connect])).exit_code, 0);
  assert.deepEqual(await t.session.running("shared-name"), []);
  assert.notEqual(
    await t.session.output("readlink /proc/self/ns/net"),
    await other.output("readlink /proc/self/ns/net"),
  );
  await other.destroy();
});

/** Forks until the kernel says no, then prints the error and how many there were. */
const FORK_BOMB = `
import os, signal
children = []
try:
    while len(children) < 30000:
        pid = os.fork()
        if pid == 0: signal.pause()
        children.append(pid)
    print("no limit")
except OSError as error:
    print(os.strerror(error.errno), len(children))
for pid in children: os.kill(pid, 9)`;

test("P11_a_fork_bomb_meets_the_limit_of_its_session", async () => {
  const other = await TestSession.create(t.client);
  const bomb = t.session.exec(["python3", "-c", FORK_BOMB]);
  for (let i = 0; i < 5; i++) assert.equal(await other.output("echo undisturbed"), "undisturbed\n");
  assert.match((await bomb).stdout, /^Resource temporarily unavailable \d+\n$/);
  assert.equal(await t.session.output("echo alive"), "alive\n");
  await other.destroy();
});

test("L15_secrets_appear_in_no_log_file_or_command_line", async () => {
  const value = "s3cr3t-value-that-must-not-leak";
  const session = await TestSession.create(t.client, { secrets: { LEAK: value } });
  assert.equal(await session.output('printf %s "$LEAK" | wc -c'), `${value.length}\n`);
  await t.client.send("POST", "/v1/sessions", { json: { secrets: { LEAK: value }, size: "absurd" } });
  assert(!t.server.logs().includes(value), "log");
  for (const { pid, command } of descendants(t.server.pid))
    assert(!command.join(" ").includes(value), `cmdline of ${pid}`);
  const stored = readdirSync(t.server.stateDir, { recursive: true, withFileTypes: true });
  const databases = stored.filter((entry) => entry.isFile() && entry.name.startsWith("db"));
  assert(databases.length > 0, "the database is where it is looked for");
  for (const { parentPath, name } of databases)
    assert(!readFileSync(join(parentPath, name)).includes(value), `${name} holds the secret in clear`);
  assert(!t.server.logs().includes(t.server.token), "the key is not logged");
  await session.destroy();
});
