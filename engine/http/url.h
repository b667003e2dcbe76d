/* SPDX-License-Identifier: Apache-2.0
 *
 * url.h - percent-decoding of paths and query strings, pure.
 *
 * Both refuse what could mean one thing here and another behind us: a bad
 * escape, an escaped NUL, an escaped '/' in a path, text that is not UTF-8.
 */
#ifndef INIS_HTTP_URL_H
#define INIS_HTTP_URL_H

#include <stddef.h>

#include "base/error.h"

#define HTTP_SEGMENTS_MAX 16
#define HTTP_QUERY_MAX    64

struct http_pair {
	const char *name;
	const char *value;
};

/*
 * Splits a path that begins with '/' into decoded segments, written with their NULs to
 * room (strlen(path) + 1 bytes). Returns how many, which may be HTTP_SEGMENTS_MAX + 1:
 * then there are more than that. -1 bad_request.
 */
int http_path_split(const char *path, char *room, const char *segments[HTTP_SEGMENTS_MAX], struct inis_error *err);

/* Decodes "a=1&b=2" in place into pairs; returns how many or -1 bad_request. */
int http_query_split(char *query, struct http_pair pairs[HTTP_QUERY_MAX], struct inis_error *err);

#endif
