/* SPDX-License-Identifier: Apache-2.0
 *
 * body.c - request bodies: gathered up to the route's limit, or streamed.
 *
 * A gathered body grows with what really arrives, never with what was announced.
 * A streamed one is parsed only while its handler wants more; what one parser
 * call still yields after a pause is held, at most one read of the socket.
 */
#include "http/body.h"

#include "http/conn.h"
#include "http/server.h"

static size_t limit(const struct http_request *rq)
{
	return rq->route->body_max ? rq->route->body_max : HTTP_JSON_BODY_MAX;
}

static int too_large(const struct http_request *rq, struct inis_error *err)
{
	return inis_fail(err, INIS_PAYLOAD_TOO_LARGE, "the request body is larger than %zu bytes", limit(rq));
}

int http_body_check_length(const struct http_request *rq, struct inis_error *err)
{
	if (rq->content_length > 0 && (uint64_t)rq->content_length > limit(rq))
		return too_large(rq, err);
	return 0;
}

static int gather(struct http_request *rq, const uint8_t *data, size_t n)
{
	if (n > limit(rq) - rq->body.len)
		return too_large(rq, &rq->body_error);
	if (http_server_charge(rq->conn->server, rq, n) < 0)
		return inis_fail(&rq->body_error, INIS_UNAVAILABLE, "too many large requests at once");
	inis_buf_append(&rq->body, data, n);
	if (inis_buf_failed(&rq->body))
		return inis_fail(&rq->body_error, INIS_UNAVAILABLE, "out of memory");
	return 0;
}

static int hold(struct http_request *rq, const uint8_t *data, size_t n)
{
	inis_buf_append(&rq->held, data, n);
	if (inis_buf_failed(&rq->held))
		return inis_fail(&rq->body_error, INIS_UNAVAILABLE, "out of memory");
	return 0;
}

int http_body_take(struct http_request *rq, const uint8_t *data, size_t n)
{
	rq->came += n;
	if (!http_body_is_streamed(rq))
		return gather(rq, data, n);
	if (rq->paused)
		return hold(rq, data, n);
	rq->events->on_data(rq, rq->events_ctx, data, n);
	return rq->answer == HTTP_ANSWER_DONE ? -1 : 0;
}

void http_body_release(struct http_request *rq)
{
	cleanup_buf struct inis_buf held = rq->held;

	rq->held = (struct inis_buf)INIS_BUF_INIT(0);
	rq->events->on_data(rq, rq->events_ctx, held.data, held.len);
}

void http_body_start(struct http_request *rq, const struct http_body_events *events, void *ctx)
{
	rq->events = events;
	rq->events_ctx = ctx;
	if (!rq->conn)
		return;
	if (!rq->received)
		http_conn_continue(rq->conn);
	http_conn_kick(rq->conn);
}

void http_body_pause(struct http_request *rq)
{
	rq->paused = true;
}

void http_body_resume(struct http_request *rq)
{
	rq->paused = false;
	if (rq->conn)
		http_conn_kick(rq->conn);
}
