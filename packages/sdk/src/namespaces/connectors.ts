// SPDX-License-Identifier: Apache-2.0
// `client.connectors`: stored credentials that sessions use without seeing them.

import type { Transport } from "../transport.js";
import type { AddConnectorOptions, CallOptions, ConnectorInfo } from "../types/index.js";
import { fromWire, listFrom, segment } from "../wire.js";

const PATH = "/v1/connectors";

export class Connectors {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async list(options?: CallOptions): Promise<ConnectorInfo[]> {
    return listFrom(await this.#transport.json({ method: "GET", path: PATH, options }), "connectors");
  }

  async add(name: string, options: AddConnectorOptions): Promise<ConnectorInfo> {
    const json = {
      name,
      target_base_url: options.targetBaseUrl,
      auth_shape: options.authShape ?? "bearer",
      header_name: options.headerName || undefined,
      secret: options.secret,
    };
    return fromWire(await this.#transport.json({ method: "POST", path: PATH, json, options }));
  }

  /** Deleting one that does not exist is fine. */
  async delete(name: string, options?: CallOptions): Promise<void> {
    await this.#transport.send({ method: "DELETE", path: `${PATH}/${segment(name)}`, options });
  }
}
