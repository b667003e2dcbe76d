// SPDX-License-Identifier: Apache-2.0
// The embedded engine: finds the one that runs on this machine or starts it, once per client.
//
// `inis env --json` does the finding and starting, under a lock of its own; programs that start at the same moment
// get the same engine.

import type { Endpoint, EndpointSource } from "../endpoint.js";
import { locateEngine } from "./locate.js";
import { askEngine } from "./run.js";

const UNKNOWN: Endpoint = { baseUrl: "", token: "" };

export class EmbeddedEngine implements EndpointSource {
  readonly embedded = true;
  #known = UNKNOWN;
  #search: Promise<Endpoint> | undefined;

  get known(): Endpoint {
    return this.#known;
  }

  find(): Promise<Endpoint> {
    this.#search ??= this.#start();
    return this.#search;
  }

  lost(endpoint: Endpoint): boolean {
    if (endpoint === this.#known) {
      this.#known = UNKNOWN;
      this.#search = undefined;
    }
    return true;
  }

  async #start(): Promise<Endpoint> {
    try {
      this.#known = await askEngine(await locateEngine());
      return this.#known;
    } catch (error) {
      this.#search = undefined;
      throw error;
    }
  }
}
