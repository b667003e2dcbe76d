// SPDX-License-Identifier: Apache-2.0
// Preloaded: another version of the library that fetch comes from, with its own classes beside the platform's.
import * as undici from "undici";

const { fetch, Request, Response, Headers, FormData } = undici;
for (const [name, value] of Object.entries({ fetch, Request, Response, Headers, FormData }))
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
