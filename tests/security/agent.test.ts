// SPDX-License-Identifier: Apache-2.0
// PID 1 of a session and what the engine does in the guest's reach: its program, its socket, its descriptors, and file
// operations on names that the guest lays traps with.
import assert from "node:assert/strict";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { after, before, test } from "node:test";
import { guestInit, role } from "../support/footprint.js";
import { withinMs } from "../support/helpers.js";
import type { RawClient } from "../support/http.js";
import { Server } from "../support/server.js";
import { sh, TestSession } from "../support/session.js";
import { assertOutcomes, install, outcomes, probe } from "./probe.js";

const OUTSIDE = "outside the workspace\n";
const O_PATH = 0o10000000;
const leaked = openSync("/", "r");

let server: Server;
let client: RawClient;
let session: TestSession;
let init: number;

before(async () => {
  server = await Server.start(undefined, new Array(24).fill(leaked));
  client = server.client();
  session = await TestSession.create(client);
  await install(session);
  await session.start("marker", ["sleep", "86399"]);
  init = guestInit(server, "86399");
  await session.output(`printf '${OUTSIDE}' >/tmp/outside`);
});
after(async () => {
  await server?.stop();
  closeSync(leaked);
});

for (const who of ["sandbox", "root"] as const) {
  test(`the_program_and_the_memory_of_pid_1_are_out_of_reach [${who}]`, async () => {
    const files = ["exe", "mem", "environ", "maps", "auxv", "root/etc/hostname", "cwd/etc/hostname"].map(
      (name) => `/proc/1/${name}`,
    );
    assertOutcomes(await outcomes(session, who, "read", ...files), files, "EACCES EPERM");
    const written = ["/proc/1/exe", "/proc/1/mem", "/proc/1/oom_score_adj"];
    // Root of the guest may choose who dies first when memory runs out: that is its own session.
    const may = "EACCES EPERM ETXTBSY EROFS";
    assertOutcomes(
      await outcomes(session, who, "write", ...written),
      who === "root" ? written.slice(0, 2) : written,
      may,
    );
  });

  test(`the_process_that_waits_for_the_next_command_is_out_of_reach_too [${who}]`, async () => {
    const sudo = who === "root" ? "sudo -n " : "";
    const files = "exe mem environ maps auxv fd/0 root/etc/hostname cwd/etc/hostname";
    const reads = `for f in ${files}; do head -c 1 /proc/$p/$f >/dev/null 2>&1 && echo $f; done`;
    // While this command runs, the process for the next one is there.
    const look = `sleep 0.5; for p in $(pgrep -x inis-agent); do [ $p = 1 ] || { echo found; ${reads}; }; done; true`;
    assert.equal(await session.output(`${sudo}sh -c '${look}'`), "found\n");
  });

  test(`a_process_of_the_guest_is_not_heard_by_the_agent [${who}]`, async () => {
    assert.equal(await probe(session, who, "abstract", "inis-agent"), "closed\n");
  });
}

for (const [n, signal] of ["STOP", "KILL", "TERM"].entries()) {
  test(`a_command_runs_although_the_guest's_root_has_sent_${signal}_to_the_process_that_waits_for_it`, async () => {
    const own = await TestSession.create(server.client());
    const hit = `[ $p = 1 ] || { kill -${signal} $p; echo sent; }`;
    const all = `sleep 0.5; for p in $(pgrep -x inis-agent); do ${hit}; done`;
    const output = (command: string) => withinMs(command, 60_000, own.output(command));
    await own.start("mark", ["sleep", `8630${n}`]);
    const agent = guestInit(server, `8630${n}`);
    try {
      assert.equal(await output(`sudo -n sh -c '${all}'`), "sent\n");
      assert.equal(await output("echo runs"), "runs\n");
      assert.equal(await output("echo runs again"), "runs again\n");
      await own.destroy();
    } finally {
      // Had it met the agent, that would stay stopped.
      if (existsSync(`/proc/${agent}`)) process.kill(agent, "SIGCONT");
    }
  });
}

test("a_command_inherits_its_three_streams_and_nothing_else", async () => {
  for (const sudo of ["", "sudo -n "]) {
    // The listing's own descriptor of /proc/self/fd is the fourth.
    assert.equal(await session.output(`${sudo}sh -c 'ls /proc/self/fd' | tr '\\n' ' '`), "0 1 2 3 ");
  }
});

test("no_process_of_the_engine_but_the_first_holds_what_its_parent_left_open", () => {
  const holders = [role(server, "front"), role(server, "broker"), init].filter((pid) =>
    readdirSync(`/proc/${pid}/fd`).some((fd) => opensRoot(pid, fd)),
  );
  assert.deepEqual(holders, []);
});

/** Whether the descriptor is the machine's root directory, opened for reading as the leaked one is. */
function opensRoot(pid: number, fd: string): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8"))![1]!;
    return readlinkSync(`/proc/${pid}/fd/${fd}`) === "/" && (Number.parseInt(flags, 8) & O_PATH) === 0;
  } catch {
    return false;
  }
}

