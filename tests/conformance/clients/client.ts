// SPDX-License-Identifier: Apache-2.0
// What the two published clients have in common: the calls and their members. How a request looks on the wire and how
// an answer is taken apart is each one's own, see typescript.ts and python.ts.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { eventsOf, failure, type Members, type PlayedEvent } from "./answers.js";
import { exchange, type Header, type WireAnswer } from "./socket.js";

export type Query = [name: string, value: string][];
export type Command = string | string[];

export interface CreateOptions {
  name?: string;
  labels?: Record<string, string>;
  externalId?: string;
  idleTimeoutMs?: number;
  maxLifetimeMs?: number;
  pausedTtlMs?: number;
  egress?: { mode?: "allow" | "deny"; allow?: string[] };
  size?: string;
  template?: string;
  noSudo?: boolean;
  onPtyDetach?: string;
  commandCapture?: string;
  env?: Record<string, string>;
  secrets?: Record<string, string>;
  idempotencyKey?: string;
}

export interface OneShotOptions {
  language: string;
  code: string;
  dependencies?: string[];
  volumeId?: string;
  timeoutMs?: number;
  size?: string;
  template?: string;
  noSudo?: boolean;
  commandCapture?: string;
}

export interface GrepOptions {
  path?: string;
  filePattern?: string;
  caseSensitive?: boolean;
  contextLines?: number;
  maxResults?: number;
  excludeDirs?: string[];
}

export interface Item {
  path: string;
  content: string;
  encoding?: "text" | "base64";
}

interface Call {
  method: string;
  path: string;
  query?: Query;
  json?: Members;
  headers?: Header[];
  /** The method belongs to the client, not to a session object: how an empty answer is taken differs. */
  ofClient?: boolean;
}

export interface Listing {
  sessions: Members[];
  nextCursor?: string;
}

/** Falsy options are not sent. */
function given(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value));
}

/** A shell line becomes words before it is sent. */
export function words(command: Command): string[] {
  return typeof command === "string" ? ["bash", "-lc", command] : command;
}

export abstract class PublishedClient {
  constructor(
    readonly baseUrl: string,
    readonly token: string,
  ) {}

  /** Headers of every request. */
  protected abstract usual(): Header[];
  protected abstract form(query: Query): string;
  /** A name as a segment of a path. */
  protected abstract segment(name: string): string;
  protected abstract succeeded(status: number): boolean;
  protected abstract value(call: Call, answer: WireAnswer): Promise<Members>;
  /** Fails on a member that the client reads unasked. */
  protected abstract need(object: Members, ...members: string[]): Members;
  /** What is sent where nothing needs to be said. */
  protected abstract readonly nothing: Members | undefined;
  protected abstract egressOf(egress: NonNullable<CreateOptions["egress"]>): Members | undefined;
  protected abstract fileBody(path: string, content: string, encoding?: "text" | "base64"): Members;
  protected abstract uploadOf(bytes: Buffer): { headers: Header[]; body?: Buffer; chunks?: Buffer[] };
  /** Headers of a WebSocket's handshake besides those of the protocol. */
  abstract readonly handshake: Record<string, string>;

  protected target(path: string, query: Query = []): string {
    return query.length === 0 ? path : `${path}?${this.form(query)}`;
  }

  private async open({ method, path, query, json, headers = [] }: Call): Promise<WireAnswer> {
    const body = json === undefined ? undefined : Buffer.from(JSON.stringify(json));
    const kind: Header[] = body ? [["Content-Type", "application/json"]] : [];
    const sized: Header[] = body || method !== "GET" ? [["Content-Length", String(body?.length ?? 0)]] : [];
    const own = [...this.usual(), ...kind, ...headers, ...sized];
    return this.checked(await exchange(this.baseUrl, { method, target: this.target(path, query), headers: own, body }));
  }

  private async checked(answer: WireAnswer): Promise<WireAnswer> {
    try {
      assert(answer.status < 300 || answer.status >= 400, `a redirect: ${answer.status}`);
      assert.match(answer.headers.get("x-inis-request-id") ?? "", /^req_/, "every answer has its id");
      assert.equal(answer.headers.get("content-encoding"), undefined, "bodies are not encoded");
    } catch (error) {
      answer.close();
      throw error;
    }
    if (!this.succeeded(answer.status)) throw await failure(answer);
    return answer;
  }

  protected async call(call: Call): Promise<Members> {
    return this.value(call, await this.open(call));
  }

  private async *events(call: Call, terminal: string[]): AsyncGenerator<PlayedEvent> {
    const answer = await this.open(call);
    assert.equal(answer.headers.get("content-type"), "text/event-stream");
    try {
      yield* eventsOf(answer, terminal);
    } finally {
      answer.close();
    }
  }

  private info(object: Members): Members {
    return this.need(object, "session_id", "state");
  }

  // ---- sessions ----

