// SPDX-License-Identifier: Apache-2.0
// The kernel as a hostile guest meets it: each system call and file by which a container could be left, tried as the
// guest's user and as the root that sudo gives.
import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../support/suite.js";
import { assertOutcomes, install, outcomes, probe, type Who } from "./probe.js";

const calls = {} as Record<Who, Map<string, string>>;

const t = suite({}, async () => {
  await install(t.session);
  calls.sandbox = await outcomes(t.session, "sandbox", "calls");
  calls.root = await outcomes(t.session, "root", "calls");
});

const PROMISES: [promise: string, calls: string[], may: string][] = [
  [
    "no_file_system_can_be_mounted_moved_changed_or_taken_away",
    [
      ...["mount-tmpfs", "mount-proc", "mount-cgroup2", "mount-bind", "mount-remount", "umount2", "pivot_root"],
      ...["fsopen", "open_tree", "move_mount", "mount_setattr"],
    ],
    "EPERM",
  ],
  [
    "no_namespace_can_be_made_or_entered",
    ["unshare-user", "unshare-mount", "unshare-net", "clone-user", "clone-net", "clone-pid", "setns"],
    "EPERM",
  ],
  ["clone3_is_unknown_so_that_no_flags_pass_out_of_sight", ["clone3"], "ENOSYS"],
  [
    "the_kernel's_large_subsystems_are_shut",
    ["bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "fanotify_init", "quotactl", "acct"],
    "EPERM ENOSYS",
  ],
  [
    "no_code_gets_into_the_kernel_and_none_past_it",
    ["kexec_load", "init_module", "finit_module", "delete_module", "iopl", "ioperm", "swapon", "reboot"],
    "EPERM ENOSYS",
  ],
  ["no_file_can_be_opened_by_handle", ["name_to_handle_at", "open_by_handle_at"], "EPERM"],
  ["keyrings_are_shut", ["keyctl", "add_key", "request_key"], "EPERM"],
  ["the_kernel's_log_cannot_be_read", ["syslog"], "EPERM"],
  [
    "only_local_and_internet_sockets_can_be_made",
    [
      ...["socket-vsock", "socket-alg", "socket-packet", "socket-xdp", "socket-raw-icmp", "socket-raw-ip"],
      ...["netlink-generic", "netlink-netfilter", "netlink-uevent"],
    ],
    "EPERM EAFNOSUPPORT EPROTONOSUPPORT ENOSYS",
  ],
  ["the_clock_and_the_host_name_cannot_be_set", ["clock_settime", "settimeofday", "adjtimex", "sethostname"], "EPERM"],
  ["pid_1_cannot_be_traced_read_or_robbed", ["ptrace-init", "process_vm_readv-init", "pidfd_getfd-init"], "EPERM"],
  [
    "priorities_and_hard_limits_cannot_be_raised",
    ["sched-fifo", "nice", "rlimit-nofile", "rlimit-core"],
    "EPERM EACCES",
  ],
  ["addresses_stay_random", ["personality"], "ENOSYS EPERM"],
  ["no_device_node_can_be_made", ["mknod-block", "mknod-memory"], "EPERM"],
  ["nothing_can_be_typed_into_a_terminal", ["tiocsti"], "EPERM"],
  ["another_instruction_set's_calls_kill_the_caller", ["x32"], "signal_31"],
];

for (const who of ["sandbox", "root"] as const) {
  for (const [promise, names, may] of PROMISES) {
    test(`${promise} [${who}]`, () => {
      const all = new Map([...calls[who]].map(([name, outcome]) => [name, outcome.replace(" ", "_")]));
      assertOutcomes(all, names, may);
    });
  }

  test(`every_call_that_the_probe_makes_is_judged [${who}]`, () => {
    const judged = new Set([...PROMISES.flatMap(([, names]) => names), "i386"]);
    assert.deepEqual(
      [...calls[who].keys()].filter((name) => !judged.has(name)),
      [],
    );
    // A kernel without 32-bit support knows no such gate.
    assert.match(calls[who].get("i386")!, /^signal (31|11)$/);
  });

  test(`kernel_settings_cannot_be_written [${who}]`, async () => {
    const settings = [
      "/proc/sysrq-trigger",
      ...["core_pattern", "hostname", "sysrq", "modprobe", "ns_last_pid"].map((name) => `/proc/sys/kernel/${name}`),
      ...["/proc/sys/vm/drop_caches", "/proc/sys/fs/file-max", "/proc/irq/default_smp_affinity"],
      "/proc/sys/fs/binfmt_misc/register",
    ];
    assertOutcomes(await outcomes(t.session, who, "write", ...settings), settings, "hidden EACCES EROFS ENOENT");
  });

  test(`T8_what_is_covered_stays_covered_and_what_is_absent_cannot_be_made [${who}]`, async () => {
    const files = [
      ...["kcore", "kmsg", "kallsyms", "keys", "key-users", "timer_list", "sched_debug", "config.gz", "slabinfo"],
      ...["kpagecount", "kpageflags", "vmallocinfo", "pagetypeinfo", "latency_stats", "acpi", "scsi", "asound"],
    ].map((name) => `/proc/${name}`);
    assertOutcomes(await outcomes(t.session, who, "read", ...files), files, "hidden ENOENT");
    // Nothing depends on a cover over a path that was not there: the directories are no place to make one.
    const sudo = who === "root" ? "sudo -n" : "";
    const made = await t.session.exec(
      `for d in /proc /proc/sys /sys /dev; do ${sudo} mkdir $d/planted 2>/dev/null && echo $d; ` +
        `${sudo} sh -c "echo x >$d/planted-file" 2>/dev/null && echo $d/planted-file; done; true`,
    );
    // The root of the guest owns /sys, which is an empty directory of its own disk.
    assert.deepEqual(
      made.stdout.split("\n").filter((line) => line !== "" && !(who === "root" && line.startsWith("/sys"))),
      [],
    );
  });

  test(`devices_are_the_six_harmless_ones [${who}]`, async () => {
    const listed = (await probe(t.session, who, "devices")).split("\n").filter(Boolean).sort();
    const harmless = ["/dev/full 1:7", "/dev/null 1:3", "/dev/random 1:8", "/dev/tty 5:0", "/dev/urandom 1:9"];
    assert.deepEqual(listed, [...harmless, "/dev/zero 1:5"]);
  });
}

test("a_guest_runs_under_two_filters_and_pid_1_under_its_own", async () => {
  const filters = async (pid: string) =>
    Number(/^Seccomp_filters:\s+(\d+)$/m.exec(await t.session.output(`cat /proc/${pid}/status`))?.[1]);
  assert.equal(await filters("self"), 2);
  assert.equal(await filters("1"), 1);
});

test("a_guest_has_no_capability_and_root_in_it_none_that_reaches_out", async () => {
  const caps = async (command: string, set: string) =>
    BigInt(`0x${new RegExp(`^${set}:\\s+([0-9a-f]+)$`, "m").exec(await t.session.output(command))?.[1]}`);
  const own = "cat /proc/self/status";
  assert.equal(await caps(own, "CapEff"), 0n);
  assert.equal(await caps(own, "CapAmb"), 0n);
  // chown, dac_override, fowner, fsetid, kill, setgid, setuid, setpcap, net_bind_service, sys_chroot, audit_write, setfcap
  const most = 0xa00405fbn;
  for (const set of ["CapEff", "CapPrm", "CapBnd"]) {
    assert.equal((await caps(`sudo -n ${own}`, set)) & ~most, 0n, set);
  }
});

test("pid_1_keeps_five_capabilities_of_its_own_user_namespace", async () => {
  const status = await t.session.output("cat /proc/1/status");
  // kill, setgid, setuid, setpcap, sys_admin
  assert.match(status, /^CapPrm:\s+00000000002001e0$/m);
  assert.match(status, /^CapEff:\s+00000000002001e0$/m);
});

test("every_mount_is_locked_down_as_far_as_its_use_allows", async () => {
  const mounts = (await t.session.output("cat /proc/self/mountinfo")).trim().split("\n");
  const flagsOf = (point: string) => {
    const found = mounts.filter((line) => line.split(" ")[4] === point).at(-1);
    assert(found, `${point} is mounted`);
    return found.split(" ")[5]!.split(",");
  };
  const wanted: Record<string, string[]> = {
    "/": ["nodev"],
    "/dev": ["ro", "nosuid", "noexec"],
    "/dev/pts": ["nosuid", "noexec"],
    "/dev/shm": ["nosuid", "nodev", "noexec"],
    "/dev/mqueue": ["nosuid", "nodev", "noexec"],
    "/proc": ["nosuid", "nodev", "noexec"],
    "/proc/sys": ["ro", "nosuid", "nodev", "noexec"],
  };
  const missing = Object.entries(wanted).flatMap(([point, flags]) =>
    flags.filter((flag) => !flagsOf(point).includes(flag)).map((flag) => `${point}: ${flag}`),
  );
  assert.deepEqual(missing, []);
});

test("nothing_runs_from_shared_memory", async () => {
  const { exit_code } = await t.session.exec(
    "cp /workspace/probe /dev/shm/probe && chmod 755 /dev/shm/probe && exec /dev/shm/probe devices",
  );
  assert.equal(exit_code, 126);
});

test("the_host's_root_is_not_behind_the_guest's", async () => {
  const [here, above] = (await t.session.output("stat -c %d:%i / /..")).trim().split("\n");
  assert.equal(above, here);
});

test("no_cgroup_file_system_is_in_sight_and_the_group_is_the_root_of_its_view", async () => {
  assert.doesNotMatch(await t.session.output("cat /proc/self/mountinfo"), / - cgroup2? /);
  const groups = (await t.session.output("cat /proc/self/cgroup")).trim().split("\n");
  assert.deepEqual(
    groups.filter((line) => !/^\d+:[^:]*:\/(e\d+|p\d+)?$/.test(line)),
    [],
  );
});

test("kill_9_of_pid_1_from_inside_changes_nothing", async () => {
  assert.equal((await t.session.exec(["sudo", "-n", "kill", "-9", "1"])).exit_code, 0);
  assert.equal(await t.session.output("echo alive"), "alive\n");
});
