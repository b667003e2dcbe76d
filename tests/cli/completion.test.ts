// SPDX-License-Identifier: Apache-2.0
// Completion: what may come next, and the Tab key in the shells themselves.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { withinMs } from "../support/helpers.js";
import { binDir } from "../support/paths.js";
import { Server } from "../support/server.js";
import { cleanEnv, inis, Program } from "./program.js";

/** Types into an interactive shell on a terminal: its set-up, and then what is completed. */
const TYPIST = `
import json, os, pty, re, select, sys, time
job = json.loads(sys.argv[1])
pid, fd = pty.fork()
if pid == 0:
    os.chdir(job["cwd"])
    os.execvpe(job["argv"][0], job["argv"], os.environ)
shown = ""
def until(pattern, seconds=60):
    global shown
    deadline = time.time() + seconds
    while time.time() < deadline:
        if re.search(pattern, shown): return True
        if select.select([fd], [], [], 0.2)[0]:
            try: data = os.read(fd, 65536)
            except OSError: return re.search(pattern, shown) is not None
            shown += re.sub(r"\\x1b\\[[0-9;?]*[A-Za-z]|\\x1b[>=]|\\x1b\\][^\\a]*\\a", "", data.decode("utf8", "replace"))
            if "\\x1b[c" in data.decode("utf8", "replace"): os.write(fd, b"\\x1b[?1;2c")
    return False
for line in job["lines"]: os.write(fd, line.encode() + b"\\n")
until("ready-mark")
until("ready-mark[^$]*" + job["prompt"], 3)
for typed, wanted in job["pairs"]:
    shown = ""
    os.write(fd, b"\\x15" + typed.encode() + b"\\t")
    if not until(re.escape(wanted)):
        sys.exit(typed + ": " + repr(shown))
`;

const SHELLS = {
  bash: {
    argv: ["bash", "--norc", "--noprofile", "-i"],
    lines: ["PS1='%-> '; bind 'set bell-style none'", 'eval "$(inis completion bash)"; echo ready-"mark"'],
  },
  zsh: {
    argv: ["zsh", "-f", "-i"],
    lines: [
      "PS1='%%-> '; unsetopt zle_bracketed_paste; autoload -U compinit; compinit -u -D",
      'eval "$(inis completion zsh)"; echo ready-"mark"',
    ],
  },
  fish: {
    argv: ["fish", "--no-config", "-i"],
    lines: ["function fish_prompt; echo '%-> '; end", 'inis completion fish | source; echo ready-"mark"'],
  },
};

describe("completion", () => {
  let server: Server;
  let env: Record<string, string>;
  let folder: string;
  let id: string;
  const candidates = async (...words: string[]) => (await inis(["__complete", ...words], { env })).stdout;
  const run = async (...args: string[]) => {
    const outcome = await inis(args, { env });
    assert.equal(outcome.code, 0, outcome.stderr);
    return outcome.stdout.trim();
  };

  before(async () => {
    server = await Server.start();
    env = { INIS_BASE_URL: server.baseUrl, INIS_API_KEY: server.token };
    id = await run("create", "--name", "workbench");
    await run("create", "--name", "needs 'quoting'");
    await run("start", id, "webserver", "--", "sleep", "600");
    folder = mkdtempSync(join(tmpdir(), "inis-complete-"));
    writeFileSync(join(folder, "notes.txt"), "");
    mkdirSync(join(folder, "home"));
  });
  after(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("verbs, options, choices, sessions and processes are offered where they can stand", async () => {
    assert.match(await candidates("ex"), /^exec\trun one command in a session that exists\n$/);
    assert.equal(await candidates("logs", "--f"), "--follow\n");
    assert.match(await candidates("rm", "work"), /^workbench\tlive\n$/);
    assert.match(await candidates("rm", id, "work"), /^workbench/, "any number of them");
    assert.match(await candidates("rm", id.slice(0, 10)), new RegExp(`^${id}\\tlive, workbench\\n$`));
    assert.match(await candidates("logs", "-f", "workbench", ""), /^webserver\trunning\n$/);
    assert.match(await candidates("logs", "--tail", "3", "workbench", "web"), /^webserver/);
    assert.equal(await candidates("logs", "workbench", "webserver", ""), "");
    assert.equal(await candidates("create", "--size", "m"), "medium\n");
    assert.equal(await candidates("ls", "--state", "pau"), "paused\n");
    assert.equal(await candidates("completion", ""), "bash\nzsh\nfish\n");
    assert.equal(await candidates("template", "ver"), "verify\n");
    assert.match(await candidates("help", "sh"), /^shell/);
    assert.equal(await candidates("cp", "workb"), "workbench:\n:files\n");
    assert.equal(await candidates("cp", "./x"), ":files\n");
    assert.equal(await candidates("exec", "workbench", "--", "--"), "", "the command line is the command's own");
    assert.equal(await candidates("run", "ls", "--"), "");
    assert.equal(await candidates("nothing", ""), "");
  });

  test("a name that a shell would take apart is not offered, and nothing is started to answer", async () => {
    const offered = (await candidates("rm", "")).split("\n").map((line) => line.split("\t")[0]);
    assert.ok(offered.includes("workbench") && !offered.some((word) => word?.includes("quoting")), `${offered}`);
    const state = join(folder, "no-state");
    const outcome = await inis(["__complete", "rm", ""], { env: { INIS_STATE_DIR: state } });
    assert.deepEqual([outcome.code, outcome.stdout, outcome.stderr], [0, "", ""]);
    const away = await inis(["__complete", "rm", ""], { env: { ...env, INIS_BASE_URL: "http://127.0.0.1:1" } });
    assert.deepEqual([away.code, away.stdout, away.stderr], [0, "", ""]);
  });

  for (const [shell, { argv, lines }] of Object.entries(SHELLS))
    test(`the Tab key in ${shell}`, async (t) => {
      if (spawnSync(argv[0]!, ["--version"]).error) return t.skip(`${shell} is not installed`);
      const wanted = [
        ["inis compl", "inis completion "],
        ["inis logs --fol", "inis logs --follow "],
        ["inis exec work", "inis exec workbench "],
        ["inis kill workbench webs", "inis kill workbench webserver "],
        ["inis cp work", "inis cp workbench:"],
        ["inis cp not", "inis cp notes.txt "],
      ];
      const job = { argv, lines, cwd: folder, prompt: "%-> ", pairs: wanted };
      const typist = Program.start(["-c", TYPIST, JSON.stringify(job)], {
        program: "python3",
        env: { ...env, PATH: `${binDir}:${cleanEnv().PATH}`, TERM: "xterm", HOME: join(folder, "home") },
      });
      const { code, stderr } = await withinMs(shell, 500_000, typist.outcome);
      assert.equal(code, 0, `${shell}: ${stderr}`);
    });
});
