// SPDX-License-Identifier: Apache-2.0
// Client: one server and one key, and everything that is asked of them.

import { execute } from "./api/exec.js";
import { endpointSource } from "./endpoint.js";
import { Artifacts } from "./namespaces/artifacts.js";
import { Checkpoints } from "./namespaces/checkpoints.js";
import { Connectors } from "./namespaces/connectors.js";
import { Domains } from "./namespaces/domains.js";
import { Registries } from "./namespaces/registries.js";
import { Sessions } from "./namespaces/sessions.js";
import { Templates } from "./namespaces/templates.js";
import { Volumes } from "./namespaces/volumes.js";
import { Webhooks } from "./namespaces/webhooks.js";
import { Transport } from "./transport.js";
import type {
  CallOptions,
  Capacity,
  CapacityLimits,
  ClientOptions,
  ExecResult,
  ExecuteOptions,
  Health,
  UsageLabelCost,
  UsageOptions,
  UsageSummary,
} from "./types/index.js";
import { asObject, fromWire, listFrom } from "./wire.js";

const DEFAULT_TIMEOUT_MS = 120_000;

/**
 * Talks to one server with one key.
 *
 * With a key (`token` or `INIS_API_KEY`) it is the server of `baseUrl` or `INIS_BASE_URL`. With neither key nor URL it
 * is the engine of this machine, which the first call finds or starts; `baseUrl` and `token` are empty until then. A
 * URL without a key throws.
 *
 * @example
 * const client = new Client();
 * const session = await client.sessions.create({ egress: { mode: "deny" } });
 * console.log((await session.exec("echo hello")).stdout);
 * await session.destroy();
 */
export class Client {
  /** Milliseconds a call that does not stream may take, unless the call says otherwise. */
  readonly timeoutMs: number;
  readonly sessions: Sessions;
  readonly checkpoints: Checkpoints;
  readonly templates: Templates;
  readonly artifacts: Artifacts;
  readonly registries: Registries;
  readonly connectors: Connectors;
  readonly webhooks: Webhooks;
  readonly domains: Domains;
  readonly volumes: Volumes;
  readonly #transport: Transport;

  constructor(options: ClientOptions = {}) {
    this.timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.#transport = new Transport(endpointSource(options), this.timeoutMs);
    this.sessions = new Sessions(this);
    this.checkpoints = new Checkpoints(this);
    this.templates = new Templates(this.#transport);
    this.artifacts = new Artifacts(this.#transport);
    this.registries = new Registries(this.#transport);
    this.connectors = new Connectors(this.#transport);
    this.webhooks = new Webhooks(this.#transport);
    this.domains = new Domains(this.#transport);
    this.volumes = new Volumes(this.#transport);
  }

  /** Server URL without a slash at its end; empty while the embedded engine is not yet known. */
  get baseUrl(): string {
    return this.#transport.known.baseUrl;
  }

  /** API key; empty while the embedded engine is not yet known. */
  get token(): string {
    return this.#transport.known.token;
  }

  /** @internal */
  get _transport(): Transport {
    return this.#transport;
  }

  /** Whether the server is well, its version, and what it can beyond the published protocol. */
  async health(options?: CallOptions): Promise<Health> {
    const answer = await this.#transport.json({ method: "GET", path: "/v1/healthz", options });
    return { ...fromWire<Health>(answer), extensions: listFrom(answer, "extensions", String) };
  }

  /** Names of the server's extensions, asked once per client. */
  extensions(options?: CallOptions): Promise<ReadonlySet<string>> {
    return this.#transport.extensions(options);
  }

  /** How many sessions there are, and may be. */
  async capacity(options?: CallOptions): Promise<Capacity> {
    const answer = asObject(await this.#transport.json({ method: "GET", path: "/v1/org", options }));
    const capacity = fromWire<Partial<Capacity>>(answer.capacity);
    const { limits } = capacity;
    return {
      running: capacity.running ?? 0,
      warm: capacity.warm ?? 0,
      ...(limits && { limits: { running: 0, warm: 0, ...fromWire<Partial<CapacityLimits>>(limits) } }),
    };
  }

  /** What the account used. */
  async usage(options: UsageOptions = {}): Promise<UsageSummary> {
    const query = { since: options.since, until: options.until, group_by: options.groupBy };
    const answer = asObject(await this.#transport.json({ method: "GET", path: "/v1/usage", query, options }));
    const usage = fromWire<UsageSummary>(answer);
    return answer.labels ? { ...usage, labels: listFrom<UsageLabelCost>(answer, "labels") } : usage;
  }

  /**
   * Runs code in a throwaway session.
   *
   * @example
   * const { stdout } = await client.execute({ language: "python", code: "print(2 ** 10)" });
   */
  execute(options: ExecuteOptions): Promise<ExecResult> {
    return execute(this.#transport, options);
  }
}
