/* SPDX-License-Identifier: Apache-2.0
 *
 * url.c - percent-decoding of paths and query strings.
 */
#include "http/url.h"

#include <stdbool.h>
#include <string.h>

#include "http/utf8.h"

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* The byte behind the '%' at text[0]; -1 when the n characters do not begin with an escape. */
static int unescape(const char *text, size_t n)
{
	int high, low;

	if (n < 3)
		return -1;
	high = hex(text[1]);
	low = hex(text[2]);
	return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* Decodes n characters to `to`, which may be `from`, and adds a NUL; returns the length or -1. */
static int decode(char *to, const char *from, size_t n, bool form, struct inis_error *err)
{
	size_t out = 0;

	for (size_t i = 0; i < n; i++) {
		int byte = (unsigned char)from[i];

		if (byte == '%') {
			byte = unescape(from + i, n - i);
			if (byte < 0)
				return inis_fail(err, INIS_BAD_REQUEST, "URL: bad percent escape");
			if (byte == 0 || (byte == '/' && !form))
				return inis_fail(err, INIS_BAD_REQUEST, "URL: escape %%%02X is not allowed here", byte);
			i += 2;
		} else if (byte == '+' && form) {
			byte = ' ';
		}
		to[out++] = (char)byte;
	}
	to[out] = '\0';
	if (!http_utf8_valid(to, out))
		return inis_fail(err, INIS_BAD_REQUEST, "URL: not valid UTF-8");
	return (int)out;
}

int http_path_split(const char *path, char *room, const char *segments[HTTP_SEGMENTS_MAX], struct inis_error *err)
{
	const char *at = path + 1;
	int count = 0;

	for (;;) {
		size_t n = strcspn(at, "/");
		int len = decode(room, at, n, false, err);

		if (len < 0)
			return -1;
		if (count == HTTP_SEGMENTS_MAX)
			return HTTP_SEGMENTS_MAX + 1;
		segments[count++] = room;
		room += len + 1;
		if (at[n] == '\0')
			return count;
		at += n + 1;
	}
}

static int decode_pair(char *text, size_t n, struct http_pair *pair, struct inis_error *err)
{
	char *equals = memchr(text, '=', n);
	size_t name_len = equals ? (size_t)(equals - text) : n;

	if (equals && decode(equals + 1, equals + 1, n - name_len - 1, true, err) < 0)
		return -1;
	if (decode(text, text, name_len, true, err) < 0)
		return -1;
	pair->name = text;
	pair->value = equals ? equals + 1 : "";
	return 0;
}

int http_query_split(char *query, struct http_pair pairs[HTTP_QUERY_MAX], struct inis_error *err)
{
	char *at = query;
	int count = 0;

	for (;;) {
		size_t n = strcspn(at, "&");
		bool last = at[n] == '\0';

		if (n > 0) {
			if (count == HTTP_QUERY_MAX)
				return inis_fail(err, INIS_BAD_REQUEST, "URL: more than %d query parameters",
						 HTTP_QUERY_MAX);
			if (decode_pair(at, n, &pairs[count++], err) < 0)
				return -1;
		}
		if (last)
			return count;
		at += n + 1;
	}
}
