// SPDX-License-Identifier: Apache-2.0
// `client.checkpoints`: kept states of sessions.

import type { Client } from "../client.js";
import { InisError } from "../errors.js";
import { Session } from "../session.js";
import type { CallOptions, CheckpointInfo, CheckpointSessionOptions } from "../types/index.js";
import { asObject, fromWire, idSegment } from "../wire.js";

function checkpointPath(id: string): string {
  return `/v1/checkpoints/${idSegment(id)}`;
}

export class Checkpoints {
  readonly #client: Client;

  /** @internal */
  constructor(client: Client) {
    this.#client = client;
  }

  async get(id: string, options?: CallOptions): Promise<CheckpointInfo> {
    return fromWire(await this.#client._transport.json({ method: "GET", path: checkpointPath(id), options }));
  }

  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.#client._transport.send({ method: "DELETE", path: checkpointPath(id), options });
  }

  /** Makes a new session from a checkpoint. */
  async createSession(id: string, options: CheckpointSessionOptions = {}): Promise<Session> {
    const json = {
      name: options.name || undefined,
      labels: options.labels,
      max_lifetime_ms: options.maxLifetimeMs || undefined,
      idle_timeout_ms: options.idleTimeoutMs || undefined,
    };
    const path = `${checkpointPath(id)}/sessions`;
    const answer = await this.#client._transport.json({ method: "POST", path, json, options });
    const { session_id } = asObject(answer);
    if (typeof session_id !== "string") {
      throw new InisError("the server's answer has no session_id", { code: "invalid_response" });
    }
    return Session.attach(this.#client, session_id);
  }
}
