// SPDX-License-Identifier: Apache-2.0
// `client.webhooks`: where the server reports events to.

import type { Transport } from "../transport.js";
import type { AddWebhookOptions, CallOptions, WebhookDeliveryInfo, WebhookEndpointInfo } from "../types/index.js";
import { asObject, fromWire, listFrom, segment } from "../wire.js";

const PATH = "/v1/org/webhooks";

function toDelivery(wire: unknown): WebhookDeliveryInfo {
  const delivery = fromWire<WebhookDeliveryInfo>(wire);
  return asObject(wire).attempts ? { ...delivery, attempts: listFrom(wire, "attempts") } : delivery;
}

export class Webhooks {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async list(options?: CallOptions): Promise<WebhookEndpointInfo[]> {
    return listFrom(await this.#transport.json({ method: "GET", path: PATH, options }), "endpoints");
  }

  /** The answer has the signing `secret`, this once. */
  async add(url: string, options: AddWebhookOptions = {}): Promise<WebhookEndpointInfo> {
    const json = { url, event_types: options.eventTypes };
    return fromWire(await this.#transport.json({ method: "POST", path: PATH, json, options }));
  }

  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.#transport.send({ method: "DELETE", path: `${PATH}/${segment(id)}`, options });
  }

  /** Delivers one made-up event at once and tells how that went. */
  async test(id: string, options?: CallOptions): Promise<WebhookDeliveryInfo> {
    return toDelivery(await this.#transport.json({ method: "POST", path: `${PATH}/${segment(id)}/test`, options }));
  }

  /** The latest deliveries, newest first. */
  async deliveries(id: string, limit?: number, options?: CallOptions): Promise<WebhookDeliveryInfo[]> {
    const path = `${PATH}/${segment(id)}/deliveries`;
    const query = { limit: limit || undefined };
    return listFrom(await this.#transport.json({ method: "GET", path, query, options }), "deliveries", toDelivery);
  }
}
