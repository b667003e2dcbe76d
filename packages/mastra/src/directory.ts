// SPDX-License-Identifier: Apache-2.0
// Where a command runs. Directories are the guest's; nothing is resolved against this machine.

import { posix } from "node:path";
import type { Session } from "@inis-run/sdk";
import { DEFAULT_DIRECTORY } from "./options.js";

export class DirectoryResolver {
  readonly #base: string;
  readonly #homes = new WeakMap<Session, Promise<string>>();

  constructor(base: string) {
    this.#base = base;
  }

  /** Relative directories start at the sandbox's own; `~` is the home of the guest's user. */
  async resolve(session: Session, directory = "."): Promise<string> {
    const base = await this.#expand(session, this.#base);
    return posix.resolve(DEFAULT_DIRECTORY, base, await this.#expand(session, directory));
  }

  async #expand(session: Session, directory: string): Promise<string> {
    if (directory !== "~" && !directory.startsWith("~/")) return directory;
    return posix.join(await this.#home(session), directory.slice(1));
  }

  #home(session: Session): Promise<string> {
    let home = this.#homes.get(session);
    if (!home) {
      home = session.exec(["sh", "-c", 'printf %s "$HOME"']).then(({ stdout }) => stdout || "/");
      home.catch(() => this.#homes.delete(session));
      this.#homes.set(session, home);
    }
    return home;
  }
}
