/* SPDX-License-Identifier: Apache-2.0
 *
 * server.c - listening, the list of connections, and their end.
 *
 * A connection over the limit is left in the backlog: libuv holds the listener
 * until it is accepted. Timeouts are looked at in one regular tick over all
 * connections, which is cheaper than a timer for each and exact enough.
 */
#include "http/server.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/metrics.h"

#define BACKLOG           511
#define WEBSOCKET_PING_MS 25000
#define SPARE_MS          1000 /* a connection that was quiet for so long has no request on its way */

static void keep_ticking(struct http_server *s);

/* ---- accepting ---- */

/* Who keeps connections in reserve must not keep others out. The place is free when the connection has closed. */
static void make_room(struct http_server *s)
{
	uint64_t now = uv_now(s->loop);
	struct http_conn *longest = NULL;

	for (struct http_conn *c = s->conns; c; c = c->next) {
		if (http_conn_spare(c) && (!longest || c->since <= longest->since))
			longest = c;
	}
	if (longest && now - longest->since >= SPARE_MS)
		http_conn_drop(longest);
}

static void accept_one(struct http_server *s)
{
	struct http_conn *c;

	s->pending = true;
	if (s->conn_count >= s->connections_max) {
		make_room(s);
		return;
	}
	c = http_conn_new(s);
	if (!c) {
		keep_ticking(s);
		return;
	}
	s->pending = false;
	if (http_sock_accept(&c->sock, c, (uv_stream_t *)&s->listener, s->read_space) < 0) {
		free(c);
		return;
	}
	http_server_add(s, c);
	inis_count(&inis_metrics.connections);
	if (c->sock.closing)
		c->state = HTTP_CONN_CLOSED;
	http_conn_run(c);
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct http_server *s = listener->data;

	if (status == 0)
		accept_one(s);
}

/* ---- tick and kick ---- */

static void on_tick(uv_timer_t *timer)
{
	struct http_server *s = timer->data;
	uint64_t now = uv_now(s->loop);

	for (struct http_conn *c = s->conns, *next; c; c = next) {
		next = c->next;
		http_conn_tick(c, now);
	}
	if (s->pending && s->listening)
		accept_one(s);
	if (!s->conns && !s->pending)
		uv_timer_stop(timer);
}

static void keep_ticking(struct http_server *s)
{
	if (!s->closing && !uv_is_active((uv_handle_t *)&s->tick))
		uv_timer_start(&s->tick, on_tick, s->tick_ms, s->tick_ms);
}

/* A connection is unlinked from the lists only when its handle has closed, never while one is walked. */
static void on_kick(uv_idle_t *idle)
{
	struct http_server *s = idle->data;
	struct http_conn *c = s->kicked;

	s->kicked = NULL;
	uv_idle_stop(idle);
	while (c) {
		struct http_conn *next = c->kick_next;

		c->kicked = false;
		http_conn_run(c);
		c = next;
	}
}

void http_server_kick(struct http_server *s, struct http_conn *c)
{
	if (s->closing)
		return;
	c->kicked = true;
	c->kick_next = s->kicked;
	s->kicked = c;
	uv_idle_start(&s->kick, on_kick);
}

/* ---- bookkeeping ---- */

void http_server_request_came(struct http_server *s, struct http_request *rq)
{
	rq->app = s->app;
	rq->answered = s->answered;
	rq->begun_us = inis_now_us();
	rq->patience_ms = s->body_patience_ms;
	s->request_count++;
}

void http_server_request_left(struct http_server *s, struct http_request *rq)
{
	s->request_count--;
	s->body_bytes -= rq->charged;
}

int http_server_charge(struct http_server *s, struct http_request *rq, size_t n)
{
	if (n > HTTP_BODIES_MAX - s->body_bytes)
		return -1;
	s->body_bytes += n;
	rq->charged += n;
	return 0;
}

void http_server_add(struct http_server *s, struct http_conn *c)
{
	c->next = s->conns;
	if (c->next)
		c->next->prev = c;
	s->conns = c;
	s->conn_count++;
	keep_ticking(s);
}

static void unkick(struct http_server *s, struct http_conn *c)
{
	struct http_conn **link = &s->kicked;

	while (*link && *link != c)
		link = &(*link)->kick_next;
	if (*link)
		*link = c->kick_next;
}

void http_server_forget(struct http_server *s, struct http_conn *c)
{
	unkick(s, c);
	if (c->next)
		c->next->prev = c->prev;
	if (c->prev)
		c->prev->next = c->next;
	else
		s->conns = c->next;
	s->conn_count--;
}

void http_server_load(const struct http_server *s, size_t *connections, size_t *requests)
{
	*connections = s->conn_count;
	*requests = s->request_count;
}