  private createBody(options: CreateOptions): Members {
    const plain = given({
      name: options.name,
      labels: options.labels,
      external_id: options.externalId,
      idle_timeout_ms: options.idleTimeoutMs,
      max_lifetime_ms: options.maxLifetimeMs,
      egress: options.egress && this.egressOf(options.egress),
      template: options.template,
      size: options.size,
      no_sudo: options.noSudo,
      on_pty_detach: options.onPtyDetach,
      command_capture: options.commandCapture,
      env: options.env,
      secrets: options.secrets,
    });
    return options.pausedTtlMs === undefined ? plain : { ...plain, paused_ttl_ms: options.pausedTtlMs };
  }

  /** Creates a session and polls until it is no longer being made. */
  async create(options: CreateOptions = {}): Promise<Members> {
    const { idempotencyKey: key } = options;
    const headers: Header[] = key === undefined ? [] : [["Idempotency-Key", key]];
    const json = this.createBody(options);
    const made = await this.call({ method: "POST", path: "/v1/sessions", json, headers, ofClient: true });
    let info = this.info(made);
    while (info.state === "creating") {
      await sleep(300);
      info = await this.get(info.session_id);
    }
    assert.notEqual(info.state, "failed", info.status_reason ?? "provisioning failed");
    return info;
  }

  async list(options: { state?: string; limit?: number; cursor?: string; externalId?: string } = {}): Promise<Listing> {
    const { state, limit, cursor, externalId } = options;
    const query = Object.entries(given({ state, limit, cursor, external_id: externalId }));
    const json = await this.call({
      method: "GET",
      path: "/v1/sessions",
      query: query.map(([name, value]) => [name, String(value)]),
      ofClient: true,
    });
    const sessions = (json.sessions as Members[]).map((object) => this.info(object));
    return { sessions, nextCursor: json.next_cursor ?? undefined };
  }

  async get(id: string): Promise<Members> {
    return this.info(await this.call({ method: "GET", path: `/v1/sessions/${id}`, ofClient: true }));
  }

  async destroy(id: string, reason?: string): Promise<void> {
    const query: Query = reason === undefined ? [] : [["reason", reason]];
    await this.call({ method: "DELETE", path: `/v1/sessions/${id}`, query });
  }

  async pause(id: string): Promise<Members> {
    return this.info(await this.call({ method: "POST", path: `/v1/sessions/${id}/pause`, json: this.nothing }));
  }

  async resume(id: string): Promise<Members> {
    return this.info(await this.call({ method: "POST", path: `/v1/sessions/${id}/resume`, json: this.nothing }));
  }

  egress(id: string): Promise<Members> {
    return this.call({ method: "GET", path: `/v1/sessions/${id}/egress` });
  }

  async capacity(): Promise<{ running: number; warm: number }> {
    const { capacity } = await this.call({ method: "GET", path: "/v1/org", ofClient: true });
    return { running: capacity.running ?? 0, warm: capacity.warm ?? 0 };
  }

  async templates(): Promise<Members[]> {
    const { templates } = await this.call({ method: "GET", path: "/v1/templates", ofClient: true });
    return (templates as Members[]).map((one) => this.need(one, "name"));
  }

  async deleteTemplate(name: string): Promise<void> {
    await this.call({ method: "DELETE", path: `/v1/templates/${this.segment(name)}` });
  }

  // ---- commands ----

  private execBody(command: Command, { cwd, timeoutMs }: { cwd?: string; timeoutMs?: number }): Members {
    return { command: words(command), ...given({ cwd, timeout_ms: timeoutMs }) };
  }

  exec(id: string, command: Command, options: { cwd?: string; timeoutMs?: number } = {}): Promise<Members> {
    return this.call({ method: "POST", path: `/v1/sessions/${id}/exec`, json: this.execBody(command, options) });
  }

  execStream(id: string, command: Command, options: { cwd?: string; timeoutMs?: number } = {}) {
    const json = this.execBody(command, options);
    const call: Call = { method: "POST", path: `/v1/sessions/${id}/exec`, query: [["stream", "true"]], json };
    return this.events(call, ["exit", "error"]);
  }

  /** One command in several sessions. Of an item with an error nothing else is looked at. */
  async batchExec(ids: string[], command: Command, options: { cwd?: string; timeoutMs?: number } = {}) {
    const json = { session_ids: ids, ...this.execBody(command, options) };
    const { results } = await this.call({ method: "POST", path: "/v1/sessions/batch/exec", json, ofClient: true });
    return (results as Members[]).map((item) => this.need(item, "session_id"));
  }

  /** A program in a session of its own. */
  execute(options: OneShotOptions): Promise<Members> {
    const { language, code } = options;
    const more = given({
      dependencies: options.dependencies,
      volume_id: options.volumeId,
      timeout_ms: options.timeoutMs,
      size: options.size,
      template: options.template,
      no_sudo: options.noSudo,
      command_capture: options.commandCapture,
    });
    const json = { language, code, ...more };
    return this.call({ method: "POST", path: "/v1/sessions/exec", json, ofClient: true });
  }

  // ---- files ----

  private file(id: string, query: Query): Promise<Members> {
    return this.call({ method: "GET", path: `/v1/sessions/${id}/files`, query });
  }

