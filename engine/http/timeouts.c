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

void http_conn_tick(struct http_conn *c, uint64_t now)
{
	static const struct inis_error late = {.code = INIS_BAD_REQUEST, .message = "the request body stopped coming"};
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
	else if (c->rq)
		http_stream_tick(c->rq, now);
}
