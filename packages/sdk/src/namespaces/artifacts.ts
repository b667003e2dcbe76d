// SPDX-License-Identifier: Apache-2.0
// `client.artifacts`: files kept from sessions.

import { toArtifact } from "../api/snapshots.js";
import type { Transport } from "../transport.js";
import type { ArtifactInfo, CallOptions } from "../types/index.js";
import { idSegment } from "../wire.js";

function artifactPath(id: string): string {
  return `/v1/artifacts/${idSegment(id)}`;
}

export class Artifacts {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async get(id: string, options?: CallOptions): Promise<ArtifactInfo> {
    return toArtifact(await this.#transport.json({ method: "GET", path: artifactPath(id), options }));
  }

  /** Moves the expiry to so many days from now. */
  async extend(id: string, ttlDays: number, options?: CallOptions): Promise<ArtifactInfo> {
    const path = `${artifactPath(id)}/extend`;
    return toArtifact(await this.#transport.json({ method: "POST", path, json: { ttl_days: ttlDays }, options }));
  }

  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.#transport.send({ method: "DELETE", path: artifactPath(id), options });
  }
}
