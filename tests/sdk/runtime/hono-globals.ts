// SPDX-License-Identifier: Apache-2.0
// Preloaded: a server adapter that puts its own, lighter Request and Response in place of the platform's.
import { createServer } from "node:http";
import { createAdaptorServer } from "@hono/node-server";

const before = { Request, Response };
createAdaptorServer({ fetch: () => new Response("x"), overrideGlobalObjects: true, createServer });
if (globalThis.Request === before.Request || globalThis.Response === before.Response)
  throw new Error("nothing was put in place of the platform's classes");
