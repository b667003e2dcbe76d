/* SPDX-License-Identifier: Apache-2.0
 *
 * sse.c - server-sent events.
 *
 * Clients read line by line and act at the data line, so `event` and `id` come
 * before it and there is exactly one of it. Comments keep the line alive.
 */
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "http/respond.h"
#include "http/server.h"

void http_sse_begin(struct http_request *rq, void (*on_drain)(struct http_request *rq, void *ctx))
{
	rq->sse = true;
	http_add_header(rq, "Cache-Control", "no-cache");
	http_stream_begin(rq, 200, "text/event-stream", -1, on_drain);
}

static void open_frame(struct inis_buf *frame, const char *event, const char *id)
{
	inis_buf_puts(frame, "event: ");
	inis_buf_puts(frame, event);
	if (id) {
		inis_buf_puts(frame, "\nid: ");
		inis_buf_puts(frame, id);
	}
	inis_buf_puts(frame, "\ndata: ");
}

/* A frame that cannot be built is a hole in the stream: the connection is cut rather than go on without it. */
static bool send_frame(struct http_request *rq, struct inis_buf *frame)
{
	inis_buf_puts(frame, "\n\n");
	if (!inis_buf_failed(frame))
		return http_stream_write(rq, frame->data, frame->len);
	if (rq->conn)
		rq->conn->sock.broken = true;
	return true;
}

bool http_sse_send(struct http_request *rq, const char *event, const char *id, const char *data, size_t n)
{
	cleanup_buf struct inis_buf frame = INIS_BUF_INIT(0);

	open_frame(&frame, event, id);
	inis_buf_append(&frame, data, n);
	return send_frame(rq, &frame);
}

bool http_sse_send_base64(struct http_request *rq, const char *event, const char *id, const void *data, size_t n)
{
	cleanup_buf struct inis_buf frame = INIS_BUF_INIT(0);

	if (n == 0)
		return true;
	open_frame(&frame, event, id);
	inis_base64_encode(&frame, data, n);
	return send_frame(rq, &frame);
}

void http_sse_end(struct http_request *rq)
{
	http_stream_end(rq, true);
}

void http_stream_tick(struct http_request *rq, uint64_t now)
{
	static const char ping[] = ": ping\n\n";

	if (rq->sse && rq->answer == HTTP_ANSWER_STREAM && now - rq->written_at >= HTTP_PING_MS &&
	    http_sock_unsent(&rq->conn->sock) == 0)
		http_stream_write(rq, ping, sizeof(ping) - 1);
}
