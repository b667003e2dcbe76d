// SPDX-License-Identifier: Apache-2.0
// A terminal emulator, so that what a terminal shows can be compared: characters, their looks, cursor and modes.
import xterm from "@xterm/headless";
import type { SizeMessage } from "./terminal.js";

export interface Picture {
  rows: number;
  cols: number;
  buffer: string;
  cursor: [x: number, y: number];
  modes: object;
  lines: string[];
  /** Per line, the looks of each cell that is not plain. */
  looks: string[];
}

export class Screen {
  private readonly emulator = new xterm.Terminal({ allowProposedApi: true, scrollback: 0 });
  private fed = 0;

  /** Feeds what has come since the last call; a size is set where it stands. */
  async feed(shown: readonly (Buffer | SizeMessage)[]): Promise<this> {
    for (; this.fed < shown.length; this.fed++) {
      const one = shown[this.fed]!;
      if (Buffer.isBuffer(one)) await new Promise<void>((resolve) => this.emulator.write(one, resolve));
      else this.emulator.resize(one.cols, one.rows);
    }
    return this;
  }

  picture(): Picture {
    const { rows, cols, buffer, modes } = this.emulator;
    const { active } = buffer;
    const lines: string[] = [];
    const looks: string[] = [];
    for (let y = 0; y < rows; y++) {
      const line = active.getLine(active.baseY + y)!;
      lines.push(line.translateToString(true));
      const cells: string[] = [];
      for (let x = 0; x < cols; x++) {
        const cell = line.getCell(x)!;
        if (cell.isAttributeDefault()) continue;
        const flags = [cell.isBold(), cell.isDim(), cell.isUnderline(), cell.isInverse()].map(Boolean).map(Number);
        cells.push(`${x}:${cell.getFgColor()}/${cell.getBgColor()}/${flags.join("")}`);
      }
      looks.push(cells.join(" "));
    }
    const cursor: [number, number] = [active.cursorX, active.cursorY];
    return { rows, cols, buffer: active.type, cursor, modes: { ...modes }, lines, looks };
  }
}
