// SPDX-License-Identifier: Apache-2.0
// One server, one client and one session for the tests of a file, started before them and gone after them.
import { after, before } from "node:test";
import type { JsonObject } from "./contract.js";
import type { RawClient } from "./http.js";
import { Server } from "./server.js";
import { TestSession } from "./session.js";

export interface Suite {
  readonly server: Server;
  readonly client: RawClient;
  readonly session: TestSession;
}

/**
 * To be called at the top of a test file. `create` is the body that the shared session is made from; `prepare` runs
 * before the first test (hooks of one file are not run one after another, so it cannot be one of its own).
 */
export function suite(create: JsonObject = {}, prepare: () => Promise<void> = async () => {}): Suite {
  let server: Server | undefined;
  let client: RawClient;
  let session: TestSession;
  before(async () => {
    server = await Server.start();
    client = server.client();
    session = await TestSession.create(client, create);
    await prepare();
  });
  after(() => server?.stop());
  return {
    get server() {
      return server!;
    },
    get client() {
      return client;
    },
    get session() {
      return session;
    },
  };
}
