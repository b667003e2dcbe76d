/* SPDX-License-Identifier: Apache-2.0
 *
 * conn.c - the states of a connection.
 */
#include "http/conn.h"

#include <stdlib.h>

#include "http/admit.h"
#include "http/body.h"
#include "http/respond.h"
#include "http/server.h"
#include "http/upgrade.h"

#define IDLE_BUFFER_MAX 4096

struct http_conn *http_conn_new(struct http_server *server)
{
	struct http_conn *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->server = server;
	c->since = uv_now(server->loop);
	return c;
}

static void enter(struct http_conn *c, enum http_conn_state state)
{
	c->state = state;
	c->since = uv_now(c->server->loop);
}

static void close_now(struct http_conn *c, bool reset)
{
	enter(c, HTTP_CONN_CLOSED);
	inis_buf_free(&c->in);
	http_sock_close(&c->sock, reset);
}

static void linger(struct http_conn *c)
{
	inis_buf_free(&c->in);
	enter(c, HTTP_CONN_LINGER);
	c->linger_from = c->since;
	http_sock_end(&c->sock);
	if (c->sock.broken)
		close_now(c, false);
}

static struct http_request *take_request(struct http_conn *c)
{
	struct http_request *rq = c->rq;

	c->rq = NULL;
	http_server_request_left(c->server, rq);
	return rq;
}

void http_conn_lost(struct http_conn *c)
{
	if (c->state == HTTP_CONN_CLOSED)
		return;
	close_now(c, false);
	if (c->rq)
		http_request_abandon(take_request(c));
}

void http_conn_fail(struct http_conn *c, const struct inis_error *err)
{
	if (c->rq && c->rq->answer != HTTP_ANSWER_NONE) {
		close_now(c, true);
	} else {
		http_refuse(c, err);
		linger(c);
	}
	if (c->rq)
		http_request_abandon(take_request(c));
}

void http_conn_answered(struct http_conn *c, bool cut)
{
	struct http_request *rq = take_request(c);

	if (cut && rq->http10)
		close_now(c, true);
	else if (cut || !rq->keep_alive || !rq->received || c->server->draining)
		linger(c);
	else
		enter(c, HTTP_CONN_HEAD);
	http_request_put(rq);
	http_conn_kick(c);
}

void http_conn_switch(struct http_conn *c)
{
	enter(c, HTTP_CONN_SOCKET);
	http_conn_kick(c);
}

void http_conn_continue(struct http_conn *c)
{
	static char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
	uv_buf_t buf = uv_buf_init(text, sizeof(text) - 1);

	c->since = uv_now(c->server->loop);
	if (c->rq->expects_continue && c->rq->answer == HTTP_ANSWER_NONE && c->in.len == 0)
		http_sock_write(&c->sock, &buf, 1);
	c->rq->expects_continue = false;
}

/* ---- moving on; each step says whether to look again ---- */

/* Some clients end a body with a line break that does not belong to it. */
static void skip_empty_lines(struct http_conn *c)
{
	size_t n = 0;

	while (c->in.len - n >= 2 && c->in.data[n] == '\r' && c->in.data[n + 1] == '\n')
		n += 2;
	if (n == 0)
		return;
	inis_buf_consume(&c->in, n);
	c->scan = (struct http_head_scan){0};
}

static bool step_head(struct http_conn *c)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct http_request *rq;
	ssize_t n;

	if (http_sock_unsent(&c->sock) > 0)
		return false;
	skip_empty_lines(c);
	n = http_head_scan(&c->scan, c->in.data, c->in.len, &err);
	if (n == 0)
		return false;
	rq = n < 0 ? NULL : http_head_parse(&c->parser, c->in.data, (size_t)n, c->scan.first_line, &err);
	if (!rq) {
		http_conn_fail(c, &err);
		return false;
	}
	inis_buf_consume(&c->in, (size_t)n);
	c->scan = (struct http_head_scan){0};
	c->rq = rq;
	rq->conn = c;
	http_server_request_came(c->server, rq);
	enter(c, HTTP_CONN_BODY);
	http_admit(rq);
	return true;
}

static bool parse_body(struct http_conn *c, struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	ssize_t n;

	if (c->in.len == 0)
		return false;
	n = http_body_parse(&c->parser, rq, c->in.data, c->in.len, &err);
	if (c->rq != rq)
		return true;
	if (n < 0) {
		http_conn_fail(c, &err);
		return false;
	}
	inis_buf_consume(&c->in, (size_t)n);
	return true;
}

