// SPDX-License-Identifier: Apache-2.0
// Opens a WebSocket with an Authorization header, which the platform's own WebSocket cannot send. Node only.

import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { encodeBase64 } from "../base64.js";
import { errorFromAnswer, InisError } from "../errors.js";
import { nodeModule } from "../node.js";
import { type SocketHandlers, WebSocketConnection } from "./connection.js";

const PURPOSE = "a terminal";
const ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const MAX_REFUSAL = 64 * 1024;

export interface ConnectOptions {
  /** `http:` or `https:`. */
  url: string;
  headers: Record<string, string>;
  maxMessage: number;
  signal: AbortSignal;
}

/** Rejects with `<status>: <error text>` when the server refuses, and with the signal's reason when that ends. */
export async function connectWebSocket(
  options: ConnectOptions,
  handlers: SocketHandlers,
): Promise<WebSocketConnection> {
  const secure = options.url.startsWith("https:");
  const { request: open } = await nodeModule(secure ? "node:https" : "node:http", PURPOSE);
  const key = encodeBase64(crypto.getRandomValues(new Uint8Array(16)));
  const accept = await acceptFor(key);
  options.signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const request = open(options.url, {
      agent: false,
      headers: {
        ...options.headers,
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": key,
      },
    });
    const onAbort = (): void => fail(options.signal.reason);
    const settle = (): void => options.signal.removeEventListener("abort", onAbort);
    const fail = (error: unknown): void => {
      settle();
      request.on("error", () => {}).destroy();
      reject(error);
    };
    options.signal.addEventListener("abort", onAbort, { once: true });
    request.once("error", (cause) => fail(failure(cause.message, cause)));
    request.once("response", (response) => refusal(response).then(fail, fail));
    request.once("upgrade", (response, socket, head) => {
      const flaw = handshakeFlaw(response, accept);
      if (flaw) {
        socket.destroy();
        return fail(failure(flaw));
      }
      settle();
      resolve(new WebSocketConnection(socket as Socket, head, options.maxMessage, handlers));
    });
    request.end();
  });
}

function failure(text: string, cause?: unknown): InisError {
  return new InisError(`pty connection failed: ${text}`, { cause });
}

async function acceptFor(key: string): Promise<string> {
  const { createHash } = await nodeModule("node:crypto", PURPOSE);
  return createHash("sha1")
    .update(key + ACCEPT_SUFFIX)
    .digest("base64");
}

function handshakeFlaw(response: IncomingMessage, accept: string): string | undefined {
  const { headers } = response;
  if (headers.upgrade?.toLowerCase() !== "websocket") return "the server upgraded to something else";
  if (headers["sec-websocket-accept"] !== accept) return "the server's handshake does not match";
  if (headers["sec-websocket-extensions"] || headers["sec-websocket-protocol"]) {
    return "the server chose an extension that was not offered";
  }
  return undefined;
}

/** The error of a plain HTTP answer; its code stays `"error"`. */
async function refusal(response: IncomingMessage): Promise<InisError> {
  let body = "";
  response.setEncoding("utf8");
  for await (const text of response) {
    body += text;
    if (body.length > MAX_REFUSAL) break;
  }
  return new InisError(errorFromAnswer(response.statusCode ?? 0, new Headers(), body).message);
}
