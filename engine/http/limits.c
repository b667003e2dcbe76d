/* SPDX-License-Identifier: Apache-2.0
 *
 * limits.c - how much one key, and all of them together, may ask.
 *
 * A bucket of tokens is kept as one time: that at which it would be full again. A request moves it on by what one
 * token takes to come back, and is refused when that would put it further ahead than the bucket is large.
 */
#include "http/limits.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/metrics.h"

int http_limits_init(struct http_limits *l, const struct http_config *config)
{
	*l = (struct http_limits){.rate = config->rate,
				  .burst = config->burst ? config->burst : 1,
				  .requests_max = config->requests_max,
				  .keys = config->key_count};
	if (l->rate == 0)
		return 0;
	l->used_until_us = calloc(l->keys + 1, sizeof(*l->used_until_us));
	return l->used_until_us ? 0 : -1;
}

void http_limits_free(struct http_limits *l)
{
	free(l->used_until_us);
	l->used_until_us = NULL;
}

bool http_limits_take(struct http_limits *l, size_t key, int64_t now_us)
{
	int64_t token_us = 1000000 / l->rate;
	int64_t *until = &l->used_until_us[key];
	int64_t from = *until > now_us ? *until : now_us;

	if (from - now_us > (int64_t)(l->burst - 1) * token_us)
		return false;
	*until = from + token_us;
	return true;
}

static bool is_exempt(const struct http_request *rq)
{
	return strcmp(rq->method, "DELETE") == 0 || (rq->route && (rq->route->flags & HTTP_UNLIMITED));
}

int http_limits_check(struct http_limits *l, const struct http_request *rq, size_t going_on, struct inis_error *err)
{
	if (rq->key < 0 || is_exempt(rq))
		return 0;
	if (l->rate && (size_t)rq->key < l->keys && !http_limits_take(l, (size_t)rq->key, inis_now_us())) {
		inis_count(&inis_metrics.limited[LIMIT_RATE]);
		return inis_fail(err, INIS_RATE_LIMITED, "this key may make %u requests a second", l->rate);
	}
	if (l->requests_max && going_on > l->requests_max) {
		inis_count(&inis_metrics.limited[LIMIT_REQUESTS]);
		return inis_fail(err, INIS_RATE_LIMITED, "%u requests are going on, which is the limit",
				 l->requests_max);
	}
	return 0;
}
