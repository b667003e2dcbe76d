/* SPDX-License-Identifier: Apache-2.0
 *
 * websocket.c - a connection that has become a WebSocket.
 *
 * Whether the peer is still there is for its kernel to say, not for its program:
 * one that does not read for minutes answers no ping, but is not gone. Our pings
 * only see to it that there is always something to be acknowledged.
 */
#include "http/websocket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/respond.h"
#include "http/server.h"
#include "http/upgrade.h"

#define GONE_MS 60000

struct websocket {
	struct http_request *rq;
	struct http_server *server;
	struct websocket_events events;
	void *ctx;
	struct ws_reader reader;
	uint64_t pinged_at;
};

void http_socket_free(struct websocket *ws)
{
	if (!ws)
		return;
	ws_reader_free(&ws->reader);
	free(ws);
}

/* ---- sending ---- */

static void send_control(struct websocket *ws, enum ws_opcode opcode, const void *data, size_t n)
{
	uint8_t head[WS_HEAD_MAX];
	uv_buf_t bufs[2];

	if (!ws->rq->conn)
		return;
	bufs[0] = (uv_buf_t){.base = (char *)head, .len = ws_head(head, opcode, n, NULL)};
	bufs[1] = (uv_buf_t){.base = (char *)(uintptr_t)data, .len = n};
	http_sock_write(&ws->rq->conn->sock, bufs, 2);
}

bool websocket_send(struct websocket *ws, const void *head, size_t head_len, const void *data, size_t n)
{
	struct http_request *rq = ws->rq;
	uint8_t frame[WS_HEAD_MAX];
	uv_buf_t bufs[3];

	if (!rq->conn)
		return true;
	bufs[0] = (uv_buf_t){.base = (char *)frame, .len = ws_head(frame, WS_BINARY, head_len + n, NULL)};
	bufs[1] = (uv_buf_t){.base = (char *)(uintptr_t)head, .len = head_len};
	bufs[2] = (uv_buf_t){.base = (char *)(uintptr_t)data, .len = n};
	http_sock_write(&rq->conn->sock, bufs, 3);
	/* A lost connection takes everything at once; a producer must return to the loop to be told of the end. */
	if (!rq->conn->sock.broken && http_sock_unsent(&rq->conn->sock) <= HTTP_WRITE_HIGH)
		return true;
	rq->full = true;
	return false;
}

void websocket_close(struct websocket *ws, enum ws_status status, const char *reason)
{
	uint8_t payload[WS_CONTROL_MAX] = {(uint8_t)(status >> 8), (uint8_t)status};
	size_t n = strnlen(reason, sizeof(payload) - 2);
	struct http_request *rq = ws->rq;

	memcpy(payload + 2, reason, n);
	send_control(ws, WS_CLOSE, payload, n + 2);
	rq->on_close = NULL;
	http_finish(rq, false);
}

/* Ends it from this side of the seam. */
static void end(struct websocket *ws, enum ws_status status, enum websocket_end how)
{
	void (*closed)(void *, enum websocket_end) = ws->events.closed;
	void *ctx = ws->ctx;

	websocket_close(ws, status, "");
	closed(ctx, how);
}

/* ---- receiving ---- */

void websocket_hold(struct websocket *ws)
{
	ws->rq->paused = true;
}

void websocket_unhold(struct websocket *ws)
{
	ws->rq->paused = false;
	if (ws->rq->conn)
		http_conn_kick(ws->rq->conn);
}

static void on_close_frame(struct websocket *ws, const struct ws_item *item)
{
	int status = ws_close_status(item->data, item->n);

	end(ws, status < 0 ? WS_PROTOCOL_ERROR : status ? (enum ws_status)status : WS_NORMAL, WEBSOCKET_LEFT);
}

