/* SPDX-License-Identifier: Apache-2.0
 *
 * limits.h - how much one key, and all of them together, may ask.
 *
 * Two limits: requests a second of a key, with a burst, and requests going on at once. What ends something or only
 * looks at the server is never refused: whoever is over a limit can always make room.
 */
#ifndef INIS_HTTP_LIMITS_H
#define INIS_HTTP_LIMITS_H

#include "http/request.h"

struct http_limits {
	uint32_t rate; /* requests a second and key; 0 = no limit */
	uint32_t burst; /* at once after a rest */
	uint32_t requests_max; /* going on at once; 0 = no limit */
	size_t keys;
	int64_t *used_until_us; /* for each key: when all it has taken would be given back */
};

/* 0, or -1: no memory. */
int http_limits_init(struct http_limits *l, const struct http_config *config);
void http_limits_free(struct http_limits *l);

/* Whether rq, whose key is known, may go on; rate_limited. Counts it. */
int http_limits_check(struct http_limits *l, const struct http_request *rq, size_t going_on, struct inis_error *err);

/* Takes one request of a key at this time from what it may; pure but for l. */
bool http_limits_take(struct http_limits *l, size_t key, int64_t now_us);

#endif
