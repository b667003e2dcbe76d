// SPDX-License-Identifier: Apache-2.0
// The played clients themselves: the bytes that they send are those of the published ones, and what those could not
// read they do not read either.
import assert from "node:assert/strict";
import { createServer, type Server as NetServer, type Socket } from "node:net";
import { after, test } from "node:test";
import { eventually } from "../support/helpers.js";
import { failure, KeyError, type PlayedEvent } from "./clients/answers.js";
import { PythonClient } from "./clients/python.js";
import { exchange } from "./clients/socket.js";
import type { Client } from "./clients/suite.js";
import { TypeScriptClient } from "./clients/typescript.js";

/** Answers every connection with the same bytes and keeps what it was sent. */
class Recorder {
  received = Buffer.alloc(0);
  private server!: NetServer;
  private readonly sockets: Socket[] = [];

  static async answering(status: string, body: string, headers = ""): Promise<Recorder> {
    const recorder = new Recorder();
    const sized = headers.includes("chunked") || status.startsWith("204") ? "" : `Content-Length: ${body.length}\r\n`;
    const answer = `HTTP/1.1 ${status}\r\nX-Inis-Request-Id: req_1\r\n${headers}${sized}\r\n${body}`;
    const serve = (socket: Socket) => {
      recorder.sockets.push(socket);
      socket.on("error", () => {});
      socket.on("data", (bytes) => {
        recorder.received = Buffer.concat([recorder.received, bytes]);
      });
      socket.write(answer);
    };
    recorder.server = createServer(serve);
    await new Promise<void>((resolve) => recorder.server.listen(0, "127.0.0.1", resolve));
    recorders.push(recorder);
    return recorder;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as { port: number }).port}`;
  }

  async text(end: string): Promise<string> {
    await eventually("the request is whole", () => this.received.toString("latin1").endsWith(end));
    return this.received.toString("latin1");
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }
}

const recorders: Recorder[] = [];
after(() => {
  for (const recorder of recorders) recorder.close();
});

const SESSION = '{"session_id":"a","state":"paused"}';
const styles = { typescript: TypeScriptClient, python: PythonClient };

async function sent(style: keyof typeof styles, call: (client: Client) => Promise<unknown>, end: string) {
  const recorder = await Recorder.answering("200 OK", SESSION);
  await call(new styles[style](recorder.url, "sk_key"));
  return recorder.text(end);
}

test("typescript_client_sends_an_empty_object_where_python_client_sends_no_body", async () => {
  const typescript = await sent("typescript", (client) => client.pause("a"), "{}");
  assert.match(typescript, /^POST \/v1\/sessions\/a\/pause HTTP\/1\.1\r\n/);
  assert.match(typescript, /\r\nContent-Type: application\/json\r\n/);
  const python = await sent("python", (client) => client.pause("a"), "\r\n\r\n");
  assert.match(python, /\r\nContent-Length: 0\r\n/);
  assert.doesNotMatch(python, /content-type/i);
});

test("both_clients_send_no_content_type_without_a_body_and_the_key_always", async () => {
  for (const style of ["typescript", "python"] as const) {
    const head = await sent(style, (client) => client.get("a"), "\r\n\r\n");
    assert.doesNotMatch(head, /content-type|content-length/i);
    assert.match(head, /\r\nauthorization: Bearer sk_key\r\n/i);
  }
});

test("typescript_client_uploads_in_chunks_and_python_client_with_a_length", async () => {
  const upload = (client: Client) => client.upload("a", "/workspace/a b", Buffer.from("bytes"));
  const typescript = await sent("typescript", upload, "\r\n\r\n5\r\nbytes\r\n0\r\n\r\n");
  assert.match(typescript, /^PUT \/v1\/sessions\/a\/files\/stream\?path=%2Fworkspace%2Fa\+b HTTP/);
  const python = await sent("python", upload, "\r\n\r\nbytes");
  assert.match(python, /^PUT \/v1\/sessions\/a\/files\/stream\?path=\/workspace\/a\+b HTTP/);
  assert.match(python, /\r\nContent-Length: 5\r\n/);
  for (const request of [typescript, python]) assert.doesNotMatch(request, /content-type/i);
});

test("typescript_client_escapes_names_and_python_client_does_not", async () => {
  const get = (client: Client) => client.getProcess("a", "b@c");
  assert.match(await sent("typescript", get, "\r\n\r\n"), /\/processes\/b%40c HTTP/);
  assert.match(await sent("python", get, "\r\n\r\n"), /\/processes\/b@c HTTP/);
});

test("python_client_always_names_an_encoding_and_typescript_client_only_for_bytes", async () => {
  const write = (client: Client) => client.write("a", "f", "x");
  assert.match(await sent("python", write, "}"), /\{"path":"f","content":"x","encoding":"text"\}$/);
  assert.match(await sent("typescript", write, "}"), /\{"path":"f","content":"x"\}$/);
});

test("python_client_reads_no_answer_without_a_body_at_its_own_methods", async () => {
  const { url } = await Recorder.answering("204 No Content", "");
  await assert.rejects(new PythonClient(url, "k").capacity(), SyntaxError);
  await new PythonClient(url, "k").mkdir("a", "d");
  await new PythonClient(url, "k").destroy("a");
  await new TypeScriptClient(url, "k").mkdir("a", "d");
});

test("python_client_fails_on_a_session_without_a_state", async () => {
  const { url } = await Recorder.answering("200 OK", '{"session_id":"a"}');
  await assert.rejects(new PythonClient(url, "k").get("a"), KeyError);
  await new TypeScriptClient(url, "k").get("a");
});

test("no_client_follows_a_redirect", async () => {
  const { url } = await Recorder.answering("307 Temporary Redirect", "{}", "Location: /v1/sessions/b\r\n");
  for (const Kind of Object.values(styles)) await assert.rejects(new Kind(url, "k").get("a"), /redirect/);
});

test("errors_that_are_no_json_keep_their_text", async () => {
  const { url } = await Recorder.answering("502 Bad Gateway", "upstream", "Retry-After: 7\r\n");
  const error = await failure(await exchange(url, { method: "GET", target: "/", headers: [] }));
  const { message, code, retryable, retryAfter, requestId } = error;
  assert.deepEqual([message, code, retryable, retryAfter, requestId], ["502: upstream", "error", true, 7, "req_1"]);
});

const HEAD = "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n";
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

async function events(body: string): Promise<PlayedEvent[]> {
  const { url } = await Recorder.answering("200 OK", body, HEAD);
  const all: PlayedEvent[] = [];
  for await (const event of new TypeScriptClient(url, "k").follow("a", "p")) all.push(event);
  return all;
}

test("streams_are_read_line_by_line_whatever_the_chunks", async () => {
  const frames = [
    ": ping\n\nevent: std",
    "out\r\ndata: 4p",
    "g=\n\nevent: stdout\ndata: lQ==\n\n",
    "event: eof\ndata: \n\n",
  ];
  assert.deepEqual(await events(frames.map(chunk).join("")), [
    { event: "stdout", data: "" },
    { event: "stdout", data: "☕" },
    { event: "eof", data: "" },
  ]);
});

test("a_stream_without_a_terminal_event_is_refused", async () => {
  await assert.rejects(events(`${chunk("event: stdout\ndata: eA==\n\n")}0\r\n\r\n`), /without a terminal event/);
  await assert.rejects(events(`${chunk("event: eof\n\n")}0\r\n\r\n`), /without a terminal event/);
});