static void on_item(struct websocket *ws, const struct ws_item *item)
{
	switch (item->opcode) {
	case WS_BINARY:
		ws->events.message(ws->ctx, item->data, item->n);
		return;
	case WS_CLOSE:
		on_close_frame(ws, item);
		return;
	case WS_PING:
		/* One who asks faster than he listens misses some answers. */
		if (http_sock_unsent(&ws->rq->conn->sock) <= HTTP_WRITE_HIGH)
			send_control(ws, WS_PONG, item->data, item->n);
		return;
	case WS_PONG:
		return;
	default:
		end(ws, WS_UNSUPPORTED, WEBSOCKET_LEFT);
	}
}

size_t http_socket_input(struct http_conn *c)
{
	struct http_request *rq = c->rq;
	struct websocket *ws = rq->websocket;
	size_t at = 0;

	/* A handler may end the socket: then it is no longer the connection's. */
	while (c->rq == rq && !rq->paused && at < c->in.len) {
		struct ws_item item;
		size_t used;
		int got = ws_read(&ws->reader, c->in.data + at, c->in.len - at, &used, &item);

		at += used;
		if (got < 0)
			end(ws, ws->reader.error, WEBSOCKET_LEFT);
		else if (got > 0)
			on_item(ws, &item);
	}
	return at;
}

/* ---- life ---- */

static void on_lost(struct http_request *rq, void *ctx)
{
	struct websocket *ws = ctx;
	void (*closed)(void *, enum websocket_end) = ws->events.closed;
	enum websocket_end how = ws->server->draining ? WEBSOCKET_DRAINED : WEBSOCKET_LEFT;

	ctx = ws->ctx;
	http_finish(rq, true);
	closed(ctx, how);
}

static void on_drain(struct http_request *rq, void *ctx)
{
	struct websocket *ws = ctx;

	(void)rq;
	if (ws->events.drain)
		ws->events.drain(ws->ctx);
}

static void write_head(struct http_request *rq, const char *accept)
{
	char head[256];
	uv_buf_t buf = {.base = head};

	buf.len = (size_t)snprintf(head, sizeof(head),
				   "HTTP/1.1 101 Switching Protocols\r\nX-Inis-Request-Id: %s\r\n"
				   "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
				   rq->id.s, accept);
	http_sock_write(&rq->conn->sock, &buf, 1);
}

struct websocket *websocket_accept(struct http_request *rq, size_t message_max, const struct websocket_events *events,
				   void *ctx)
{
	char accept[HTTP_ACCEPT_SIZE];
	struct websocket *ws = rq->conn ? calloc(1, sizeof(*ws)) : NULL;

	if (!ws || http_upgrade_accept_key(http_header(rq, "sec-websocket-key"), accept, NULL) < 0) {
		free(ws);
		return NULL;
	}
	ws->rq = rq;
	ws->server = rq->conn->server;
	ws->events = *events;
	ws->ctx = ctx;
	ws->pinged_at = uv_now(ws->server->loop);
	ws_reader_init(&ws->reader, true, message_max);
	rq->websocket = ws;
	rq->answer = HTTP_ANSWER_STREAM;
	rq->status = 101;
	rq->keep_alive = false;
	rq->on_drain = on_drain;
	http_set_context(rq, ws, on_lost);
	write_head(rq, accept);
	http_conn_switch(rq->conn);
	return ws;
}

void http_socket_drain(struct http_conn *c)
{
	end(c->rq->websocket, WS_GOING_AWAY, WEBSOCKET_DRAINED);
}

void http_socket_tick(struct http_conn *c, uint64_t now)
{
	struct websocket *ws = c->rq->websocket;

	if (c->sock.broken || http_sock_unheard_ms(&c->sock) > GONE_MS ||
	    (!c->sock.reading && http_sock_peer_gone(&c->sock))) {
		http_conn_lost(c);
		return;
	}
	if (now - ws->pinged_at < c->server->websocket_ping_ms || http_sock_unsent(&c->sock) > 0)
		return;
	ws->pinged_at = now;
	send_control(ws, WS_PING, NULL, 0);
}
