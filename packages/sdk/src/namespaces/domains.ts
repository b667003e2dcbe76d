// SPDX-License-Identifier: Apache-2.0
// `client.domains`: domains of your own for exposed ports.

import type { Transport } from "../transport.js";
import type { CallOptions, DomainInfo } from "../types/index.js";
import { fromWire, listFrom, segment } from "../wire.js";

const PATH = "/v1/org/domains";

export class Domains {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async list(options?: CallOptions): Promise<DomainInfo[]> {
    return listFrom(await this.#transport.json({ method: "GET", path: PATH, options }), "domains");
  }

  /** Registers a domain; publish its `verifyTxtName` record, then `verify`. */
  async add(domain: string, options?: CallOptions): Promise<DomainInfo> {
    return fromWire(await this.#transport.json({ method: "POST", path: PATH, json: { domain }, options }));
  }

  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.#transport.send({ method: "DELETE", path: `${PATH}/${segment(id)}`, options });
  }

  /** Looks for the proof of ownership now; rejects with `conflict` when it is not there yet. */
  async verify(id: string, options?: CallOptions): Promise<DomainInfo> {
    return fromWire(await this.#transport.json({ method: "POST", path: `${PATH}/${segment(id)}/verify`, options }));
  }

  /** Sends the domain's requests to an exposed port of a session. */
  async route(id: string, sessionId: string, port: number, options?: CallOptions): Promise<DomainInfo> {
    const json = { session_id: sessionId, port };
    return fromWire(await this.#transport.json({ method: "PUT", path: `${PATH}/${segment(id)}/route`, json, options }));
  }

  async unroute(id: string, options?: CallOptions): Promise<DomainInfo> {
    return fromWire(await this.#transport.json({ method: "DELETE", path: `${PATH}/${segment(id)}/route`, options }));
  }
}
