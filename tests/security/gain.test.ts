// SPDX-License-Identifier: Apache-2.0
// What a guest can gain: with sudo, root of its own user range; without it, nothing.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { guestInit } from "../support/footprint.js";
import { sh, TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";

let withSudo: TestSession;
const t = suite({ no_sudo: true }, async () => {
  withSudo = await TestSession.create(t.client);
  await withSudo.start("marker", ["sleep", "86398"]);
});

test("without_sudo_no_set-uid_program_gains_anything", async () => {
  for (const command of ["sudo -n id -u", "su -s /bin/sh -c 'id -u' root </dev/null"]) {
    const { stdout } = await t.session.exec(sh(command));
    assert.equal(stdout, "", `${command} gained rights`);
  }
  // The same does gain where it may.
  assert.equal(await withSudo.output("sudo -n id -u"), "0\n");
});

/** What a program that wants namespaces of its own says; not every machine has each of them. */
const NESTED = [
  ["unshare", "unshare --user --map-root-user true", /^unshare: unshare failed: Operation not permitted$/m],
  ["unshare", "sudo -n unshare --mount true", /^unshare: unshare failed: Operation not permitted$/m],
  ["nsenter", "sudo -n nsenter --target 1 --net true", /^nsenter: .*(Operation not permitted|Permission denied)$/m],
  ["bwrap", "bwrap --unshare-all --ro-bind / / true", /^bwrap: .*(Operation not permitted|No permissions)/m],
  ["podman", "podman run --rm scratch true", /operation not permitted/i],
  ["mount", "sudo -n mount -t tmpfs none /mnt", /^mount: .*(permission denied|must be superuser)/m],
] as const;

test("T12_containers_inside_a_session_are_refused_with_a_message_and_at_once", async () => {
  let tried = 0;
  for (const [program, command, message] of NESTED) {
    if ((await withSudo.exec(sh(`command -v ${program}`))).exit_code !== 0) continue;
    const { exit_code, stderr, timed_out } = await withSudo.exec(sh(command), { timeout_ms: 60_000 });
    assert(!timed_out, `${command} waits for what does not come`);
    assert(exit_code > 0 && exit_code < 126, `${command}: ${exit_code} ${stderr}`);
    assert.match(stderr, message, command);
    tried++;
  }
  assert(tried >= 3, `${tried} were tried`);
  assert.equal(await withSudo.output("sudo -n chroot / id -u"), "0\n", "a root directory of one's own is allowed");
});

test("T12_sudo_without_the_right_to_it_says_why", async () => {
  const { exit_code, stdout, stderr } = await t.session.exec(sh("sudo -n id"));
  assert.deepEqual([exit_code, stdout], [1, ""]);
  assert.match(stderr, /^sudo: .*no new privileges/);
  assert.match(await t.session.output("cat /proc/self/status"), /^Seccomp:\s+2$/m);
});

test("without_sudo_no_new_privileges_is_set_and_no_mount_honours_set-uid", async () => {
  assert.match(await t.session.output("cat /proc/self/status"), /^NoNewPrivs:\s+1$/m);
  const mounts = (await t.session.output("cat /proc/self/mountinfo")).trim().split("\n");
  const honouring = mounts.filter((line) => !line.split(" ")[5]!.split(",").includes("nosuid"));
  assert.deepEqual(honouring, []);
});

test("a_set-uid_program_that_a_guest_plants_gains_root_of_its_own_range_at_most", async () => {
  await withSudo.output(
    "cp /bin/cat /workspace/planted && sudo -n chown root /workspace/planted && sudo -n chmod 4755 /workspace/planted",
  );
  const status = await withSudo.output("/workspace/planted /proc/self/status");
  assert.match(status, /^Uid:\s+999\s+0\s/m, "with sudo it does become root inside");
  const bounding = BigInt(`0x${/^CapPrm:\s+([0-9a-f]+)$/m.exec(status)![1]}`);
  assert.equal(bounding & ~0xa00405fbn, 0n);
});

test("root_inside_is_an_id_of_the_session's_own_range_outside", async () => {
  const status = readFileSync(`/proc/${guestInit(t.server, "86398")}/status`, "utf8");
  const outside = Number(/^Uid:\s+(\d+)/m.exec(status)![1]);
  assert(outside >= 65_536, `root inside is ${outside} outside`);
  const [first, , length] = (await withSudo.output("cat /proc/self/uid_map")).trim().split(/\s+/).slice(0).map(Number);
  assert.deepEqual([first, length], [0, 65_536]);
  const other = Number((await t.session.output("cat /proc/self/uid_map")).trim().split(/\s+/)[1]);
  assert(Math.abs(other - outside) >= 65_536, "ranges of two sessions share no id");
});
