// SPDX-License-Identifier: Apache-2.0
// Run by network.test.ts in a network namespace of its own, which holds all the addresses that a session must not reach.
// The engine runs in there too; so a session without walls would reach them, and still no packet would leave.
//
// Prints one JSON object: what the probe said in the session, what it said beside it, what the servers saw.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createSocket } from "node:dgram";
import { readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "../support/helpers.js";
import { binDir } from "../support/paths.js";
import { Server } from "../support/server.js";
import { TestSession } from "../support/session.js";
import { install, probe } from "./probe.js";

const [outside, ...addresses] = process.argv.slice(2);
assert.notEqual(readlinkSync("/proc/self/ns/net"), outside, "in a network namespace of its own");

const run = async (program: string, args: string[]) => (await promisify(execFile)(program, args)).stdout;

await run("ip", ["link", "set", "lo", "up"]);
for (const address of addresses)
  await run("ip", ["address", "add", address, "dev", "lo", ...(address.includes(":") ? ["nodad"] : [])]);

let seen: string[] = [];
const tcp = createServer((socket) => {
  seen.push(`tcp ${socket.localAddress}`);
  socket.on("error", () => {}).end();
});
const port = await new Promise<number>((resolve) =>
  tcp.listen(0, "::", () => resolve((tcp.address() as { port: number }).port)),
);
const udp = createSocket({ type: "udp6", ipv6Only: false });
udp.on("message", (message, from) => {
  seen.push(`udp ${from.address}`);
  udp.send(message, from.port, from.address);
});
await new Promise<void>((resolve) => udp.bind(port, "::", resolve));

const server = await Server.start();
try {
  const targets = [...addresses, "0.0.0.0", "127.0.0.1", "::1", "::ffff:127.0.0.1", "2852039166", "0x7f000001"];
  const beside = await run(join(binDir, "inis-test-probe"), ["reach", String(port), ...targets]);
  const seenBeside = await eventually("the servers saw the probe", () => seen.length >= 2 * targets.length && seen);
  seen = [];
  const session = await TestSession.create(server.client(), { egress: { mode: "allow" } });
  await install(session);
  const sandbox = await probe(session, "sandbox", "reach", String(port), ...targets);
  const root = await probe(session, "root", "reach", String(port), ...targets);
  const api = await probe(session, "root", "reach", new URL(server.baseUrl).port, "127.0.0.1", "::1");
  const own = await session.exec([
    "python3",
    "-c",
    "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); c = socket.create_connection(s.getsockname()); print('ok')",
  ]);
  console.log(JSON.stringify({ beside, seenBeside, sandbox, root, api, own: own.stdout, seen }));
} finally {
  await server.stop();
  tcp.close();
  udp.close();
}
