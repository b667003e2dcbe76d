/* SPDX-License-Identifier: Apache-2.0
 *
 * agent_search.c - fuzzer: patterns of find and grep against names, paths and lines; records of their answers.
 *
 * The input is cut at its first NUL: a pattern, and what it is matched against.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/search/glob.h"
#include "agent/search/regex.h"
#include "base/cleanup.h"
#include "wire/search_proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void paths(const char *pattern, char *path)
{
	struct glob_path g;
	char *next = path;
	uint64_t state;

	if (glob_path_init(&g, pattern, NULL) < 0)
		return;
	state = glob_path_begin(&g);
	while (next && state) {
		state = glob_path_step(&g, state, strsep(&next, "/"));
		if (glob_path_accepts(&g, state) && (state >> g.n) != 1)
			abort();
	}
	glob_path_free(&g);
}

static void expressions(const char *pattern, const char *line, size_t n)
{
	struct regex *re = regex_compile(pattern, true, NULL);

	if (re && regex_match(re, line, n) > 1)
		abort();
	regex_free(re);
}

static void records(const uint8_t *data, size_t size)
{
	struct inis_record r;
	struct inis_search m;
	size_t used = 0;
	ssize_t n;

	inis_search_unpack(data, size, &m);
	while (used < size && (n = inis_record_unpack(data + used, size - used, &r)) > 0) {
		used += (size_t)n;
		if (used > size)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *copy = malloc(size + 2);
	size_t n;
	char *rest;

	if (!copy || size > 4096)
		return 0;
	memcpy(copy, data, size);
	copy[size] = copy[size + 1] = '\0';
	n = strlen(copy);
	rest = n < size ? copy + n + 1 : copy + size;
	if (!glob_check(copy))
		glob_match(copy, rest);
	expressions(copy, rest, (size_t)(copy + size - rest));
	paths(copy, rest);
	records(data, size);
	return 0;
}
