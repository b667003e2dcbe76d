/* SPDX-License-Identifier: Apache-2.0
 *
 * feed.c - a streamed request body that goes to an agent call as its input.
 */
#include "api/feed.h"

static void on_body(struct http_request *rq, void *ctx, const uint8_t *data, size_t n)
{
	struct feed *f = ctx;

	f->received += n;
	if (f->on_data)
		f->on_data(f, data, n);
	if (!agent_call_write(f->op.call, data, n) && !f->paused) {
		f->paused = true;
		http_body_pause(rq);
	}
}

static void on_body_end(struct http_request *rq, void *ctx)
{
	struct feed *f = ctx;

	(void)rq;
	f->ended = true;
	f->on_end(f);
}

void feed_closed(struct op *op)
{
	agent_call_release(op->call);
	op_leave(op);
}

void feed_room(struct feed *f)
{
	static const struct http_body_events events = {.on_data = on_body, .on_end = on_body_end};

	if (!f->begun) {
		f->begun = true;
		http_body_start(f->op.rq, &events, f);
	} else if (f->paused && !f->ended) {
		f->paused = false;
		http_body_resume(f->op.rq);
	}
}
