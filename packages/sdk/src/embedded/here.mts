// SPDX-License-Identifier: Apache-2.0
// Where this very file lies. Always an ES module, in both builds, because only those can tell without require.

/** Undefined where a bundler took the file's place away. */
export const here: string | undefined = import.meta.url;
