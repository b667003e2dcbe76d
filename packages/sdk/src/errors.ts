// SPDX-License-Identifier: Apache-2.0
// The SDK's one error class, and how an HTTP answer becomes one.

/** What `new InisError(message, detail)` takes besides the message. */
export interface InisErrorDetail {
  code?: string;
  status?: number;
  retryable?: boolean;
  retryAfter?: number;
  requestId?: string;
  response?: object;
  cause?: unknown;
}

/**
 * Every error that the server answered or the SDK itself found. Network failures and aborts are not among them: they
 * are the platform's own (`TypeError`, `AbortError`).
 *
 * Branch on `code`, never on the message. Codes of the SDK's own: `engine_not_found`, `engine_failed`,
 * `unsupported_extension`, `unsupported_runtime`, `stream_interrupted`, `stream_idle_timeout`, `invalid_response`,
 * `session_failed`, `create_timeout`, `checksum_mismatch`; plus `validation` for an argument that cannot be sent.
 *
 * @example
 * try {
 *   await session.readFile("notes.txt");
 * } catch (error) {
 *   if (error instanceof InisError && error.status === 404) return "";
 *   throw error;
 * }
 */
export class InisError extends Error {
  override readonly name = "InisError";
  /** Stable machine code, e.g. `not_found`; `"error"` when none is known. */
  readonly code: string;
  /** HTTP status, when the server answered. */
  readonly status?: number;
  /** The same call may succeed later. The SDK never retries by itself. */
  readonly retryable: boolean;
  /** Seconds to wait before a retry, when the server told. */
  readonly retryAfter?: number;
  /** The server's name for the request, to be quoted in a report. */
  readonly requestId?: string;
  /** The decoded JSON body of the answer. */
  readonly response?: object;

  constructor(message: string, detail: InisErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.code = detail.code ?? "error";
    this.retryable = detail.retryable ?? false;
    if (detail.status !== undefined) this.status = detail.status;
    if (detail.retryAfter !== undefined) this.retryAfter = detail.retryAfter;
    if (detail.requestId !== undefined) this.requestId = detail.requestId;
    if (detail.response !== undefined) this.response = detail.response;
  }
}

const RETRYABLE: ReadonlySet<string> = new Set([
  "idempotency_key_in_progress",
  "session_not_live",
  "rate_limited",
  "concurrency_limit_exceeded",
  "rate_limit_exceeded",
  "account_concurrency_exceeded",
  "key_concurrency_exceeded",
  "bad_gateway",
  "unavailable",
  "service_unavailable",
  "session_unavailable",
  "session_node_unavailable",
  "template_version_unavailable",
]);

/** The error that an answer other than 2xx stands for. */
export function errorFromAnswer(status: number, headers: Headers, body: string): InisError {
  const response = parseObject(body);
  const text = typeof response?.error === "string" && response.error !== "" ? response.error : body.trim();
  const code = typeof response?.code === "string" && response.code !== "" ? response.code : "error";
  const retryAfter = parseRetryAfter(headers.get("retry-after"));
  return new InisError(`${status}: ${text || `HTTP ${status}`}`, {
    code,
    status,
    retryable: RETRYABLE.has(code) || retryAfter !== undefined,
    retryAfter,
    requestId: headers.get("x-inis-request-id") ?? undefined,
    response,
  });
}

function parseObject(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Seconds from a `Retry-After` header, which holds either seconds or a date. */
function parseRetryAfter(value: string | null): number | undefined {
  const text = value?.trim();
  if (!text) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - Date.now()) / 1000));
}
