// SPDX-License-Identifier: Apache-2.0
// Merging and checking of environment variables.

/** As Mastra passes environments: a value of `undefined` means "not set". */
export type LooseEnvironment = Readonly<Record<string, string | undefined>>;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Later layers win; variables that end up `undefined` are left out.
 *
 * @throws {TypeError} for a name no shell could export. Such a name is refused rather than sent, because
 * on a server without an environment field it would become part of a command line.
 */
export function mergeEnvironments(...layers: (LooseEnvironment | undefined)[]): Record<string, string> | undefined {
  const merged = new Map<string, string>();
  for (const layer of layers) {
    for (const [name, value] of Object.entries(layer ?? {})) {
      if (!NAME.test(name)) throw new TypeError(`invalid environment variable name: ${JSON.stringify(name)}`);
      if (value === undefined) merged.delete(name);
      else merged.set(name, String(value));
    }
  }
  return merged.size > 0 ? Object.fromEntries(merged) : undefined;
}
