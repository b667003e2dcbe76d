// SPDX-License-Identifier: Apache-2.0
// Where this very file lies. Always an ES module, in both builds, because only those can tell without require.

export const here: string = import.meta.url;
