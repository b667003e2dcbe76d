// SPDX-License-Identifier: Apache-2.0
// One server for a test file, and each test once with either client.
import { after, before, test } from "node:test";
import { Server } from "../../support/server.js";
import { PythonClient } from "./python.js";
import { TypeScriptClient } from "./typescript.js";

export type Client = TypeScriptClient | PythonClient;

export interface Players {
  readonly server: Server;
  readonly typescript: TypeScriptClient;
  readonly python: PythonClient;
  /** A test of a session made by the client under test, named `<client>_client_<promise>`. */
  both(promise: string, run: (client: Client, id: string) => Promise<void>): void;
}

/** To be called at the top of a test file. */
export function players(): Players {
  let server: Server | undefined;
  before(async () => {
    server = await Server.start();
  });
  after(() => server?.stop());
  const found: Players = {
    get server() {
      return server!;
    },
    get typescript() {
      return new TypeScriptClient(server!.baseUrl, server!.token);
    },
    get python() {
      return new PythonClient(server!.baseUrl, server!.token);
    },
    both(promise, run) {
      for (const style of ["typescript", "python"] as const) {
        test(`${style}_client_${promise}`, async () => {
          const client = found[style];
          const { session_id: id } = await client.create();
          await run(client, id);
          await client.destroy(id);
        });
      }
    },
  };
  return found;
}
