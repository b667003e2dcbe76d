// SPDX-License-Identifier: Apache-2.0
// `client.volumes`: disks that outlive sessions.

import type { Transport } from "../transport.js";
import type { CallOptions, CreateVolumeOptions, VolumeInfo } from "../types/index.js";
import { fromWire, listFrom, segment } from "../wire.js";

const PATH = "/v1/volumes";

export class Volumes {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async create(options: CreateVolumeOptions = {}): Promise<VolumeInfo> {
    const json = { size_gb: options.sizeGb || undefined };
    return fromWire(await this.#transport.json({ method: "POST", path: PATH, json, options }));
  }

  async list(options?: CallOptions): Promise<VolumeInfo[]> {
    return listFrom(await this.#transport.json({ method: "GET", path: PATH, options }), "volumes");
  }

  async get(id: string, options?: CallOptions): Promise<VolumeInfo> {
    return fromWire(await this.#transport.json({ method: "GET", path: `${PATH}/${segment(id)}`, options }));
  }

  /** Volumes only grow; the new size holds from the next attach on. */
  async resize(id: string, sizeGb: number, options?: CallOptions): Promise<VolumeInfo> {
    const json = { size_gb: sizeGb };
    return fromWire(await this.#transport.json({ method: "PATCH", path: `${PATH}/${segment(id)}`, json, options }));
  }

  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.#transport.send({ method: "DELETE", path: `${PATH}/${segment(id)}`, options });
  }
}
