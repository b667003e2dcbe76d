/* SPDX-License-Identifier: Apache-2.0
 *
 * api.h - the HTTP API: its route table and what all handlers share.
 */
#ifndef INIS_API_API_H
#define INIS_API_API_H

#include <uv.h>

#include "http/http.h"
#include "session/registry.h"
#include "store/kept.h"
#include "store/store.h"

/* http_app() of every request. */
struct api {
	struct registry *registry; /* NULL until the stored sessions are known */
	struct inis_store *store;
	struct inis_kept *kept; /* of sessions that have ended */
	uv_loop_t *loop;
	inis_ms started_at; /* wall clock */
	struct http_server *server; /* NULL until it listens */
	struct traffic *traffic; /* what the requests were, for /metrics */
	struct api_limits {
		uint32_t sessions; /* live at once; 0 = no cap, likewise below */
		uint32_t key_sessions; /* of them made by one key */
		uint32_t requests; /* going on at once */
		uint32_t session_requests; /* of them on one session */
		uint32_t rate; /* requests a second and key */
		uint32_t burst; /* of one key, after a rest */
	} limits;
};

extern const struct http_route API_ROUTES[];
extern const size_t API_ROUTE_COUNT;

int api_authenticate(void *app, const char *token);

static inline struct api *api_of(struct http_request *rq)
{
	return http_app(rq);
}

#endif
