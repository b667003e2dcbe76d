// SPDX-License-Identifier: Apache-2.0
// `client.registries`: credentials for private container registries.

import type { Transport } from "../transport.js";
import type { AddRegistryCredentialOptions, CallOptions, RegistryCredentialInfo } from "../types/index.js";
import { fromWire, listFrom, segment } from "../wire.js";

const PATH = "/v1/registry-credentials";

export class Registries {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async list(options?: CallOptions): Promise<RegistryCredentialInfo[]> {
    return listFrom(await this.#transport.json({ method: "GET", path: PATH, options }), "credentials");
  }

  async add(name: string, options: AddRegistryCredentialOptions): Promise<RegistryCredentialInfo> {
    const { registryHost, username, secret } = options;
    const json = { name, registry_host: registryHost, username, secret };
    return fromWire(await this.#transport.json({ method: "POST", path: PATH, json, options }));
  }

  /** Deleting one that does not exist is fine. */
  async delete(name: string, options?: CallOptions): Promise<void> {
    await this.#transport.send({ method: "DELETE", path: `${PATH}/${segment(name)}`, options });
  }
}
