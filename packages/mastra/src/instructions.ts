// SPDX-License-Identifier: Apache-2.0
// What the model is told about the sandbox.

import type { RequestContext } from "@mastra/core/request-context";
import type { InisSandboxOptions } from "./options.js";

export function instructionsFor(
  option: InisSandboxOptions["instructions"],
  workingDirectory: string,
  requestContext?: RequestContext,
): string {
  if (typeof option === "string") return option;
  const defaultInstructions = defaultText(workingDirectory);
  return option ? option({ defaultInstructions, requestContext }) : defaultInstructions;
}

function defaultText(workingDirectory: string): string {
  return [
    "Commands run in a persistent, isolated Linux sandbox: files and installed packages stay between commands.",
    `The default directory is ${workingDirectory}; keep your files under /workspace.`,
    "Foreground commands have no input and are ended when their timeout is over.",
    "Background processes keep running, and keep streaming their output, after the call that started them;",
    "kill them explicitly when they are no longer needed.",
  ].join(" ");
}
