// SPDX-License-Identifier: Apache-2.0
// The Python client's manners: no body where nothing is said, names as they are, uploads of a known length, and no
// mercy for an answer that lacks a member or, at methods of the client itself, a body.
import { KeyError, type Members } from "./answers.js";
import { type Call, type CreateOptions, PublishedClient, type Query } from "./client.js";
import type { Header, WireAnswer } from "./socket.js";

/** Escapes like Python's urlencode, which leaves other characters alone than a browser does. */
function escaped(text: string): string {
  return encodeURIComponent(text)
    .replaceAll("%20", "+")
    .replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

export class PythonClient extends PublishedClient {
  protected override readonly nothing = undefined;
  override readonly handshake = {
    "Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits",
    "User-Agent": "Python/3.11 websockets/13.1",
  };

  protected override usual(): Header[] {
    return [
      ["Accept", "*/*"],
      ["Accept-Encoding", "gzip, deflate"],
      ["Connection", "keep-alive"],
      ["User-Agent", "python-httpx/0.27.2"],
      ["Authorization", `Bearer ${this.token}`],
    ];
  }

  /** The slashes of values stay as they are: the other half of what servers must read. */
  protected override form(query: Query): string {
    return query.map(([name, value]) => `${escaped(name)}=${escaped(value).replaceAll("%2F", "/")}`).join("&");
  }

  protected override segment(name: string): string {
    return name;
  }

  protected override succeeded(status: number): boolean {
    return status < 400;
  }

  protected override async value({ method, ofClient }: Call, answer: WireAnswer): Promise<Members> {
    const text = (await answer.body()).toString("utf8");
    if (answer.status === 204 && (method === "DELETE" || !ofClient)) return {};
    return JSON.parse(text);
  }

  protected override need(object: Members, ...members: string[]): Members {
    for (const member of members) if (!(member in object)) throw new KeyError(member);
    return object;
  }

  protected override egressOf({ mode, allow }: NonNullable<CreateOptions["egress"]>): Members | undefined {
    if (allow && allow.length > 0) return { mode: mode ?? "allow", allow };
    return mode ? { mode } : undefined;
  }

  protected override fileBody(path: string, content: string, encoding = "text"): Members {
    return { path, content, encoding };
  }

  protected override uploadOf(bytes: Buffer) {
    return { headers: [["Content-Length", String(bytes.length)] as Header], body: bytes };
  }

  /** The one-shot shell client: a session for one command, used at once without waiting for it to be ready. */
  async execOnce(command: string | string[]): Promise<Members> {
    const json = { destroy_on_completion: true };
    const made = await this.call({ method: "POST", path: "/v1/sessions", json, ofClient: true });
    const { session_id: id } = this.need(made, "session_id");
    try {
      return await this.exec(id, command);
    } finally {
      await this.destroy(id).catch(() => {});
    }
  }
}