test("what_all_units_share_is_mounted_read_only", () => {
  const mounts = readFileSync(`/proc/${role(server, "broker")}/mountinfo`, "utf8").split("\n");
  for (const [point, flags] of [
    ["/run/inis/inis-agent", ["ro", "nosuid", "nodev"]],
    ["/run/inis/dev", ["ro", "nosuid", "noexec"]],
  ] as const) {
    const line = mounts.find((text) => text.split(" ")[4] === point);
    assert(line, point);
    const has = line.split(" ")[5]!.split(",");
    assert.deepEqual(
      flags.filter((flag) => !has.includes(flag)),
      [],
      point,
    );
  }
});

test("the_environment_of_the_engine's_programs_is_fresh", () => {
  for (const pid of [role(server, "front"), role(server, "broker"), init]) {
    const names = readFileSync(`/proc/${pid}/environ`, "utf8")
      .split("\0")
      .map((entry) => entry.split("=")[0])
      .filter((name) => name !== "" && name !== "PATH" && name !== "INIS_WALLS_OFF");
    assert.deepEqual(names, [], `of ${pid}`);
  }
});

test("a_link_leads_a_file_operation_nowhere_out_of_the_workspace", async () => {
  await session.output(
    "cd /workspace && ln -s /tmp/outside absolute && ln -s ../tmp/outside upward && ln -s /tmp directory && " +
      "ln -s /proc/self/root/tmp/outside magic && ln -s /proc/1/root/tmp/outside init && ln -s loop-b loop-a && ln -s loop-a loop-b",
  );
  for (const path of ["absolute", "upward", "directory/outside", "magic", "init", "loop-a", "../tmp/outside"]) {
    const read = await session.send("GET", "/files", { query: { path, op: "read" } });
    assert(read.status >= 400 && read.status < 500, `read ${path}: ${read.status}`);
    const write = await session.send("PUT", "/files", { json: { path, content: "changed" } });
    assert(write.status === 200 || (write.status >= 400 && write.status < 500), `write ${path}: ${write.status}`);
    assert.equal(await session.output("cat /tmp/outside"), OUTSIDE, `written through ${path}`);
  }
});

test("a_file_operation_has_the_rights_of_the_guest's_user", async () => {
  await session.output("sudo -n sh -c 'echo closed >/workspace/closed; chmod 600 /workspace/closed'");
  const read = await session.send("GET", "/files", { query: { path: "closed", op: "read" } });
  assert.deepEqual([read.status, read.json.code], [400, "permission_denied"]);
  await session.write("mine", "x");
  assert.equal(await session.output("stat -c %u:%g /workspace/mine"), "999:999\n");
});

test("a_pipe_or_a_socket_in_place_of_a_file_holds_nobody_up", async () => {
  await session.output("mkfifo /workspace/fifo");
  const read = session.send("GET", "/files", { query: { path: "fifo", op: "read" } });
  const { status } = await withinMs("reading a fifo", 60_000, read);
  assert(status >= 400 && status < 500, `${status}`);
});

test("T13_a_session_has_no_process_but_its_own", () => {
  // Whatever serves its mounts would be a child of the engine's or run outside of the session's pid namespace.
  const own = readlinkSync(`/proc/${init}/ns/pid`);
  const foreign = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const inUnit = readFileSync(`/proc/${pid}/cgroup`, "utf8").includes(unitOf(init));
        return inUnit && readlinkSync(`/proc/${pid}/ns/pid`) !== own;
      } catch {
        return false;
      }
    });
  assert.deepEqual(foreign, []);
  const broker = role(server, "broker");
  const helpers = readdirSync(`/proc/${broker}/task`).length;
  assert(helpers <= 4, `the broker has ${helpers} threads`);
  const children = readFileSync(`/proc/${broker}/task/${broker}/children`, "utf8").trim().split(" ");
  const programs = children.map((pid) => readFileSync(`/proc/${pid}/comm`, "utf8").trim());
  assert.deepEqual([...new Set(programs)], ["inis-agent"]);
});

/** The name of the unit that the process is in. */
function unitOf(pid: number): string {
  const group = /^0::(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))?.[1];
  const unit = group?.split("/").find((part) => /^[0-9a-z]{16,}$/.test(part));
  assert(unit, `unit of ${group}`);
  return unit;
}

test("a_thread_that_was_in_a_session's_network_is_back_in_its_own", () => {
  const broker = role(server, "broker");
  const own = readlinkSync(`/proc/${server.pid}/ns/net`);
  for (const task of readdirSync(`/proc/${broker}/task`))
    assert.equal(readlinkSync(`/proc/${broker}/task/${task}/ns/net`), own);
});

test("the_key_is_nowhere_in_a_session", async () => {
  const token = server.token;
  const script = `sudo -n grep -rlsF -e ${token.slice(0, 12)} /etc /run /tmp /var /root /home /workspace; cat /proc/[0-9]*/environ | tr '\\0' '\\n'; env`;
  const found = await session.exec(sh(script));
  assert(!found.stdout.includes(token.slice(0, 12)), "the key is in the environment");
  assert.doesNotMatch(found.stdout, /^\//m);
});
