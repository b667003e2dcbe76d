/* SPDX-License-Identifier: Apache-2.0
 *
 * sockets.c - the handler of a WebSocket.
 */
#include "sockets.h"

#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "http/websocket.h"
#include "upload.h"

#define FLOOD_PIECE 16384

struct echo {
	struct app *app;
	struct websocket *ws;
	bool flooding;
};

static void flood(struct echo *e)
{
	static const char piece[FLOOD_PIECE];
	bool room = true;

	while (e->flooding && room) {
		room = websocket_send(e->ws, "", 0, piece, sizeof(piece));
		atomic_fetch_add(&e->app->produced, sizeof(piece));
	}
	atomic_fetch_add(&e->app->refused_writes, 1);
}

static void on_message(void *ctx, const uint8_t *data, size_t n)
{
	struct echo *e = ctx;

	atomic_fetch_add(&e->app->consumed, n);
	if (n == 3 && memcmp(data, "bye", 3) == 0) {
		websocket_close(e->ws, WS_NORMAL, "");
		free(e);
	} else if (n == 5 && memcmp(data, "flood", 5) == 0) {
		e->flooding = true;
		flood(e);
	} else if (n == 4 && memcmp(data, "hold", 4) == 0) {
		websocket_hold(e->ws);
	} else {
		websocket_send(e->ws, data, n < 1 ? n : 1, data + (n > 0), n > 0 ? n - 1 : 0);
	}
}

static void on_drain(void *ctx)
{
	struct echo *e = ctx;

	atomic_fetch_add(&e->app->drains, 1);
	flood(e);
}

static void on_closed(void *ctx, enum websocket_end how)
{
	struct echo *e = ctx;

	(void)how;
	atomic_fetch_add(&e->app->closes, 1);
	free(e);
}

void get_socket(struct http_request *rq)
{
	static const struct websocket_events events = {on_message, on_drain, on_closed};
	struct inis_error err = INIS_ERROR_INIT;
	struct echo *e;

	if (http_query(rq, "refuse")) {
		app_called(rq);
		inis_fail(&err, INIS_NOT_FOUND, "no such thing");
		http_respond_error(rq, &err);
		return;
	}
	e = calloc(1, sizeof(*e));
	if (e) {
		e->app = app_called(rq);
		e->ws = websocket_accept(rq, SOCKET_MESSAGE_MAX, &events, e);
	}
	if (!e || !e->ws) {
		free(e);
		app_no_memory(rq);
	}
}
