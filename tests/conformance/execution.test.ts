// SPDX-License-Identifier: Apache-2.0
// One command in several sessions, and a program in a session of its own, as the published clients play them.
import assert from "node:assert/strict";
import type { Members } from "./clients/answers.js";
import { players } from "./clients/suite.js";

const play = players();

/** What a client takes an item for: of one with an error only that. */
const outcome = (item: Members) => (item.error ? "error" : [item.stdout, item.stderr, item.exit_code, item.timed_out]);

play.both("gets_one_result_for_each_session_in_order", async (client, id) => {
  const { session_id: other } = await client.create({ env: { WHO: "other" } });
  const results = await client.batchExec([other, "nosuchsession", id], "printenv WHO || echo first; pwd >&2; exit 2", {
    cwd: "/tmp",
    timeoutMs: 60_000,
  });
  assert.deepEqual(
    results.map(({ session_id }) => session_id),
    [other, "nosuchsession", id],
  );
  assert.deepEqual(results.map(outcome), [["other\n", "/tmp\n", 2, false], "error", ["first\n", "/tmp\n", 2, false]]);
  assert.equal(typeof results[0]!.duration_ms, "number");
  await client.destroy(other);
  const [gone] = await client.batchExec([other], ["true"]);
  assert.equal(outcome(gone!), "error", "a destroyed session fails nothing but itself");
});

play.both("gets_bytes_of_a_batch_as_base64_of_that_stream_only", async (client, id) => {
  const [result] = await client.batchExec([id], "printf 'a\\377'; printf text >&2");
  assert.deepEqual(
    [result!.stdout_encoding, Buffer.from(result!.stdout, "base64"), result!.stderr_encoding, result!.stderr],
    ["base64", Buffer.from([0x61, 0xff]), undefined, "text"],
  );
});

play.both("runs_a_program_in_a_session_of_its_own", async (client, id) => {
  const before = (await client.list()).sessions.map((info) => info.session_id);
  const result = await client.execute({ language: "python", code: "print(2 ** 10)", timeoutMs: 60_000, size: "small" });
  assert.deepEqual(
    [result.stdout, result.stderr, result.exit_code, result.timed_out, result.phase],
    ["1024\n", "", 0, false, "run"],
  );
  for (const absent of ["truncated", "stdout_encoding", "install_ms"]) assert(!result[absent], absent);
  assert.deepEqual(
    (await client.list()).sessions.map((info) => info.session_id),
    before,
  );
  assert(before.includes(id));
});

play.both("gets_a_failed_installation_as_a_result", async (client) => {
  const dependencies = ["/no/such/package.whl"];
  const result = await client.execute({ language: "python", code: "print('never')", dependencies });
  assert.equal(result.phase, "install");
  assert.notEqual(result.exit_code, 0);
  assert.equal(typeof result.install_ms, "number");
});

play.both("is_refused_a_language_that_there_is_not", async (client) => {
  await assert.rejects(client.execute({ language: "cobol", code: "" }), { status: 400 });
});
