/* SPDX-License-Identifier: Apache-2.0
 *
 * server.h - the server as the files of this layer share it.
 */
#ifndef INIS_HTTP_SERVER_H
#define INIS_HTTP_SERVER_H

#include "http/conn.h"
#include "http/limits.h"
#include "http/router.h"

#define HTTP_BODIES_MAX     (512 * 1024 * 1024) /* all gathered bodies together */
#define HTTP_PING_MS        14000 /* silence of an event stream; the tick adds up to a second */
#define HTTP_LINGER_IDLE_MS 2000
#define HTTP_LINGER_MS      30000

struct http_server {
	uv_loop_t *loop;
	uv_tcp_t listener;
	uv_timer_t tick;
	uv_idle_t kick; /* active while something is on the kick list */
	int handles; /* of the three above, not closed yet */
	struct http_router *router;
	void *app;
	int (*authenticate)(void *app, const char *token);
	void (*answered)(const struct http_request *rq, int status, int64_t duration_us);
	void (*malformed)(void *app, const char *request_id, const struct inis_error *err);
	size_t connections_max;
	struct http_limits limits;
	bool local_open;
	uint64_t head_timeout_ms;
	uint64_t body_idle_timeout_ms;
	uint32_t body_rate_min;
	uint64_t body_patience_ms;
	uint64_t websocket_ping_ms;
	uint64_t tick_ms;

	struct http_conn *conns;
	struct http_conn *kicked;
	size_t conn_count;
	size_t request_count;
	size_t body_bytes;
	bool draining;
	bool listening;
	bool pending; /* a connection waits to be accepted */
	bool closing;
	void (*drained)(void *ctx);
	void *drained_ctx;
	void (*closed)(void *ctx);
	void *closed_ctx;
	char read_space[HTTP_READ_SIZE];
};

/* Bookkeeping for connections. */
void http_server_request_came(struct http_server *s, struct http_request *rq);
void http_server_request_left(struct http_server *s, struct http_request *rq);
/* Takes n bytes for rq's body from what all bodies together may have; given back when it leaves. */
int http_server_charge(struct http_server *s, struct http_request *rq, size_t n);
void http_server_kick(struct http_server *s, struct http_conn *c);
void http_server_add(struct http_server *s, struct http_conn *c);
void http_server_forget(struct http_server *s, struct http_conn *c);
/* Does what waits for connections to go: accepts again, reports drained or closed. May free s. */
void http_server_settle(struct http_server *s);

#endif
