// SPDX-License-Identifier: Apache-2.0
// Addresses that a session must not reach. They all exist in a network namespace that is made for this test, with the
// engine in it: whatever happens, no packet leaves.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readlinkSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ADDRESSES = [
  "169.254.169.254/32", // metadata of clouds
  "10.0.0.1/8",
  "172.16.0.1/12",
  "192.168.0.1/16",
  "100.64.0.1/10",
  "203.0.113.7/32", // for the machine's own address and the internet
  "198.51.100.9/32",
  "fd00::1/64",
  "2001:db8::7/64",
];

interface Report {
  beside: string;
  seenBeside: string[];
  sandbox: string;
  root: string;
  api: string;
  own: string;
  seen: string[];
}

let report: Promise<Report> | undefined;

async function run(): Promise<Report> {
  report ??= start();
  return report;
}

async function start(): Promise<Report> {
  const program = fileURLToPath(new URL("in-netns.js", import.meta.url));
  const addresses = ADDRESSES.map((address) => address.split("/")[0]!);
  const args = ["--net", process.execPath, program, readlinkSync("/proc/self/ns/net"), ...addresses];
  const { stdout } = await promisify(execFile)("unshare", args, { timeout: 300_000 });
  return JSON.parse(stdout) as Report;
}

const reached = (lines: string) =>
  lines
    .trim()
    .split("\n")
    .filter((line) => line.endsWith(" ok"));

test("the_test_can_see_a_connection: every address answers beside the session", async () => {
  const { beside, seenBeside } = await run();
  assert.deepEqual(reached(beside), beside.trim().split("\n"));
  assert(seenBeside.length >= 2 * ADDRESSES.length, `${seenBeside}`);
});

for (const who of ["sandbox", "root"] as const) {
  test(`no_address_of_the_machine_its_networks_or_a_cloud_is_reached_by_any_spelling [${who}]`, async () => {
    const { [who]: lines, seen } = await run();
    assert.equal(lines.trim().split("\n").length, 2 * (ADDRESSES.length + 6));
    assert.deepEqual(reached(lines), []);
    assert.deepEqual(seen, []);
  });
}

test("the_engine's_own_port_is_not_reached", async () => {
  assert.deepEqual(reached((await run()).api), []);
});

test("the_session's_own_loopback_works", async () => {
  assert.equal((await run()).own, "ok\n");
});
