// SPDX-License-Identifier: Apache-2.0
// The mounts of a workspace whose sandbox cannot mount anything.
//
// Mastra tells the model that a pending mount can be used in commands. Here it never could, so entries start as
// "unsupported": the model is told to use the file tools for them. A workspace's own `onMount` hook still gets its
// chance when the sandbox starts, since it may well make the files available by other means.

import { MountManager, MountNotSupportedError } from "@mastra/core/workspace";

type Mounts = Parameters<MountManager["add"]>[0];
type MountHook = Parameters<MountManager["setOnMount"]>[0];

export class WorkspaceOnlyMounts extends MountManager {
  readonly #provider: string;
  #hooked = false;

  constructor(provider: string, config: ConstructorParameters<typeof MountManager>[0]) {
    super(config);
    this.#provider = provider;
  }

  override add(mounts: Mounts): void {
    super.add(mounts);
    for (const path of Object.keys(mounts)) this.#setUnsupported(path);
  }

  override setOnMount(hook: MountHook): void {
    super.setOnMount(hook);
    this.#hooked = hook !== undefined;
  }

  override async processPending(): Promise<void> {
    if (!this.#hooked) return;
    for (const entry of this.entries.values()) {
      if (entry.state === "unsupported") entry.state = "pending";
    }
    await super.processPending();
  }

  #setUnsupported(path: string): void {
    this.set(path, { state: "unsupported", error: new MountNotSupportedError(this.#provider).message });
  }
}
