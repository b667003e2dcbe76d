/* SPDX-License-Identifier: Apache-2.0
 *
 * upload.c - handlers of streamed bodies.
 */
#include "upload.h"

#include <stdlib.h>
#include <uv.h>

#include "app.h"

struct upload {
	struct http_request *rq;
	size_t bytes;
	unsigned sum;
	bool slow;
	uv_timer_t timer;
};

static void upload_data(struct http_request *rq, void *ctx, const uint8_t *data, size_t n)
{
	struct upload *up = ctx;
	struct app *app = http_app(rq);

	for (size_t i = 0; i < n; i++)
		up->sum = up->sum * 31 + data[i];
	up->bytes += n;
	atomic_fetch_add(&app->consumed, n);
	if (up->slow)
		http_body_pause(rq);
}

static void free_upload(uv_handle_t *handle)
{
	free(handle->data);
}

static void upload_end(struct http_request *rq, void *ctx)
{
	struct upload *up = ctx;

	http_respond_json(rq, 200, json_pack("{s:I, s:I}", "bytes", (json_int_t)up->bytes, "sum", (json_int_t)up->sum));
	uv_close((uv_handle_t *)&up->timer, free_upload);
}

static void upload_closed(struct http_request *rq, void *ctx)
{
	struct upload *up = ctx;

	app_count_close(rq, ctx);
	http_respond_empty(rq);
	uv_close((uv_handle_t *)&up->timer, free_upload);
}

static void upload_go_on(uv_timer_t *timer)
{
	struct upload *up = timer->data;

	http_body_resume(up->rq);
}

static void upload(struct http_request *rq, bool slow, uint64_t rest_ms)
{
	static const struct http_body_events events = {upload_data, upload_end};
	struct app *app = app_called(rq);
	struct upload *up = calloc(1, sizeof(*up));

	if (!up) {
		app_no_memory(rq);
		return;
	}
	up->rq = rq;
	up->slow = slow;
	uv_timer_init(app_loop(app), &up->timer);
	up->timer.data = up;
	http_set_context(rq, up, upload_closed);
	http_body_start(rq, &events, up);
	if (rest_ms > 0)
		uv_timer_start(&up->timer, upload_go_on, rest_ms, rest_ms);
}

void put_upload(struct http_request *rq)
{
	upload(rq, false, 0);
}

void put_slow_upload(struct http_request *rq)
{
	upload(rq, true, 2);
}

void put_stuck_upload(struct http_request *rq)
{
	upload(rq, true, 0);
}

void put_refused(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;

	app_called(rq);
	inis_fail(&err, INIS_NOT_FOUND, "no such session");
	http_respond_error(rq, &err);
}

static void refuse_data(struct http_request *rq, void *ctx, const uint8_t *data, size_t n)
{
	struct inis_error err = INIS_ERROR_INIT;

	(void)ctx;
	(void)data;
	(void)n;
	inis_fail(&err, INIS_CONFLICT, "enough");
	http_respond_error(rq, &err);
}

static void never_ends(struct http_request *rq, void *ctx)
{
	(void)rq;
	(void)ctx;
	abort();
}

void put_half(struct http_request *rq)
{
	static const struct http_body_events events = {refuse_data, never_ends};

	app_called(rq);
	http_body_start(rq, &events, NULL);
}
