/* SPDX-License-Identifier: Apache-2.0
 *
 * timeouts.c - what a connection's regular tick looks at.
 *
 * A handler at work has no timeout of ours. But while nothing is read, because
 * enough input waits, the kernel is asked whether the client is still there.
 */
#include "http/body.h"
#include "http/conn.h"
#include "http/respond.h"
#include "http/server.h"
#include "http/upgrade.h"

static bool body_is_awaited(const struct http_conn *c)
{
	const struct http_request *rq = c->rq;

	return rq && c->state == HTTP_CONN_BODY && !rq->received && !rq->paused &&
	       (!http_body_is_streamed(rq) || rq->events);
}

static void tick_head(struct http_conn *c, uint64_t idle)
{
	static const struct inis_error late = {.code = INIS_BAD_REQUEST,
					       .message = "the request head did not come in time"};

	if (idle <= c->server->head_timeout_ms || http_sock_unsent(&c->sock) > 0)
		return;
	if (c->in.len > 0)
		http_conn_fail(c, &late);
	else
		http_conn_lost(c);
}

/*
 * Bytes buy time, up to a bound, and waiting spends it: who sends a few kilobytes a second never runs out, who sends
 * a byte now and then to keep a connection does.
 */
static bool body_is_too_slow(struct http_conn *c)
{
	const struct http_server *s = c->server;
	struct http_request *rq = c->rq;
	uint64_t left;

	if (!s->body_rate_min || !body_is_awaited(c) || (rq->route->flags & HTTP_SLOW_BODY))
		return false;
	left = rq->patience_ms + rq->came * 1000 / s->body_rate_min;
	rq->came = 0;
	if (left > s->body_patience_ms)
		left = s->body_patience_ms;
	rq->patience_ms = left > s->tick_ms ? left - s->tick_ms : 0;
	return rq->patience_ms == 0;
}

void http_conn_tick(struct http_conn *c, uint64_t now)
{
	static const struct inis_error late = {.code = INIS_BAD_REQUEST, .message = "the request body stopped coming"};
	static const struct inis_error slow = {.code = INIS_BAD_REQUEST,
					       .message = "the request body comes too slowly"};
	uint64_t idle = now - c->since;

	if (c->state == HTTP_CONN_CLOSED)
		return;
	if (c->state == HTTP_CONN_SOCKET) {
		http_socket_tick(c, now);
		return;
	}
	if (c->sock.broken || http_sock_stalled(&c->sock, now, c->server->body_idle_timeout_ms))
		http_conn_lost(c);
	else if (c->state == HTTP_CONN_HEAD)
		tick_head(c, idle);
	else if (c->state == HTTP_CONN_LINGER &&
		 (idle > HTTP_LINGER_IDLE_MS || now - c->linger_from > HTTP_LINGER_MS) &&
		 http_sock_unsent(&c->sock) == 0)
		http_conn_lost(c);
	else if (c->rq && !c->sock.reading && http_sock_peer_gone(&c->sock))
		http_conn_lost(c);
	else if (body_is_awaited(c) && idle > c->server->body_idle_timeout_ms)
		http_conn_fail(c, &late);
	else if (body_is_too_slow(c))
		http_conn_fail(c, &slow);
	else if (c->rq)
		http_stream_tick(c->rq, now);
}
