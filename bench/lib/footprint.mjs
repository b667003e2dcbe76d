// SPDX-License-Identifier: Apache-2.0
// What a server and its sessions occupy on the machine, as the kernel counts it.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { wait } from "./engine.mjs";

const REST_LOOKS = 10;
const REST_EVERY_MS = 50;
const REST_LIMIT_MS = 60_000;

function attempt(read, otherwise) {
  try {
    return read();
  } catch {
    return otherwise; // it has ended meanwhile
  }
}

function parents() {
  const found = new Map();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    const stat = attempt(() => readFileSync(`/proc/${name}/stat`, "utf8"), "");
    if (stat) found.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
  }
  return found;
}

/** The process and everything below it. */
export function descendants(root) {
  const parent = parents();
  const found = [root];
  for (let i = 0; i < found.length; i++) {
    for (const [pid, above] of parent) if (above === found[i]) found.push(pid);
  }
  return found;
}

/** The server's own processes: supervisor, front, broker, and what agents are cloned from. */
export function daemons(engine) {
  return descendants(engine.pid).filter((pid) => /(^|\/)(inisd|inis-broker|inis-spawn)$/.test(commandLine(pid)[0]));
}

function commandLine(pid) {
  return attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"), "").split("\0");
}

/**
 * Proportional set size in KiB: all of it, and what no file backs. The process that an agent keeps ready lives in the
 * agent's memory: one with the mappings of its parent is not counted.
 */
export function pss(pids) {
  const sum = { all: 0, withoutFiles: 0 };
  const parent = parents();
  const mappings = (pid) => attempt(() => readFileSync(`/proc/${pid}/maps`, "utf8"), "");
  for (const pid of pids) {
    if (mappings(pid) === mappings(parent.get(pid))) continue;
    const text = attempt(() => readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"), "");
    const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0);
    sum.all += field("Pss");
    sum.withoutFiles += field("Pss") - field("Pss_File");
  }
  return sum;
}

function lines(path) {
  return attempt(() => readFileSync(path, "utf8"), "")
    .split("\n")
    .filter(Boolean);
}

function entries(directory) {
  return attempt(() => readdirSync(directory), []);
}

/** Directories below the server's own in every hierarchy; its broker holds those open. */
function cgroups(daemonPids) {
  const held = daemonPids.flatMap((pid) =>
    entries(`/proc/${pid}/fd`).map((fd) => attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`), "")),
  );
  const roots = new Set(held.filter((path) => /^\/sys\/fs\/cgroup\/(.+\/)?inis\/[^/]+$/.test(path)));
  const below = (directory) =>
    attempt(() => readdirSync(directory, { withFileTypes: true }), [])
      .filter((entry) => entry.isDirectory())
      .reduce((sum, { name }) => sum + 1 + below(join(directory, name)), 0);
  return [...roots].reduce((sum, root) => sum + below(root), 0);
}

/** The program and, of several roles in one, the role: "inisd front". */
function role(pid) {
  const [name, argument] = commandLine(pid);
  return `${basename(name)} ${argument ?? ""}`.trim();
}

/** Open descriptors by program and by what they lead to, without what tells one unit or one socket from another. */
function descriptors(pids) {
  const counts = {};
  for (const pid of pids) {
    for (const fd of entries(`/proc/${pid}/fd`)) {
      const target = attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`), "");
      if (target === "") continue;
      const kind = `${role(pid)}: ${target.replace(/(?<=\/)[a-z0-9]{16}(?=\/|$)|\d+/g, "*")}`;
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
  }
  return counts;
}

/** Counts that must be the same again when every session is gone. */
export function footprint(engine) {
  const pids = descendants(engine.pid);
  const own = daemons(engine);
  const mounts = own.map((pid) => lines(`/proc/${pid}/mountinfo`).length);
  const below = (file) => file.startsWith(engine.stateDir);
  return {
    processes: pids.length,
    mounts: mounts.reduce((sum, n) => sum + n, 0),
    cgroups: cgroups(own),
    netns: new Set(pids.map((pid) => attempt(() => readlinkSync(`/proc/${pid}/ns/net`), ""))).size,
    ...descriptors(own),
    loops: entries("/sys/block").filter((name) => below(lines(`/sys/block/${name}/loop/backing_file`)[0] ?? "")).length,
    units: entries(join(engine.stateDir, "units")).length,
    sessions: entries(join(engine.stateDir, "sessions")).length,
  };
}

/** The footprint once it has stopped moving: a unit of the pool is listed before it is complete. */
export async function footprintAtRest(engine) {
  let last;
  let same = 0;
  const isSame = () => {
    const now = JSON.stringify(footprint(engine));
    same = now === last ? same + 1 : 0;
    last = now;
    return same >= REST_LOOKS;
  };
  await wait("nothing moves", REST_LIMIT_MS, isSame, REST_EVERY_MS);
  return JSON.parse(last);
}
