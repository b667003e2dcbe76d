// SPDX-License-Identifier: Apache-2.0
// `session.files`: the older, text-only file calls.

import { legacyFiles } from "./api/files.js";
import type { Transport } from "./transport.js";
import type { LegacyFileOptions } from "./types/index.js";
import { asObject, listFrom } from "./wire.js";

/** Older names of `session.readFile`, `session.writeFile` and `session.listFiles`, for text. */
export class LegacyFiles {
  readonly #transport: Transport;
  readonly #sessionId: string;

  /** @internal */
  constructor(transport: Transport, sessionId: string) {
    this.#transport = transport;
    this.#sessionId = sessionId;
  }

  async read(path: string, options?: LegacyFileOptions): Promise<string> {
    const answer = await legacyFiles(this.#transport, this.#sessionId, { op: "read", path }, options);
    const { content } = asObject(answer);
    return typeof content === "string" ? content : "";
  }

  async write(path: string, content: string, options?: LegacyFileOptions): Promise<void> {
    await legacyFiles(this.#transport, this.#sessionId, { op: "write", path, content }, options);
  }

  async list(path = "/workspace", options?: LegacyFileOptions): Promise<string[]> {
    const answer = await legacyFiles(this.#transport, this.#sessionId, { op: "list", path }, options);
    return listFrom(answer, "entries", String);
  }
}