  async readText(id: string, path: string): Promise<string> {
    const query: Query = [
      ["op", "read"],
      ["path", path],
    ];
    return this.need(await this.file(id, query), "content").content;
  }

  async readBytes(id: string, path: string): Promise<Buffer> {
    const query: Query = [
      ["op", "read"],
      ["path", path],
      ["encoding", "base64"],
    ];
    const { content, encoding } = this.need(await this.file(id, query), "content");
    assert.equal(encoding, "base64");
    return Buffer.from(content, "base64");
  }

  async listFiles(id: string, path = "/workspace"): Promise<string[]> {
    const query: Query = [
      ["op", "list"],
      ["path", path],
    ];
    return (await this.file(id, query)).entries;
  }

  find(id: string, pattern: string, { path = "/workspace", maxResults = 0 } = {}): Promise<Members> {
    const query: Query = [
      ["op", "find"],
      ["path", path],
      ["pattern", pattern],
    ];
    if (maxResults) query.push(["max_results", String(maxResults)]);
    return this.file(id, query);
  }

  grep(id: string, pattern: string, options: GrepOptions = {}): Promise<Members> {
    const more = given({
      file_pattern: options.filePattern,
      case_sensitive: options.caseSensitive && "true",
      context_lines: options.contextLines,
      max_results: options.maxResults,
      exclude_dirs: options.excludeDirs?.join(","),
    });
    const query: Query = [
      ["op", "grep"],
      ["path", options.path ?? "/workspace"],
      ["pattern", pattern],
      ...Object.entries(more).map(([name, value]): [string, string] => [name, String(value)]),
    ];
    return this.file(id, query);
  }

  /** Bytes go as base64. */
  async write(id: string, path: string, content: string | Buffer): Promise<void> {
    const json =
      typeof content === "string"
        ? this.fileBody(path, content)
        : this.fileBody(path, content.toString("base64"), "base64");
    await this.call({ method: "PUT", path: `/v1/sessions/${id}/files`, json });
  }

  async writeFiles(id: string, files: Item[]): Promise<Members[]> {
    return (await this.call({ method: "PUT", path: `/v1/sessions/${id}/files/batch`, json: { files } })).results;
  }

  async mkdir(id: string, path: string): Promise<void> {
    await this.call({ method: "POST", path: `/v1/sessions/${id}/files/mkdir`, json: { path } });
  }

  async rename(id: string, path: string, destPath: string): Promise<void> {
    const json = { path, dest_path: destPath };
    await this.call({ method: "POST", path: `/v1/sessions/${id}/files/rename`, json });
  }

  async remove(id: string, path: string, { recursive = false } = {}): Promise<void> {
    const query: Query = [["path", path]];
    if (recursive) query.push(["recursive", "true"]);
    await this.call({ method: "DELETE", path: `/v1/sessions/${id}/files`, query });
  }

  /** The body without a Content-Type. */
  async upload(id: string, path: string, bytes: Buffer): Promise<Members> {
    const { headers, ...body } = this.uploadOf(bytes);
    const call: Call = { method: "PUT", path: `/v1/sessions/${id}/files/stream`, query: [["path", path]] };
    const request = { method: call.method, target: this.target(call.path, call.query), ...body };
    const answer = await exchange(this.baseUrl, { ...request, headers: [...this.usual(), ...headers] });
    return this.value(call, await this.checked(answer));
  }

  async download(id: string, path: string): Promise<Buffer> {
    const answer = await this.open({
      method: "GET",
      path: `/v1/sessions/${id}/files/stream`,
      query: [["path", path]],
    });
    assert.equal(answer.headers.get("content-type"), "application/octet-stream");
    return answer.body();
  }

  // ---- background processes ----

  private process(id: string, name: string, rest = ""): string {
    return `/v1/sessions/${id}/processes/${this.segment(name)}${rest}`;
  }

  start(id: string, name: string, command: Command, { cwd = "", keepAlive = false } = {}): Promise<Members> {
    const json = { name, command: words(command), keep_alive: keepAlive, ...given({ cwd }) };
    return this.call({ method: "POST", path: `/v1/sessions/${id}/processes`, json });
  }

  async processes(id: string): Promise<Members[]> {
    return (await this.call({ method: "GET", path: `/v1/sessions/${id}/processes` })).processes;
  }

  getProcess(id: string, name: string): Promise<Members> {
    return this.call({ method: "GET", path: this.process(id, name) });
  }

  kill(id: string, name: string): Promise<Members> {
    return this.call({ method: "DELETE", path: this.process(id, name) });
  }

  logs(id: string, name: string): Promise<Members> {
    return this.call({ method: "GET", path: this.process(id, name, "/logs") });
  }

  follow(id: string, name: string): AsyncGenerator<PlayedEvent> {
    const call: Call = { method: "GET", path: this.process(id, name, "/logs"), query: [["follow", "true"]] };
    return this.events(call, ["eof", "error"]);
  }

  /** Where a terminal is opened. */
  terminalTarget(id: string, query: Query): string {
    return this.target(`/v1/sessions/${id}/pty`, query);
  }
}

export type { Call };
