/* SPDX-License-Identifier: Apache-2.0
 *
 * sanitizer_defaults.c - linked into the programs of sanitizer builds.
 *
 * The engine's processes cannot be traced and start with a fresh environment, so the leak
 * check at exit, which traces, would fail and could not be switched off from outside. Leaks
 * are looked for in the unit tests' own processes.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
