/* SPDX-License-Identifier: Apache-2.0
 *
 * broker_client.h - the front's end of the broker socket.
 *
 * Requests are sent in the order they are made; each has one callback, called
 * once with the reply (LIST and TEMPLATES: once for each packet). A descriptor that comes with
 * a reply is closed after the callback unless taken with take_fd(). When the
 * broker goes away every pending callback is called with an error, then on_lost.
 */
#ifndef INIS_SESSION_BROKER_CLIENT_H
#define INIS_SESSION_BROKER_CLIENT_H

#include <uv.h>

#include "base/error.h"
#include "wire/broker_proto.h"

struct broker;

/* reply is NULL when err is set. fd: -1 or the descriptor that came along. */
typedef void (*broker_reply)(void *ctx, const struct inis_broker_msg *reply, int *fd, const struct inis_error *err);

struct broker_events {
	void (*on_exited)(void *ctx, const struct unit_id *unit); /* its PID 1 ended by itself */
	void (*on_templates)(void *ctx); /* there are others now */
	void (*on_lost)(void *ctx);
};

/* Takes fd. NULL + err on failure. */
struct broker *broker_open(uv_loop_t *loop, int fd, const struct broker_events *events, void *ctx,
			   struct inis_error *err);
void broker_close(struct broker *b); /* pending callbacks are not called */

/* Fills in the request id and sends. After an error return reply is not called. */
int broker_send(struct broker *b, struct inis_broker_msg *m, broker_reply reply, void *ctx, struct inis_error *err);

#endif
