// SPDX-License-Identifier: Apache-2.0
// L15: what a session is given to keep is nowhere that anybody else reads.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "../support/contract.js";
import { descendants, role } from "../support/footprint.js";
import { randomBytes } from "../support/helpers.js";
import { sh, TestSession } from "../support/session.js";
import { suite } from "../support/suite.js";

const t = suite();

/** Values of which no two look alike, so that what leaks says where it came from. */
const fresh = (kind: string) => `${kind}-${randomBytes(12).toString("hex")}`;
const inSecrets = fresh("secret");
const inEnv = fresh("env");
const inStdin = fresh("stdin");

/** Everything below a directory that holds the text. */
function filesWith(directory: string, text: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => readFileSync(path).includes(text));
}

test("L15_secrets_are_in_no_log_answer_metric_audit_database_or_command_line", async () => {
  const answers: string[] = [];
  const ask = async (method: string, path: string, json?: JsonObject) =>
    answers.push((await t.client.send(method, path, { json })).body.toString("latin1"));

  const secrets = { TOKEN: inSecrets };
  const session = await TestSession.create(t.client, { name: "holder", secrets, env: { PLAIN: inEnv } });
  answers.push(JSON.stringify(session.info));
  assert.equal(await session.output('printf %s "$TOKEN$PLAIN" | wc -c'), `${inSecrets.length + inEnv.length}\n`);
  await session.exec(["wc", "-c"], { stdin: inStdin, env: { MORE: inSecrets } });
  await session.start("holder", sh('test -n "$TOKEN" && sleep 600'), { env: { MORE: inSecrets } });

  // Whatever is refused is not quoted either.
  const mistakes: JsonObject[] = [
    { size: "absurd" },
    { name: "holder" },
    { template: "no-such-template" },
    { idle_timeout_ms: -1 },
  ];
  for (const mistake of mistakes) await ask("POST", "/v1/sessions", { secrets, ...mistake });
  await ask("POST", "/v1/sessions", { secrets: { "BAD NAME": inSecrets } });
  await ask("POST", "/v1/sessions", { secrets: { TOKEN: [inSecrets] } });
  await ask("POST", session.path("/exec"), { command: ["true"], cwd: "/nowhere", env: { MORE: inSecrets } });
  await ask("POST", session.path("/exec"), { command: ["true"], stdin: inSecrets, stdin_encoding: "neither" });
  for (const path of ["", "/processes", "/processes/holder", "/audit", "/usage", "/egress"])
    await ask("GET", session.path(path));
  for (const path of ["/v1/sessions", "/v1/org", "/metrics", "/v1/templates"]) await ask("GET", path);
  await session.pause();
  await ask("GET", session.path());
  await session.resume();

  for (const text of answers) assert(!text.includes(inSecrets) && !text.includes(inStdin), text.slice(0, 400));
  for (const value of [inSecrets, inEnv, inStdin, t.server.token]) {
    assert(!t.server.logs().includes(value), `the log has ${value.slice(0, 6)}`);
    for (const { pid, command } of descendants(t.server.pid))
      assert(!command.join(" ").includes(value), `cmdline of ${pid} has ${value.slice(0, 6)}`);
  }
  const stored = readdirSync(join(t.server.stateDir, "db"));
  assert(stored.length > 0, "the database is where it is looked for");
  for (const value of [inSecrets, inStdin, t.server.token])
    assert.deepEqual(filesWith(join(t.server.stateDir, "db"), value), [], value.slice(0, 6));
  await session.destroy();
  assert(!t.server.logs().includes(inSecrets));
});

test("L15_what_holds_secrets_leaves_no_core_and_is_read_by_no_other_process", async () => {
  const session = await TestSession.create(t.client, { secrets: { TOKEN: inSecrets } });
  for (const pid of [role(t.server, "front"), role(t.server, "broker")]) {
    const limits = readFileSync(`/proc/${pid}/limits`, "utf8");
    assert.match(limits, /^Max core file size\s+0\s+0\s/m, `core limit of ${pid}`);
  }
  // Not dumpable: the kernel gives what is below /proc to root and takes it from the process's own user.
  const front = role(t.server, "front");
  assert.equal(statSync(`/proc/${front}/environ`).uid, 0, "the front's memory is not its own user's to read");
  // The same within: a guest cannot look into its agent.
  const peek = await session.exec(sh("head -c 1 /proc/1/mem; cat /proc/1/environ /proc/1/maps | wc -c"));
  assert.equal(peek.stdout.trim(), "0", JSON.stringify(peek));
  await session.destroy();
});
