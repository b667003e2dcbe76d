// SPDX-License-Identifier: Apache-2.0
// Who attaches to a terminal again sees the screen as it is: the replay and a fresh emulator make the same picture.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, sleep } from "../support/helpers.js";
import { Screen } from "../support/screen.js";
import { suite } from "../support/suite.js";
import { Size, Terminal, type TerminalQuery } from "../support/terminal.js";

const t = suite({ on_pty_detach: "keep_live", env: { LANG: "C.UTF-8", HISTFILE: "" } });

/** Waits until nothing has come for a while: full-screen programs paint in pieces. */
async function settled(terminal: Terminal): Promise<Terminal> {
  for (let before = -1; before !== terminal.shown.length; ) {
    before = terminal.shown.length;
    await sleep(400);
  }
  return terminal;
}

/** Waits until the screen shows it and nothing more comes. */
async function painted(terminal: Terminal, what = /\S/): Promise<Terminal> {
  await eventually(`the screen shows ${what}`, async () => what.test((await pictureOf(terminal)).lines.join("\n")));
  return settled(terminal);
}

const pictureOf = async (terminal: Terminal) => (await new Screen().feed(terminal.shown)).picture();

/** Types and resizes as said, and lets the program answer after each step. */
async function use(terminal: Terminal, steps: (string | [rows: number, cols: number])[]): Promise<Terminal> {
  for (const step of steps) {
    if (typeof step === "string") terminal.type(step);
    else terminal.resize(...step);
    await settled(terminal);
  }
  return terminal;
}

const available = async (program: string) =>
  (await t.session.exec(["sh", "-c", `command -v ${program}`])).exit_code === 0;

interface Program {
  name: string;
  cmd: string[];
  steps: (string | [number, number])[];
  shows: RegExp;
  /** Paints the same again when it is told of another size. */
  repaints: boolean;
}

const programs: Program[] = [
  {
    name: "vim",
    cmd: ["vim", "-u", "NONE", "-N", "-n", "+syntax on", "+set number ruler", "/workspace/text.c"],
    steps: [
      "5j",
      [40, 120],
      "oint added = 1; /* 日本語 */\x1b",
      [30, 60],
      "/main\r",
      "\x06",
      ":vsplit\r",
      [24, 80],
      "v3j",
    ],
    shows: /VISUAL/,
    repaints: true,
  },
  {
    name: "less",
    cmd: ["less", "-R", "/workspace/text.c"],
    steps: ["jjj", [40, 120], " ", [30, 60], "/line 7\r", "n", [24, 80]],
    shows: /line 7/,
    repaints: true,
  },
  {
    name: "top",
    cmd: ["top", "-d", "3600"],
    steps: ["c", [40, 120], "V", [30, 100]],
    shows: /COMMAND/,
    repaints: false,
  },
  {
    name: "python3",
    cmd: ["python3", "/workspace/paint.py"],
    steps: ["a", [40, 120], "b", [24, 80], "c"],
    shows: /key c/,
    repaints: true,
  },
  {
    name: "bash",
    cmd: ["bash", "--norc"],
    steps: [
      "PS1='> '\r",
      "seq 30\r",
      [30, 60],
      "printf '\\033[1;31mred\\033[0m %060d|\\n' 7\r",
      [24, 100],
      "echo typed and not sent",
    ],
    shows: /typed and not sent/,
    repaints: false,
  },
];

const PAINT = `
import curses, os
def main(w):
    key = "none"
    while True:
        rows, cols = w.getmaxyx()
        w.erase(); w.border()
        w.addstr(rows // 2, 2, f"{rows}x{cols} key {key}", curses.A_REVERSE)
        w.refresh()
        c = w.getch()
        if c == curses.KEY_RESIZE: continue
        key = chr(c)
curses.wrapper(main)
`;

async function prepare(): Promise<void> {
  const lines = Array.from({ length: 400 }, (_, i) => `int line_${i}(void) { return ${i}; } /* line ${i} */`);
  await t.session.write("/workspace/text.c", `${lines.join("\n")}\nint main(void) {}\n`);
  await t.session.write("/workspace/paint.py", PAINT);
}