/* ---- the end ---- */

static void free_unstarted(struct http_server *s)
{
	http_router_free(s->router);
	http_limits_free(&s->limits);
	free(s);
}

static void free_server(struct http_server *s)
{
	void (*closed)(void *) = s->closed;
	void *ctx = s->closed_ctx;

	free_unstarted(s);
	if (closed)
		closed(ctx);
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct http_server *s = handle->data;

	s->handles--;
	http_server_settle(s);
}

void http_server_settle(struct http_server *s)
{
	if (s->closing) {
		if (s->handles == 0 && s->conn_count == 0)
			free_server(s);
		return;
	}
	if (s->listening) {
		if (s->pending)
			accept_one(s);
		return;
	}
	if (s->conn_count == 0 && s->handles == 2 && s->drained) {
		void (*drained)(void *) = s->drained;

		s->drained = NULL;
		drained(s->drained_ctx);
	}
}

static void stop_listening(struct http_server *s)
{
	if (!s->listening)
		return;
	s->listening = false;
	uv_close((uv_handle_t *)&s->listener, on_handle_closed);
}

void http_server_drain(struct http_server *s, void (*done)(void *ctx), void *ctx)
{
	s->draining = true;
	s->drained = done;
	s->drained_ctx = ctx;
	stop_listening(s);
	for (struct http_conn *c = s->conns; c; c = c->next)
		http_conn_drain(c);
}

void http_server_close(struct http_server *s, void (*done)(void *ctx), void *ctx)
{
	s->closing = true;
	s->draining = true;
	s->closed = done;
	s->closed_ctx = ctx;
	stop_listening(s);
	uv_close((uv_handle_t *)&s->tick, on_handle_closed);
	uv_close((uv_handle_t *)&s->kick, on_handle_closed);
	for (struct http_conn *c = s->conns; c; c = c->next)
		http_conn_drop(c);
}

/* ---- the beginning ---- */

static uint64_t tick_for(uint64_t timeout_a, uint64_t timeout_b, uint64_t timeout_c)
{
	uint64_t shortest = timeout_a < timeout_b ? timeout_a : timeout_b;
	uint64_t tick = (timeout_c && timeout_c < shortest ? timeout_c : shortest) / 4;

	return tick < 10 ? 10 : tick > 1000 ? 1000 : tick;
}

static int start(struct http_server *s, int listen_fd, struct inis_error *err)
{
	int status;

	uv_timer_init(s->loop, &s->tick);
	uv_idle_init(s->loop, &s->kick);
	s->tick.data = s->kick.data = s->listener.data = s;
	s->handles = 3;
	s->listening = true;
	status = uv_tcp_open(&s->listener, listen_fd);
	if (status < 0)
		close(listen_fd);
	else
		status = uv_listen((uv_stream_t *)&s->listener, BACKLOG, on_connection);
	if (status < 0)
		return inis_fail(err, INIS_INTERNAL, "cannot listen: %s", uv_strerror(status));
	return 0;
}

static struct http_server *serve(struct http_server *s, int listen_fd, struct inis_error *err)
{
	/* A write to a connection that is gone is an error here, not the end of the process. */
	signal(SIGPIPE, SIG_IGN);
	if (start(s, listen_fd, err) == 0)
		return s;
	http_server_close(s, NULL, NULL);
	return NULL;
}

struct http_server *http_server_start(const struct http_config *config, struct inis_error *err)
{
	struct http_server *s = calloc(1, sizeof(*s));

	if (!s) {
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		return NULL;
	}
	s->loop = config->loop;
	s->app = config->app;
	s->authenticate = config->authenticate;
	s->answered = config->answered;
	s->malformed = config->malformed;
	s->local_open = config->local_open;
	s->connections_max = config->connections_max;
	s->head_timeout_ms = config->head_timeout_ms;
	s->body_idle_timeout_ms = config->body_idle_timeout_ms;
	s->body_rate_min = config->body_rate_min;
	s->body_patience_ms = config->body_patience_ms;
	s->websocket_ping_ms = config->websocket_ping_ms ? config->websocket_ping_ms : WEBSOCKET_PING_MS;
	s->tick_ms = tick_for(config->head_timeout_ms, config->body_idle_timeout_ms, config->body_patience_ms);
	s->router = http_router_new(config->routes, config->route_count, err);
	if (http_limits_init(&s->limits, config) < 0)
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	else if (s->router && uv_tcp_init(s->loop, &s->listener) == 0)
		return serve(s, config->listen_fd, err);
	close(config->listen_fd);
	free_unstarted(s);
	return NULL;
}
