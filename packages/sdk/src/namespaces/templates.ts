// SPDX-License-Identifier: Apache-2.0
// `client.templates`: what sessions can start from.

import type { Transport } from "../transport.js";
import type { CallOptions, ImportTemplateOptions, TemplateInfo } from "../types/index.js";
import { fromWire, listFrom, segment } from "../wire.js";

export class Templates {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async list(options?: CallOptions): Promise<TemplateInfo[]> {
    return listFrom(await this.#transport.json({ method: "GET", path: "/v1/templates", options }), "templates");
  }

  /** Begins to build a template from a container image; `list` tells when it is `ready`. */
  async import(fromImage: string, name: string, options: ImportTemplateOptions = {}): Promise<TemplateInfo> {
    const json = { from_image: fromImage, name, description: options.description || undefined };
    return fromWire(await this.#transport.json({ method: "POST", path: "/v1/templates", json, options }));
  }

  async delete(name: string, options?: CallOptions): Promise<void> {
    await this.#transport.send({ method: "DELETE", path: `/v1/templates/${segment(name)}`, options });
  }
}
