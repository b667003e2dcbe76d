// SPDX-License-Identifier: Apache-2.0
// The groups of rows, in the order in which they run. A new group is a file of its own and one line here.
import { adapter } from "./adapter.mjs";
import { burst, steady } from "./burst.mjs";
import { create } from "./create.mjs";
import { exec } from "./exec.mjs";
import { leftovers } from "./leftovers.mjs";
import { memory } from "./memory.mjs";
import { stream, transfer } from "./transfer.mjs";

export const groups = [create, exec, adapter, burst, steady, stream, transfer, memory, leftovers];
