// SPDX-License-Identifier: Apache-2.0
// Opens a terminal. The WebSocket client is loaded here and not before, as only Node can use it.

import { argv } from "../api/exec.js";
import { sessionPath } from "../api/sessions.js";
import { InisError } from "../errors.js";
import { hasNode } from "../node.js";
import { CallScope, clampDelay } from "../scope.js";
import type { Transport } from "../transport.js";
import type { PTYOptions } from "../types/index.js";
import { MAX_MESSAGE } from "./messages.js";
import { PTY } from "./pty.js";

const DEFAULT_OPEN_MS = 30_000;

export async function openPty(transport: Transport, sessionId: string, options: PTYOptions = {}): Promise<PTY> {
  if (!hasNode()) {
    throw new InisError("terminals need Node.js: this runtime's WebSocket cannot send the API key in a header", {
      code: "unsupported_runtime",
    });
  }
  const path = sessionPath(sessionId, `/pty?${ptyQuery(options)}`);
  const limitMs = options.openTimeoutMs ?? DEFAULT_OPEN_MS;
  const scope = new CallScope(options.signal);
  const overdue = (): void => scope.abort(new InisError(`pty connection failed: not open after ${limitMs} ms`));
  const limit = limitMs ? setTimeout(overdue, clampDelay(limitMs)) : undefined;
  try {
    const wanted = { "pty.name": options.name === undefined ? undefined : "name of a terminal" };
    await transport.requireExtensions(wanted, { signal: scope.signal });
    const { baseUrl, token } = await transport.endpoint(scope);
    const { connectWebSocket } = await import("../websocket/connect.js");
    const headers = { Authorization: `Bearer ${token}` };
    const connection = { url: baseUrl + path, headers, maxMessage: MAX_MESSAGE, signal: scope.signal };
    return await PTY._open((handlers) => connectWebSocket(connection, handlers));
  } finally {
    clearTimeout(limit);
    scope.dispose();
  }
}

function ptyQuery(options: PTYOptions): URLSearchParams {
  const query = new URLSearchParams({
    ...size(options),
    term: options.term ?? "xterm-256color",
    colorterm: options.colorterm ?? "truecolor",
  });
  if (options.name !== undefined) query.set("name", options.name);
  for (const argument of options.command ? argv(options.command) : []) query.append("cmd", argument);
  if (options.cwd) query.set("cwd", options.cwd);
  return query;
}

/** Nothing for a named terminal whose size is not asked for: one that runs keeps its own. */
function size({ name, rows, cols }: PTYOptions): Record<string, string> {
  if (name !== undefined && rows === undefined && cols === undefined) return {};
  return { rows: String(rows ?? 24), cols: String(cols ?? 80) };
}
