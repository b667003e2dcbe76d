// SPDX-License-Identifier: Apache-2.0
// What the program says about itself: help, manual page and suggestions come from the tables that it parses with.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { inis } from "./program.js";

/** What a terminal of old printed bold with. */
const BACKSPACE = "\x08";

/** Names and tabs after them, as the completion of a shell gets them. */
async function candidates(...words: string[]): Promise<string[]> {
  const { stdout } = await inis(["__complete", ...words]);
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split("\t")[0]!);
}

const verbs = async () => (await candidates("")).filter((verb) => verb !== "help");

describe("inis says what it is", () => {
  test("every verb teaches with examples", async () => {
    const overview = (await inis(["--help"])).stdout;
    for (const verb of await verbs()) {
      assert.match(overview, new RegExp(`^  ${verb} +\\w`, "m"));
      const help = await inis([verb, "--help"]);
      assert.equal(help.code, 0);
      assert.match(help.stdout, new RegExp(`^inis ${verb} .*[\\s\\S]*Examples:\\n  `));
      assert.equal((await inis(["help", verb])).stdout, help.stdout);
      assert.equal((await inis([verb, "-h"])).stdout, help.stdout);
    }
  });

  test("the help of a verb names exactly the options that it takes", async () => {
    for (const verb of await verbs()) {
      const help = (await inis(["help", verb])).stdout;
      const named = [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, option]) => option!);
      const taken = await candidates(verb, "--");
      assert.deepEqual(named.sort(), verb === "completion" ? ["--help"] : taken.sort(), verb);
    }
  });

  test("the manual page holds every verb's help and formats without complaint", async (t) => {
    const page = (await inis(["help", "--man"])).stdout;
    const formatted = spawnSync("mandoc", ["-Tutf8", "-Wwarning"], { input: page });
    if (formatted.error) return t.skip("mandoc is not installed");
    const complaints = formatted.stderr
      .toString()
      .split("\n")
      .filter((line) => line && !/missing date|see above/.test(line));
    assert.deepEqual(complaints, []);
    const text = formatted.stdout.toString();
    const plain = text.replaceAll(new RegExp(`.${BACKSPACE}`, "gu"), "");
    for (const verb of await verbs())
      for (const line of (await inis(["help", verb])).stdout.split("\n"))
        assert.ok(plain.includes(line.trim()), `${verb}: ${line}`);
    for (const code of ["124", "125"]) assert.ok(plain.includes(code));
  });

  test("--version is one line", async () => {
    assert.match((await inis(["--version"])).stdout, /^inis \d+\.\d+\.\d+\n$/);
  });

  test("an unknown verb is an error; a likely one is suggested, else there is the overview", async () => {
    const far = await inis(["frobnicate"]);
    assert.deepEqual([far.code, far.stdout], [2, ""]);
    assert.match(far.stderr, /no verb "frobnicate"[\s\S]*Verbs/);
    for (const [typo, meant] of Object.entries({ exce: "exec", craete: "create", lgos: "logs", shel: "shell" })) {
      const near = await inis([typo]);
      assert.deepEqual([near.code, near.stdout], [2, ""]);
      assert.match(near.stderr, new RegExp(`did you mean "${meant}"`));
      assert.doesNotMatch(near.stderr, /Verbs/);
    }
    assert.equal((await inis(["help", "exce"])).code, 2);
  });

  test("what is wrong with a command line is said by the verb, with 2, or 125 where a command would have run", async () => {
    const wrong: [string[], RegExp, number][] = [
      [["create", "surplus"], /surplus/, 2],
      [["create", "--timeout", "soon"], /duration/, 2],
      [["ls", "--nonsense"], /nonsense/, 2],
      [["ls", "--state"], /--state/, 2],
      [["rm"], /which session/, 2],
      [["ps", "a", "b"], /too many/, 2],
      [["logs", "a"], /which process/, 2],
      [["logs", "--tail", "-3", "a", "b"], /not a number/, 2],
      [["logs", "--timeout", "1s", "a", "b"], /--follow/, 2],
      [["kill", "--grace", "2h", "a", "b"], /1m/, 2],
      [["start", "a"], /name/, 2],
      [["start", "a", "b"], /command/, 2],
      [["cp", "a"], /from where/, 2],
      [["cp", "a", "b"], /SESSION:PATH/, 2],
      [["cp", "a:b", "c:d"], /this machine/, 2],
      [["up", "x"], /too many/, 2],
      [["completion", "tcsh"], /tcsh/, 2],
      [["template"], /missing/, 2],
      [["run"], /which command/, 125],
      [["exec", "a"], /which command/, 125],
      [["exec"], /which session/, 125],
      [["wait", "a"], /which process/, 125],
      [["shell", "a", "b"], /one session/, 125],
    ];
    for (const [args, reason, code] of wrong) {
      const outcome = await inis(args);
      assert.deepEqual([outcome.code, outcome.stdout], [code, ""], `${args.join(" ")}: ${outcome.stderr}`);
      assert.match(outcome.stderr, reason, args.join(" "));
      assert.match(outcome.stderr, new RegExp(`^inis ${args[0]}: .*\\nSee: inis ${args[0]} --help\\n$`));
    }
  });
});
