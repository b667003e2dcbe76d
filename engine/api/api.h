/* SPDX-License-Identifier: Apache-2.0
 *
 * api.h - the HTTP API: its route table and what all handlers share.
 */
#ifndef INIS_API_API_H
#define INIS_API_API_H

#include <uv.h>

#include "http/http.h"
#include "session/registry.h"
#include "store/store.h"

/* http_app() of every request. */
struct api {
	struct registry *registry; /* NULL until the stored sessions are known */
	struct inis_store *store;
};

extern const struct http_route API_ROUTES[];
extern const size_t API_ROUTE_COUNT;

bool api_authenticate(void *app, const char *token);

static inline struct api *api_of(struct http_request *rq)
{
	return http_app(rq);
}

#endif
