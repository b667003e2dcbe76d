// SPDX-License-Identifier: Apache-2.0
// A session as the tests use it: thin names over the raw client, nothing hidden.
import assert from "node:assert/strict";
import type { JsonObject } from "./contract.js";
import type { RawClient, Reply, RequestOptions } from "./http.js";
import type { EventStream } from "./sse.js";

export interface ExecResult {
  stdout: string;
  stderr: string;
  exit_code: number;
  duration_ms: number;
  timed_out: boolean;
  truncated?: boolean;
  stdout_encoding?: "base64";
  stderr_encoding?: "base64";
  oom?: boolean;
}

export interface ProcessObject {
  name: string;
  state: "running" | "exited";
  pid?: number;
  command: string[];
  exit_code?: number;
  signal?: number;
  timed_out?: boolean;
  killed?: boolean;
  oom?: boolean;
  has_stdin?: boolean;
  keep_alive: boolean;
}

export interface ProcessLogs {
  stdout: string;
  stderr: string;
  truncated?: boolean;
  stdout_encoding?: "base64";
  stderr_encoding?: "base64";
  stdout_offset: number;
  stderr_offset: number;
}

type Query = Record<string, number | boolean>;

export const sh = (script: string): string[] => ["sh", "-c", script];

/** The exact bytes of a text member and its encoding flag. */
export function exactBytes(text: string, encoding?: "base64"): Buffer {
  return Buffer.from(text, encoding ?? "utf8");
}

export class TestSession {
  private constructor(
    readonly client: RawClient,
    readonly info: JsonObject,
  ) {}

  static async create(client: RawClient, body: JsonObject = {}): Promise<TestSession> {
    const reply = await client.send("POST", "/v1/sessions", { json: body });
    assert([201, 202].includes(reply.status), `create: ${reply.status} ${reply.body}`);
    return new TestSession(client, reply.json);
  }

  /** The same session through another client. */
  through(client: RawClient): TestSession {
    return new TestSession(client, this.info);
  }

  get id(): string {
    return this.info.session_id as string;
  }

  path(rest = ""): string {
    return `/v1/sessions/${this.id}${rest}`;
  }

  send(method: string, rest: string, options?: RequestOptions): Promise<Reply> {
    return this.client.send(method, this.path(rest), options);
  }

  expect(status: number, method: string, rest: string, options?: RequestOptions): Promise<Reply> {
    return this.client.expect(status, method, this.path(rest), options);
  }

  async get(): Promise<JsonObject> {
    return (await this.expect(200, "GET", "")).json;
  }

  async destroy(): Promise<void> {
    await this.expect(204, "DELETE", "");
  }

  async state(): Promise<string> {
    return (await this.get()).state as string;
  }

  async pause(): Promise<JsonObject> {
    return (await this.expect(200, "POST", "/pause")).json;
  }

  async resume(): Promise<JsonObject> {
    return (await this.expect(200, "POST", "/resume")).json;
  }

  /** Resumes again and again until the work is done: a command that a pause has caught waits for that. */
  async keepResuming<T>(work: Promise<T>): Promise<T> {
    const timer = setInterval(() => void this.send("POST", "/resume").catch(() => {}), 200);
    return work.finally(() => clearInterval(timer));
  }

  async exec(command: string[] | string, more: JsonObject = {}): Promise<ExecResult> {
    const { json } = await this.expect(200, "POST", "/exec", { json: { command, ...more } });
    return json as unknown as ExecResult;
  }

  execStream(command: string[], more: JsonObject = {}): Promise<EventStream> {
    return this.client.events("POST", this.path("/exec"), { query: { stream: true }, json: { command, ...more } });
  }

  /** The stdout of a script that must succeed. */
  async output(script: string): Promise<string> {
    const result = await this.exec(sh(script));
    assert.equal(result.exit_code, 0, `${script}: ${JSON.stringify(result)}`);
    return result.stdout;
  }

  /** Command lines of the processes in the guest whose arguments contain the text. */
  async running(text: string): Promise<string[]> {
    const script = 'for f in /proc/[0-9]*/cmdline; do tr "\\0" " " <"$f" 2>/dev/null; echo; done';
    const { stdout } = await this.exec(sh(script));
    return stdout.split("\n").filter((line) => line.includes(text) && !line.includes("/proc/[0-9]*/cmdline"));
  }

  async start(name: string, command: string[], more: JsonObject = {}): Promise<ProcessObject> {
    const json = { name, command, keep_alive: false, ...more };
    return (await this.expect(200, "POST", "/processes", { json })).json as unknown as ProcessObject;
  }

  async process(name: string, query: Query = {}): Promise<ProcessObject> {
    return (await this.expect(200, "GET", `/processes/${name}`, { query })).json as unknown as ProcessObject;
  }

  async processes(query: Query = {}): Promise<ProcessObject[]> {
    return (await this.expect(200, "GET", "/processes", { query })).json.processes as unknown as ProcessObject[];
  }

  async kill(name: string, query: Record<string, number> = {}): Promise<ProcessObject> {
    return (await this.expect(200, "DELETE", `/processes/${name}`, { query })).json as unknown as ProcessObject;
  }

  async logs(name: string, query: Query = {}): Promise<ProcessLogs> {
    return (await this.expect(200, "GET", `/processes/${name}/logs`, { query })).json as unknown as ProcessLogs;
  }

  follow(name: string, query: Query = {}): Promise<EventStream> {
    return this.client.events("GET", this.path(`/processes/${name}/logs`), { query: { follow: true, ...query } });
  }

  /** Follows a process to its end. */
  async exited(name: string): Promise<ProcessObject> {
    const { terminal } = await (await this.follow(name)).collect();
    assert.equal(terminal?.event, "eof");
    return this.process(name);
  }

  async write(path: string, content: Buffer | string, more: JsonObject = {}): Promise<void> {
    const text = typeof content === "string";
    const json = { path, content: text ? content : content.toString("base64"), encoding: text ? "text" : "base64" };
    await this.expect(200, "PUT", "/files", { json: { ...json, ...more } });
  }

  async read(path: string, query: Record<string, number> = {}): Promise<Buffer> {
    const all = { path, op: "read", encoding: "base64", ...query };
    const { json } = await this.expect(200, "GET", "/files", { query: all });
    assert.equal(json.encoding, "base64");
    return Buffer.from(json.content as string, "base64");
  }

  async list(path: string): Promise<string[]> {
    const { json } = await this.expect(200, "GET", "/files", { query: { path, op: "list" } });
    return json.entries as string[];
  }

  async stat(path: string): Promise<JsonObject> {
    return (await this.expect(200, "GET", "/files", { query: { path, op: "stat" } })).json;
  }

  async download(path: string, query: Record<string, number> = {}): Promise<Buffer> {
    return (await this.expect(200, "GET", "/files/stream", { query: { path, ...query } })).body;
  }
}