const attach = (name: string, query: TerminalQuery = {}) => Terminal.open(t.session, { name, ...query });

/** Has more written to the terminal than is kept: bytes that show nothing. */
async function flood(name: string, terminal: Terminal): Promise<void> {
  const { ptys } = (await t.session.expect(200, "GET", "/ptys")).json as { ptys: { name: string; pid: number }[] };
  const pid = ptys.find((pty) => pty.name === name)?.pid;
  await t.session.output(`head -c 1300000 /dev/zero >$(readlink /proc/${pid}/fd/0)`);
  await eventually("all has come", () => terminal.bytes > 1_300_000);
}

for (const { name, cmd, steps, shows, repaints } of programs) {
  test(`P17_after_attaching_again_${name}_looks_as_it_did`, async (context) => {
    if (!(await available(name))) return context.skip(`no ${name} on this machine`);
    await prepare();
    const terminal = await use(await painted(await attach(name, { cmd, rows: 24, cols: 80 })), steps);
    await painted(terminal, shows);
    const changes = terminal.sizes.length;
    terminal.cut();
    const again = await (await attach(name)).live();
    assert.deepEqual(again.begin, { rows: 24, cols: 80, flags: Size.begin }, "the recording begins with its own size");
    assert.equal(again.sizes.length, changes + 1, "each change of the size is in its place, and LIVE");
    const before = Buffer.concat(terminal.output);
    const all = Buffer.concat(again.output);
    assert.equal(all.compare(before, 0, before.length, 0, before.length), 0, "the same bytes");
    /* What it may have written since the connection was cut. */
    const screen = await new Screen().feed([...terminal.shown, all.subarray(before.length)]);
    assert.deepEqual(await pictureOf(again), screen.picture());
    await t.session.expect(204, "DELETE", `/ptys/${name}`);
  });

  /* A shell does not paint its line again, and top paints another time of day. */
  if (!repaints) continue;
  test(`P17_when_the_beginning_is_lost_${name}_paints_itself_again`, async (context) => {
    if (!(await available(name))) return context.skip(`no ${name} on this machine`);
    await prepare();
    const terminal = await use(await painted(await attach(name, { cmd, rows: 24, cols: 80 })), [[30, 90]]);
    await flood(name, terminal);
    const picture = await pictureOf(await painted(terminal));
    terminal.cut();
    const again = await (await attach(name)).live();
    assert.equal(again.begin?.flags, Size.begin | Size.truncated);
    await eventually("the picture is the same", async () => {
      assert.deepEqual(await pictureOf(again), picture);
      return true;
    });
    await t.session.expect(204, "DELETE", `/ptys/${name}`);
  });
}

test("P17_of_two_clients_the_owners_size_is_the_size", async () => {
  await prepare();
  const cmd = ["python3", "/workspace/paint.py"];
  const wide = await painted(await attach("two", { cmd, rows: 50, cols: 200 }), /50x200 key none/);
  const narrow = await painted(await attach("two", { rows: 20, cols: 60 }), /20x60 key none/);
  await wide.takenOver();
  assert.deepEqual(narrow.begin, { rows: 50, cols: 200, flags: Size.begin });
  const picture = await pictureOf(narrow);
  assert.deepEqual([picture.rows, picture.cols], [20, 60]);
  const third = await painted(await attach("two"), /20x60 key none/);
  assert.deepEqual(await pictureOf(third), picture);
  await t.session.expect(204, "DELETE", "/ptys/two");
});

test("P17_output_while_nobody_is_attached_is_in_the_replay", async () => {
  const script = "echo up; read x; for i in $(seq 500); do echo line $i; done; echo over; read x";
  const terminal = await attach("busy", { cmd: ["sh", "-c", script] });
  await terminal.shows("up\r\n");
  terminal.type("\n");
  terminal.cut();
  await eventually("it has written all", async () => {
    const again = await (await attach("busy")).live();
    again.cut();
    return again.text.endsWith("line 500\r\nover\r\n");
  });
  await t.session.expect(204, "DELETE", "/ptys/busy");
});
