/* SPDX-License-Identifier: Apache-2.0
 *
 * traffic.c - what the requests were.
 */
#include "api/traffic.h"

#include <stdlib.h>

#include "api/api.h"

#define CLASSES 5 /* of status codes: 1xx to 5xx */

struct row {
	inis_counter answered[CLASSES];
	struct inis_histogram duration;
};

struct traffic {
	size_t count; /* of rows: one for each route, and one for requests that found none */
	struct row rows[];
};

struct traffic *traffic_new(void)
{
	size_t count = API_ROUTE_COUNT + 1;
	struct traffic *t = calloc(1, sizeof(*t) + count * sizeof(t->rows[0]));

	if (t)
		t->count = count;
	return t;
}

void traffic_free(struct traffic *t)
{
	free(t);
}

void traffic_count(struct traffic *t, const struct http_request *rq, int status, int64_t duration_us)
{
	const struct http_route *route = http_route(rq);
	struct row *row = &t->rows[route ? (size_t)(route - API_ROUTES) : t->count - 1];

	if (status >= 100 && status < 100 * (CLASSES + 1))
		inis_count(&row->answered[status / 100 - 1]);
	inis_observe(&row->duration, duration_us);
}

static bool is_empty(const struct row *row)
{
	for (unsigned i = 0; i < CLASSES; i++) {
		if (inis_counted(&row->answered[i]))
			return false;
	}
	return true;
}

/* A request that found no route may have any verb: it is not said. */
static const char *method_of(const struct traffic *t, size_t i)
{
	return i < t->count - 1 ? API_ROUTES[i].method : "";
}

static const char *pattern_of(const struct traffic *t, size_t i)
{
	return i < t->count - 1 ? API_ROUTES[i].pattern : "";
}

static void write_requests(const struct traffic *t, struct exposition *x)
{
	static const char *const classes[CLASSES] = {"1xx", "2xx", "3xx", "4xx", "5xx"};

	expo_family(x, "inis_http_requests_total", "counter",
		    "Requests answered, by route (empty: no such route) and class of status.");
	for (size_t i = 0; i < t->count; i++) {
		for (unsigned class = 0; class < CLASSES; class ++) {
			uint64_t n = inis_counted(&t->rows[i].answered[class]);
			const char *const labels[] = {"method", method_of(t, i), "route", pattern_of(t, i),
						      "status", classes[class],  NULL};

			if (n)
				expo_sample(x, labels, n);
		}
	}
}

void traffic_write(const struct traffic *t, struct exposition *x)
{
	write_requests(t, x);
	expo_family(x, "inis_http_request_duration_seconds", "histogram",
		    "From the head of a request to the end of its answer, streams and terminals included.");
	for (size_t i = 0; i < t->count; i++) {
		const char *const labels[] = {"method", method_of(t, i), "route", pattern_of(t, i), NULL};

		if (!is_empty(&t->rows[i]))
			expo_histogram(x, labels, &t->rows[i].duration);
	}
}
