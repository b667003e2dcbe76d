// SPDX-License-Identifier: Apache-2.0
// One HTTP call to the server: address, key, time limit, errors. Everything the SDK sends goes through here.
//
// A Transport belongs to one Client. It never retries, with one exception: when the embedded engine stopped itself
// while idle and the connection is refused, nothing was sent yet, and the call starts the engine again.

import { Leases } from "./api/lease.js";
import type { Endpoint, EndpointSource } from "./endpoint.js";
import { errorFromAnswer, InisError } from "./errors.js";
import { CallScope } from "./scope.js";
import type { CallOptions } from "./types/index.js";
import { asObject } from "./wire.js";

export type Query = Record<string, string | number | boolean | undefined>;

export interface Call {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  /** Members that are undefined, false or empty are left out. */
  query?: Query;
  json?: unknown;
  /** Raw body; called once for each time that it is sent. */
  body?: () => BodyInit;
  headers?: Record<string, string>;
  /** The caller's options. */
  options?: CallOptions;
  /** Time limit when the caller gave none; the client's own by default. 0 = none. */
  defaultTimeoutMs?: number;
}

/** An answer whose body is still to be read. `scope` covers that too, and must be disposed of. */
export interface OpenAnswer {
  response: Response;
  scope: CallScope;
}

export class Transport {
  readonly timeoutMs: number;
  readonly leases = new Leases();
  readonly #source: EndpointSource;
  #extensions: Promise<ReadonlySet<string>> | undefined;

  constructor(source: EndpointSource, timeoutMs: number) {
    this.#source = source;
    this.timeoutMs = timeoutMs;
  }

  get embedded(): boolean {
    return this.#source.embedded;
  }

  /** What is known now: empty strings before the embedded engine was found. */
  get known(): Endpoint {
    return this.#source.known;
  }

  /** The client's time limit, raised for a call that may take longer than that by its nature. 0 = none. */
  limitOfAtLeast(ms: number): number {
    return this.timeoutMs && Math.max(this.timeoutMs, ms);
  }

  /** The server's address and key. */
  async endpoint(scope: CallScope): Promise<Endpoint> {
    return scope.race(this.#source.find());
  }

  /** The decoded JSON of a successful answer; `{}` for an empty one. */
  async json(call: Call): Promise<unknown> {
    const { response, scope } = await this.open(call);
    try {
      const text = response.status === 204 ? "" : await scope.race(response.text());
      return text === "" ? {} : parseJson(text, response);
    } finally {
      scope.dispose();
    }
  }

  /** Sends a call whose answer carries nothing of interest. */
  async send(call: Call): Promise<void> {
    const { response, scope } = await this.open(call);
    try {
      await scope.race(response.arrayBuffer());
    } finally {
      scope.dispose();
    }
  }

  /** The answer as soon as its head is there; an error for any status but 2xx. */
  async open(call: Call): Promise<OpenAnswer> {
    const { signal, timeoutMs } = call.options ?? {};
    const scope = new CallScope(signal, timeoutMs ?? call.defaultTimeoutMs ?? this.timeoutMs);
    try {
      const response = await this.#fetch(call, scope);
      if (!response.ok) {
        throw errorFromAnswer(response.status, response.headers, await scope.race(response.text()));
      }
      return { response, scope };
    } catch (error) {
      scope.dispose();
      throw error;
    }
  }

  /** Names of the server's protocol extensions, asked once. */
  async extensions(options?: CallOptions): Promise<ReadonlySet<string>> {
    this.#extensions ??= this.#askExtensions().catch((error: unknown) => {
      this.#extensions = undefined;
      throw error;
    });
    const scope = new CallScope(options?.signal, options?.timeoutMs);
    try {
      return await scope.race(this.#extensions);
    } finally {
      scope.dispose();
    }
  }

  /**
   * Fails unless the server has each extension. Servers ignore request fields they do not know, so a field of an
   * extension must not be sent before this.
   * @param wanted extension → what needs it; nothing is asked when all are undefined
   */
  async requireExtensions(wanted: Record<string, string | undefined>, options?: CallOptions): Promise<void> {
    const names = Object.keys(wanted).filter((name) => wanted[name] !== undefined);
    if (names.length === 0) return;
    const offered = await this.extensions(options);
    const missing = names.filter((name) => !offered.has(name));
    if (missing.length === 0) return;
    const what = missing.map((name) => `${wanted[name]} (extension ${name})`).join(", ");
    throw new InisError(`this server does not support ${what}`, { code: "unsupported_extension" });
  }

  async #askExtensions(): Promise<ReadonlySet<string>> {
    try {
      const health = asObject(await this.json({ method: "GET", path: "/v1/healthz" }));
      return new Set(Array.isArray(health.extensions) ? health.extensions.map(String) : []);
    } catch (error) {
      if (error instanceof InisError && (error.status === 404 || error.status === 405)) return new Set();
      throw error;
    }
  }

  async #fetch(call: Call, scope: CallScope): Promise<Response> {
    const endpoint = await this.endpoint(scope);
    try {
      return await scope.race(fetch(...request(call, endpoint, scope.signal)));
    } catch (error) {
      if (scope.signal.aborted || !isRefused(error) || !this.#source.lost(endpoint)) throw error;
    }
    this.#extensions = undefined;
    return scope.race(fetch(...request(call, await this.endpoint(scope), scope.signal)));
  }
}

function request(call: Call, endpoint: Endpoint, signal: AbortSignal): [string, RequestInit] {
  const headers: Record<string, string> = { ...call.headers, Authorization: `Bearer ${endpoint.token}` };
  const init: RequestInit & { duplex?: "half" } = { method: call.method, headers, signal, redirect: "manual" };
  if (call.json !== undefined) {
    headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(call.json);
  } else if (call.body) {
    init.body = call.body();
    init.duplex = "half";
  }
  return [endpoint.baseUrl + call.path + queryString(call.query), init];
}

function queryString(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== false && value !== "") parameters.set(key, String(value));
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

function parseJson(text: string, response: Response): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new InisError(`${response.status}: the server's answer is not JSON`, {
      code: "invalid_response",
      status: response.status,
      requestId: response.headers.get("x-inis-request-id") ?? undefined,
      cause,
    });
  }
}

function isRefused(error: unknown): boolean {
  const cause = (error as { cause?: { code?: unknown } } | undefined)?.cause;
  return cause?.code === "ECONNREFUSED";
}
