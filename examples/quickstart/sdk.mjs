// SPDX-License-Identifier: Apache-2.0
// The SDK without a framework: one session, a command, a file, a stream.
//
//   make build && node examples/quickstart/sdk.mjs
import assert from "node:assert/strict";
import { Client } from "@inis-run/sdk";

const client = new Client();
const session = await client.sessions.create({ egress: { mode: "deny" } });
try {
  await session.writeFile("hello.py", "print('hello from', __import__('getpass').getuser())\n");
  const result = await session.exec("python3 hello.py");
  assert.equal(result.stdout, "hello from sandbox\n");
  process.stdout.write(result.stdout);

  for await (const event of session.execStream("for i in 1 2 3; do echo tick $i; sleep 0.2; done")) {
    if (event.stream === "stdout") process.stdout.write(event.data);
    if (event.stream === "exit") assert.equal(event.exitCode, 0);
  }
} finally {
  await session.destroy();
}
