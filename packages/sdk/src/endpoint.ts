// SPDX-License-Identifier: Apache-2.0
// Where a client's server is, and how that is decided.

import { EmbeddedEngine } from "./embedded/engine.js";
import { InisError } from "./errors.js";
import { environment, hasNode } from "./node.js";
import type { ClientOptions } from "./types/index.js";

const DEFAULT_URL = "https://api.inis.run";

export interface Endpoint {
  /** Without a slash at its end. */
  baseUrl: string;
  token: string;
}

export interface EndpointSource {
  /** Whether it is the engine of this machine, which serves this user's programs only. */
  readonly embedded: boolean;
  /** The endpoint if it is known already, else empty strings. */
  readonly known: Endpoint;
  find(): Promise<Endpoint>;
  /** Told that nobody listens there any more. True when `find` may now give another. */
  lost(endpoint: Endpoint): boolean;
}

/** A key makes it a server's client; neither key nor URL, the embedded engine's. */
export function endpointSource(options: ClientOptions): EndpointSource {
  const token = options.token ?? environment("INIS_API_KEY");
  const baseUrl = options.baseUrl || environment("INIS_BASE_URL");
  if (token) return new FixedEndpoint({ baseUrl: (baseUrl ?? DEFAULT_URL).replace(/\/$/, ""), token });
  // A key that was given and is empty is a mistake of the caller's, not a wish for the embedded engine.
  if (baseUrl || token === "" || !hasNode()) throw new InisError("INIS_API_KEY is required");
  return new EmbeddedEngine();
}

class FixedEndpoint implements EndpointSource {
  readonly embedded = false;
  readonly known: Endpoint;

  constructor(endpoint: Endpoint) {
    this.known = endpoint;
  }

  async find(): Promise<Endpoint> {
    return this.known;
  }

  lost(): boolean {
    return false;
  }
}
