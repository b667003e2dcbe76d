// SPDX-License-Identifier: Apache-2.0
// The interpreter's protocol, played by hand with either client's requests.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Interpreter } from "./clients/interpreter.js";
import { players } from "./clients/suite.js";

const play = players();
const result = (text: string) => [{ type: "text", stream: "result", text }];

play.both("keeps_a_kernel_whose_variables_stay", async (client, id) => {
  const interpreter = new Interpreter(client, id);
  assert.deepEqual(await interpreter.run("x = 20\nprint('ü ☕')\nx + 1"), [
    { type: "text", stream: "stdout", text: "ü ☕\n" },
    ...result("21"),
  ]);
  assert.deepEqual(await interpreter.run("{'x': [x, None]}"), [{ type: "json", json: { x: [20, null] } }]);
  assert.equal((await interpreter.run("1 / 0"))[0]?.ename, "ZeroDivisionError");
  assert.deepEqual(await interpreter.run("x"), result("20"));
  assert.equal(interpreter.starts, 1);
  assert.deepEqual(await client.listFiles(id, "/workspace/.inis_kernel/requests"), []);
  assert.deepEqual(await client.listFiles(id, "/workspace/.inis_kernel/results"), []);
});

play.both("restarts_the_kernel_and_keeps_the_files", async (client, id) => {
  const interpreter = new Interpreter(client, id);
  await interpreter.run("x = 1; open('/workspace/kept', 'w').write('kept')");
  await interpreter.restart();
  assert.equal((await interpreter.run("x"))[0]?.ename, "NameError");
  assert.deepEqual(await interpreter.run("open('/workspace/kept').read()"), result("'kept'"));
});

play.both("tells_a_timeout_and_leaves_the_context", async (client, id) => {
  const interpreter = new Interpreter(client, id);
  await interpreter.run("import os, time");
  const code = "x = 7\nwhile not os.path.exists('/workspace/go'): time.sleep(0.05)";
  assert.equal((await interpreter.run(code, 300))[0]?.ename, "TimeoutError");
  await client.write(id, "go", "");
  assert.deepEqual(await interpreter.run("x"), result("7"));
  assert.equal(interpreter.starts, 1);
});

play.both("replaces_a_kernel_that_has_died", async (client, id) => {
  const interpreter = new Interpreter(client, id);
  await interpreter.run("x = 1");
  await client.kill(id, "inis-kernel");
  assert.deepEqual(await interpreter.run("40 + 2", 1000), result("42"));
  assert.equal(interpreter.starts, 2);
});

play.both("finds_the_kernel_thawed_after_a_pause", async (client, id) => {
  const interpreter = new Interpreter(client, id);
  await interpreter.run("x = 5");
  await client.pause(id);
  assert.deepEqual(await interpreter.run("x"), result("5"));
  assert.equal(interpreter.starts, 1);
});

test("python_client_goes_on_in_the_kernel_that_typescript_client_has_started", async () => {
  const { session_id: id } = await play.typescript.create();
  await new Interpreter(play.typescript, id).run("x = 'shared'");
  const other = new Interpreter(play.python, id);
  assert.deepEqual(await other.run("x"), result("'shared'"));
  assert.equal(other.starts, 0);
  await play.python.destroy(id);
});
