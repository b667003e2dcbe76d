// SPDX-License-Identifier: Apache-2.0
// Every test of the adapter, for whichever core the process has loaded.
import "./commands.js";
import "./command-limits.js";
import "./lifecycle.js";
import "./reconnection.js";
import "./identity.js";
import "./recovery.js";
import "./processes.js";
import "./streams.js";
import "./files.js";
import "./filesystem.js";
import "./tools.js";
import "./surroundings.js";
import "./gateway.js";
import "./memory.js";
