/* SPDX-License-Identifier: Apache-2.0
 *
 * http_url.c - any path and query decode within bounds, to UTF-8 without what they must not hold.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "http/url.h"
#include "http/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(const char *text, const char *low, const char *high)
{
	if (text < low || text + strlen(text) > high || !http_utf8_valid(text, strlen(text)))
		abort();
}

static void fuzz_path(const char *text)
{
	size_t n = strlen(text);
	char *room = malloc(n + 1);
	const char *segments[HTTP_SEGMENTS_MAX];
	struct inis_error err = INIS_ERROR_INIT;
	int count = http_path_split(text, room, segments, &err);

	if (count < 0 && err.code != INIS_BAD_REQUEST)
		abort();
	for (int i = 0; i < count && i < HTTP_SEGMENTS_MAX; i++) {
		check(segments[i], room, room + n);
		if (strchr(segments[i], '/'))
			abort();
	}
	free(room);
}

static void fuzz_query(char *text)
{
	size_t n = strlen(text);
	struct http_pair pairs[HTTP_QUERY_MAX];
	struct inis_error err = INIS_ERROR_INIT;
	int count = http_query_split(text, pairs, &err);

	if (count < 0 && err.code != INIS_BAD_REQUEST)
		abort();
	for (int i = 0; i < count; i++) {
		check(pairs[i].name, text, text + n);
		if (pairs[i].value[0] != '\0')
			check(pairs[i].value, text, text + n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = malloc(n + 2);

	text[0] = '/';
	memcpy(text + 1, data, n);
	text[n + 1] = '\0';
	fuzz_path(text);
	fuzz_query(text + 1);
	free(text);
	return 0;
}
