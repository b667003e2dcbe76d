// SPDX-License-Identifier: Apache-2.0
// What a server and its sessions occupy on the machine, read from the kernel, so that tests can see what is left behind.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./helpers.js";
import type { Server } from "./server.js";

export interface ProcessRow {
  pid: number;
  parent: number;
  command: string[];
}

function attempt<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

function processRow(pid: number): ProcessRow | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"), "");
  if (stat === "") return undefined;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const command = attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"), "")
    .split("\0")
    .slice(0, -1);
  return { pid, parent: Number(fields[1]), command };
}

function allProcesses(): ProcessRow[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => processRow(Number(name)))
    .filter((row) => row !== undefined);
}

/** The process and everything below it. */
export function descendants(root: number): ProcessRow[] {
  const rows = allProcesses();
  const found = rows.filter((row) => row.pid === root);
  for (let i = 0; i < found.length; i++) found.push(...rows.filter((row) => row.parent === found[i]!.pid));
  return found;
}

const isAgent = (row: ProcessRow | undefined) => row !== undefined && /inis-agent/.test(row.command[0] ?? "");

/** The processes that agents keep ready for the next command: called like them still. They come and go by themselves. */
function waiting(rows: ProcessRow[]): Set<ProcessRow> {
  const parent = (row: ProcessRow) => rows.find(({ pid }) => pid === row.parent);
  return new Set(rows.filter((row) => isAgent(row) && isAgent(parent(row))));
}

/** First processes of units. */
export function guestInits(server: Server): number[] {
  const rows = descendants(server.pid);
  const ready = waiting(rows);
  return rows.filter((row) => isAgent(row) && !ready.has(row)).map(({ pid }) => pid);
}

function findInit(server: Server, text: string): ProcessRow | undefined {
  const rows = descendants(server.pid);
  let row = rows.find(({ command }) => command.some((word) => word.includes(text)));
  while (row && !isAgent(row)) row = rows.find(({ pid }) => pid === row!.parent);
  return row;
}

/** PID 1 of the one unit in which a process with this text in its command line runs, or has just been started. */
export function guestInit(server: Server, text: string): number {
  let row = findInit(server, text);
  /* A new program has its arguments a moment after it has begun. */
  for (let i = 0; !row && i < 100; i++) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    row = findInit(server, text);
  }
  assert(row, `no unit runs ${text}`);
  return row.pid;
}

/** The server's own programs, each by the role in its command line. */
export function role(server: Server, name: "front" | "broker"): number {
  // Not what the broker has just cloned and is still called like it.
  const children = descendants(server.pid).filter(({ parent }) => parent === server.pid);
  const matches = children.filter(({ command }) =>
    name === "broker" ? /broker/.test(command[0] ?? "") : command[1] === "front",
  );
  assert.equal(matches.length, 1, `one ${name} process`);
  return matches[0]!.pid;
}

export function residentKb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

/**
 * Memory without the pages of programs and libraries. Those are divided by the processes that map them, guests and other
 * servers too, and the kernel drops and reads them again as it likes: they come and go without any doing of ours.
 */
export function anonymousKb(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1]);
  return field("Pss") - field("Pss_File");
}

export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function cgroupsOf(pid: number): string[] {
  return attempt(() => readFileSync(`/proc/${pid}/cgroup`, "utf8"), "")
    .split("\n")
    .filter(Boolean);
}

function netnsOf(pid: number): string {
  return attempt(() => readlinkSync(`/proc/${pid}/ns/net`), "");
}

function mountsNaming(pid: number, text: string): string[] {
  return attempt(() => readFileSync(`/proc/${pid}/mountinfo`, "utf8"), "")
    .split("\n")
    .filter((line) => line.includes(text));
}

/** Loop devices, by name, that are backed by a file below the directory. */
export function loopsBelow(directory: string): string[] {
  const file = (name: string) => attempt(() => readFileSync(`/sys/block/${name}/loop/backing_file`, "utf8").trim(), "");
  return readdirSync("/sys/block").filter((name) => name.startsWith("loop") && file(name).startsWith(directory));
}

function entries(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory) : [];
}

export interface Footprint {
  processes: number;
  cgroups: number;
  netns: number;
  mounts: number;
  loops: number;
  units: number;
  sessions: number;
  frontFiles: number;
  brokerFiles: number;
}

export function footprint(server: Server): Footprint {
  const rows = descendants(server.pid);
  const ready = waiting(rows);
  const pids = rows.filter((row) => !ready.has(row)).map(({ pid }) => pid);
  const front = role(server, "front");
  const broker = role(server, "broker");
  return {
    processes: pids.length,
    cgroups: new Set(pids.flatMap(cgroupsOf)).size,
    netns: new Set(pids.map(netnsOf)).size,
    mounts: [server.pid, broker].reduce((sum, pid) => sum + mountsNaming(pid, server.stateDir).length, 0),
    loops: loopsBelow(server.stateDir).length,
    units: entries(server.state("units")).length,
    sessions: entries(server.state("sessions")).length,
    frontFiles: openFiles(front),
    brokerFiles: openFiles(broker),
  };
}

/** The footprint once it has stopped moving (a pool fills, a namespace is torn down behind). */
export async function settledFootprint(server: Server): Promise<Footprint> {
  let last = "";
  let same = 0;
  return eventually("the server comes to rest", () => {
    const now = footprint(server);
    const text = JSON.stringify(now);
    same = text === last ? same + 1 : 0;
    last = text;
    return same >= 8 ? now : false;
  });
}

/** Names that belong to the server's units: cgroup directories on the machine that hold one of its processes now. */
export function unitCgroups(server: Server): string[] {
  const own = new Set(cgroupsOf(server.pid));
  return [...new Set(descendants(server.pid).flatMap(({ pid }) => cgroupsOf(pid)))]
    .filter((line) => !own.has(line))
    .map(cgroupDirectory);
}

function cgroupDirectory(line: string): string {
  const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line)!;
  const candidates = [
    join("/sys/fs/cgroup", controllers!.replace(/^name=/, ""), path!),
    join("/sys/fs/cgroup/unified", path!),
    join("/sys/fs/cgroup", path!),
  ];
  return candidates.find((directory) => existsSync(directory)) ?? candidates[0]!;
}

/** Fails when anything of a server that has ended is still on the machine. */
export async function assertNothingLeft(stateDir: string, cgroups: string[], pids: number[]): Promise<void> {
  await eventually("nothing is left of the server", () => {
    assert.deepEqual(
      cgroups.filter((directory) => existsSync(directory)),
      [],
      "cgroups",
    );
    assert.deepEqual(
      pids.filter((pid) => existsSync(`/proc/${pid}`)),
      [],
      "processes",
    );
    assert.deepEqual(mountsNaming(process.pid, stateDir), [], "mounts");
    assert.deepEqual(loopsBelow(stateDir), [], "loop devices");
  });
}
