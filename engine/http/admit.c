/* SPDX-License-Identifier: Apache-2.0
 *
 * admit.c - route, key, method, limits and length, in this order.
 *
 * All of it happens before the body is read. Without a valid key every path
 * answers the same, so that nobody learns which ones exist.
 */
#include "http/admit.h"

#include <string.h>
#include <strings.h>

#include "http/body.h"
#include "http/conn.h"
#include "http/router.h"
#include "http/server.h"
#include "http/upgrade.h"

static const char *bearer_token(const struct http_request *rq)
{
	const char *value = http_header(rq, "authorization");

	if (!value || strncasecmp(value, "bearer ", 7) != 0)
		return NULL;
	value += 7;
	return value + strspn(value, " ");
}

static bool has_key(struct http_request *rq)
{
	const struct http_server *s = rq->conn->server;

	rq->key = s->authenticate ? s->authenticate(s->app, bearer_token(rq)) : -1;
	return rq->key >= 0;
}

/* A proxy on this machine speaks for others. Most say so; one that does not must not pass such a route on. */
static bool is_proxied(const struct http_request *rq)
{
	static const char *const marks[] = {"forwarded", "x-forwarded-for", "x-real-ip", "via"};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (http_header(rq, marks[i]))
			return true;
	}
	return false;
}

static bool needs_key(const struct http_request *rq)
{
	if (!rq->route)
		return true;
	if ((rq->route->flags & HTTP_LOCAL_OPEN) && rq->conn->server->local_open)
		return !http_sock_peer_is_local(&rq->conn->sock) || is_proxied(rq);
	return !(rq->route->flags & HTTP_NO_AUTH);
}

/* Which of two would count is nothing that a client should have to know. */
static int check_query(const struct http_request *rq, struct inis_error *err)
{
	if (rq->route->flags & HTTP_REPEATS)
		return 0;
	for (int i = 0; i < rq->query_count; i++) {
		for (int j = 0; j < i; j++) {
			if (strcmp(rq->query[i].name, rq->query[j].name) == 0)
				return inis_fail_field(err, rq->query[i].name, "is given more than once");
		}
	}
	return 0;
}

static int check(struct http_request *rq, struct inis_error *err)
{
	struct http_server *s = rq->conn->server;

	if (http_limits_check(&s->limits, rq, s->request_count, err) < 0 || check_query(rq, err) < 0 ||
	    (!http_body_is_streamed(rq) && http_body_check_length(rq, err) < 0))
		return -1;
	return rq->route->flags & HTTP_UPGRADE ? http_upgrade_check(rq, err) : 0;
}

static void unauthenticated(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;

	inis_fail(&err, INIS_UNAUTHENTICATED, "%s",
		  bearer_token(rq) ? "the API key is not valid"
				   : "an API key is needed: send `Authorization: Bearer <key>`");
	http_add_header(rq, "WWW-Authenticate", "Bearer");
	http_respond_error(rq, &err);
}

static int find_route(struct http_request *rq, struct inis_error *err)
{
	const char *segments[HTTP_SEGMENTS_MAX];
	struct http_match match;
	int count = http_path_split(rq->path, rq->room, segments, err);

	if (count < 0)
		return -1;
	http_router_find(rq->conn->server->router, rq->method, segments, count, &match);
	if (!match.allow)
		return inis_fail(err, INIS_NOT_FOUND, "no such route");
	if (!match.route) {
		http_add_header(rq, "Allow", match.allow);
		return inis_fail(err, INIS_METHOD_NOT_ALLOWED, "%s is not allowed here, only %s", rq->method,
				 match.allow);
	}
	rq->route = match.route;
	rq->param_count = match.param_count;
	memcpy(rq->params, match.params, sizeof(match.params));
	return 0;
}

void http_admit(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	int found = find_route(rq, &err);

	if (needs_key(rq) && !has_key(rq)) {
		unauthenticated(rq);
		return;
	}
	if (found < 0 || check(rq, &err) < 0) {
		http_respond_error(rq, &err);
		return;
	}
	if (http_body_is_streamed(rq)) {
		rq->dispatched = true;
		rq->route->handler(rq);
	} else if (!rq->received) {
		http_conn_continue(rq->conn);
	}
}