static bool step_body(struct http_conn *c, struct http_request *rq)
{
	if (!http_body_is_streamed(rq)) {
		if (!rq->received)
			return parse_body(c, rq);
		enter(c, HTTP_CONN_WORK);
		rq->dispatched = true;
		rq->route->handler(rq);
		return true;
	}
	if (!rq->events || rq->paused)
		return false;
	if (rq->held.len > 0) {
		http_body_release(rq);
		return true;
	}
	if (!rq->received)
		return parse_body(c, rq);
	enter(c, HTTP_CONN_WORK);
	rq->events->on_end(rq, rq->events_ctx);
	return true;
}

/* Whatever ends the socket also throws its input away. */
static bool step_socket(struct http_conn *c)
{
	size_t used = http_socket_input(c);

	if (c->state == HTTP_CONN_SOCKET)
		inis_buf_consume(&c->in, used);
	return false;
}

static bool step(struct http_conn *c)
{
	struct http_request *rq = c->rq;
	bool again;

	if (c->state == HTTP_CONN_HEAD)
		return c->in.len > 0 && step_head(c);
	if (c->state != HTTP_CONN_BODY && c->state != HTTP_CONN_SOCKET)
		return false;
	http_request_get(rq);
	again = c->state == HTTP_CONN_BODY ? step_body(c, rq) : step_socket(c);
	http_request_put(rq);
	return again;
}

void http_conn_run(struct http_conn *c)
{
	if (c->running)
		return;
	c->running = true;
	while (!c->sock.broken && step(c))
		;
	c->running = false;
	if (c->sock.broken)
		http_conn_lost(c);
	if (c->state == HTTP_CONN_CLOSED)
		return;
	if (c->in.len == 0 && c->in.cap > IDLE_BUFFER_MAX)
		inis_buf_free(&c->in);
	http_sock_read(&c->sock, !c->eof && c->in.len < HTTP_INPUT_MAX);
}

void http_conn_kick(struct http_conn *c)
{
	if (!c->running && !c->kicked && c->state != HTTP_CONN_CLOSED)
		http_server_kick(c->server, c);
}

/* ---- what the socket tells ---- */

void http_conn_input(struct http_conn *c, const uint8_t *data, size_t n)
{
	static const struct inis_error no_memory = {.code = INIS_UNAVAILABLE, .message = "out of memory"};

	if (c->state == HTTP_CONN_CLOSED)
		return;
	if (c->state != HTTP_CONN_HEAD || c->in.len == 0)
		c->since = uv_now(c->server->loop);
	if (c->state == HTTP_CONN_LINGER)
		return;
	inis_buf_append(&c->in, data, n);
	if (inis_buf_failed(&c->in))
		http_conn_fail(c, &no_memory);
	http_conn_run(c);
}

void http_conn_eof(struct http_conn *c)
{
	c->eof = true;
	http_sock_read(&c->sock, false);
	if (c->rq || http_sock_unsent(&c->sock) == 0)
		http_conn_lost(c);
	else if (c->state == HTTP_CONN_HEAD)
		linger(c);
}

static void offer_room(struct http_conn *c)
{
	struct http_request *rq = c->rq;

	if (!rq || !rq->full || http_sock_unsent(&c->sock) > HTTP_WRITE_HIGH / 4)
		return;
	rq->full = false;
	if (rq->on_drain)
		rq->on_drain(rq, rq->context);
}

void http_conn_sent(struct http_conn *c)
{
	if (c->state == HTTP_CONN_LINGER && c->eof && http_sock_unsent(&c->sock) == 0)
		close_now(c, false);
	if (c->state == HTTP_CONN_CLOSED)
		return;
	if (c->state == HTTP_CONN_HEAD && http_sock_unsent(&c->sock) == 0)
		c->since = uv_now(c->server->loop);
	if (!c->sock.broken)
		offer_room(c);
	http_conn_run(c);
}

void http_conn_closed(struct http_conn *c)
{
	struct http_server *server = c->server;

	http_server_forget(server, c);
	inis_buf_free(&c->in);
	free(c);
	http_server_settle(server);
}

/* ---- the end ---- */

bool http_conn_spare(const struct http_conn *c)
{
	return (c->state == HTTP_CONN_HEAD || c->state == HTTP_CONN_LINGER) && http_sock_unsent(&c->sock) == 0;
}

void http_conn_drain(struct http_conn *c)
{
	if (c->state == HTTP_CONN_SOCKET)
		http_socket_drain(c);
	if (c->state != HTTP_CONN_HEAD)
		return;
	if (http_sock_unsent(&c->sock) == 0)
		close_now(c, false);
	else
		linger(c);
}

void http_conn_drop(struct http_conn *c)
{
	http_conn_lost(c);
}
