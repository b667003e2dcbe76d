/* SPDX-License-Identifier: Apache-2.0
 *
 * router.h - from a path to a route.
 *
 * A tree of segments, built once at start. Literals win over captures, and the
 * first node that has any route for a path decides: a method it does not have is
 * "method not allowed", whatever a capture beside it would have offered.
 */
#ifndef INIS_HTTP_ROUTER_H
#define INIS_HTTP_ROUTER_H

#include <stddef.h>

#include "base/error.h"
#include "http/http.h"
#include "http/url.h"

struct http_router;

struct http_match {
	const struct http_route *route; /* NULL: see allow */
	const char *allow; /* "GET, POST" when the path exists but not this method; NULL: no such path */
	struct http_pair params[HTTP_SEGMENTS_MAX];
	int param_count;
};

/* The routes must live as long as the router. NULL: bad pattern, duplicate, no memory. */
struct http_router *http_router_new(const struct http_route *routes, size_t count, struct inis_error *err);
void http_router_free(struct http_router *r);

/* segments and what they point to must live as long as the match. */
void http_router_find(const struct http_router *r, const char *method, const char *const *segments, int count,
		      struct http_match *match);

#endif
