/* SPDX-License-Identifier: Apache-2.0
 *
 * websocket.h - a request that leaves HTTP and becomes a WebSocket.
 *
 * DOC: How it works
 *
 * A route with HTTP_UPGRADE gets requests whose handshake is sound; the others
 * have been refused with a plain error. Its handler may refuse too, in the usual
 * way, or accept. From then on the socket stands for the answer: it ends exactly
 * once, with closed() or by websocket_close(), and is dead afterwards.
 *
 * Binary messages only, no extension, no subprotocol. Pings are answered; own
 * ones make a peer that is gone known. Nothing is read while the socket is held,
 * and at most HTTP_WRITE_HIGH bytes and one message wait to be sent.
 */
#ifndef INIS_HTTP_WEBSOCKET_H
#define INIS_HTTP_WEBSOCKET_H

#include "base/websocket.h"
#include "http/http.h"

struct websocket;

enum websocket_end {
	WEBSOCKET_LEFT, /* the client closed it, broke the protocol or is gone */
	WEBSOCKET_DRAINED, /* this server is stopping */
};

struct websocket_events {
	/* A whole binary message; may be empty. */
	void (*message)(void *ctx, const uint8_t *data, size_t n);
	void (*drain)(void *ctx); /* room again after websocket_send() was false */
	void (*closed)(void *ctx, enum websocket_end how); /* the last call */
};

/*
 * Answers 101. NULL when the client is gone or memory is short: then the request
 * is still to be answered as usual.
 */
struct websocket *websocket_accept(struct http_request *rq, size_t message_max, const struct websocket_events *events,
				   void *ctx);
/* One binary message of two parts. false: more than HTTP_WRITE_HIGH is waiting, stop until drain (it was taken). */
bool websocket_send(struct websocket *ws, const void *head, size_t head_len, const void *data, size_t n);
/* Stop and go on reading. */
void websocket_hold(struct websocket *ws);
void websocket_unhold(struct websocket *ws);
/* Says goodbye after what was sent. reason: a few words for the client, or "". */
void websocket_close(struct websocket *ws, enum ws_status status, const char *reason);

#endif
