// SPDX-License-Identifier: Apache-2.0
// The TypeScript client's manners: fetch's headers, `{}` where nothing is said, escaped names, chunked uploads, any
// answer without a body is an empty object.
import type { Members } from "./answers.js";
import { type Call, type CreateOptions, PublishedClient, type Query } from "./client.js";
import type { Header, WireAnswer } from "./socket.js";

const PIECE = 64 * 1024;

export class TypeScriptClient extends PublishedClient {
  protected override readonly nothing = {};
  override readonly handshake = { "Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits" };

  protected override usual(): Header[] {
    return [
      ["connection", "keep-alive"],
      ["authorization", `Bearer ${this.token}`],
      ["accept", "*/*"],
      ["accept-language", "*"],
      ["sec-fetch-mode", "cors"],
      ["user-agent", "node"],
      ["accept-encoding", "gzip, deflate"],
    ];
  }

  protected override form(query: Query): string {
    return new URLSearchParams(query).toString();
  }

  protected override segment(name: string): string {
    return encodeURIComponent(name);
  }

  protected override succeeded(status: number): boolean {
    return status >= 200 && status < 300;
  }

  protected override async value(_: Call, answer: WireAnswer): Promise<Members> {
    const text = (await answer.body()).toString("utf8");
    return text === "" ? {} : JSON.parse(text);
  }

  protected override need(object: Members): Members {
    return object;
  }

  protected override egressOf({ mode = "allow", allow }: NonNullable<CreateOptions["egress"]>): Members {
    return allow ? { mode, allow } : { mode };
  }

  protected override fileBody(path: string, content: string, encoding?: string): Members {
    return encoding ? { path, content, encoding } : { path, content };
  }

  protected override uploadOf(bytes: Buffer) {
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += PIECE) chunks.push(bytes.subarray(at, at + PIECE));
    return { headers: [["transfer-encoding", "chunked"] as Header], chunks };
  }

  // ---- the namespace `session.files`, which speaks the older call ----

  private legacy(id: string, op: string, path: string, more: Members = {}): Promise<Members> {
    return this.call({ method: "POST", path: `/v1/sessions/${id}/files`, json: { op, path, ...more } });
  }

  readonly files = {
    read: async (id: string, path: string): Promise<string> => (await this.legacy(id, "read", path)).content,
    list: async (id: string, path: string): Promise<string[]> => (await this.legacy(id, "list", path)).entries,
    write: async (id: string, path: string, content: string): Promise<void> => {
      await this.legacy(id, "write", path, { content });
    },
  };
}
