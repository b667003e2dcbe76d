/* SPDX-License-Identifier: Apache-2.0
 *
 * file_write.c - content in memory becomes a file; one in a request.
 */
#include <string.h>

#include "api/fields.h"
#include "api/file_ops.h"
#include "api/object.h"

#define PIECE ((size_t)64 * 1024)

/* ---- putting ---- */

static void on_input(void *ctx)
{
	struct file_put *p = ctx;
	bool room = true;

	while (p->left > 0 && room) {
		size_t n = p->left < PIECE ? p->left : PIECE;

		room = agent_call_write(p->call, p->data, n);
		p->data += n;
		p->left -= n;
	}
	if (p->left > 0 || p->finished)
		return;
	p->finished = true;
	agent_call_finish(p->call);
}

static void on_put(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	static const struct inis_error early = {.code = INIS_SESSION_UNAVAILABLE,
						.message = "the sandbox ended the write too early"};
	struct file_put *p = ctx;

	(void)r;
	p->done(p->ctx, err || p->finished ? err : &early);
}

int file_put_start(struct file_put *p, struct agent *a, const char *path, uint32_t mode, struct inis_error *err)
{
	static const struct agent_handler handler = {.input = on_input, .done = on_put};
	struct inis_file_write m = {.path = {path, strlen(path)}, .mode = mode, .size = p->left};

	p->call = agent_file_write(a, &m, &handler, p, err);
	return p->call ? 0 : -1;
}

int file_mode(const json_t *o, uint32_t *mode, struct inis_error *err)
{
	int64_t value = 0;

	if (field_int(o, "mode", 1, 0777, &value, err) < 0)
		return -1;
	*mode = (uint32_t)value;
	return 0;
}

/* ---- one file ---- */

struct writing {
	struct op op;
	const char *path;
	uint32_t mode;
	struct inis_buf content;
	struct file_put put;
};

static void on_written(void *ctx, const struct inis_error *err)
{
	struct writing *w = ctx;
	struct object o;

	if (err) {
		op_fail(&w->op, err);
		return;
	}
	o = object_new();
	object_text(&o, "path", w->path);
	object_int(&o, "bytes", (int64_t)w->content.len);
	object_int(&o, "duration_ms", op_ms(&w->op));
	op_json(&w->op, 200, object_done(&o));
}

static void go(struct op *op)
{
	struct writing *w = (struct writing *)op;
	struct inis_error err = INIS_ERROR_INIT;

	w->put = (struct file_put){.data = w->content.data, .left = w->content.len, .done = on_written, .ctx = w};
	if (file_put_start(&w->put, op_agent(op), w->path, w->mode, &err) < 0)
		op_fail(op, &err);
}

static void cleanup(struct op *op)
{
	inis_buf_free(&((struct writing *)op)->content);
}

void file_write(struct http_request *rq, json_t *body)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct writing *w = op_new(rq, sizeof(*w), body, go);

	if (!w)
		return;
	w->op.cleanup = cleanup;
	if (field_path(body, "path", &w->path, &err) < 0 || field_required(body, "content", &err) < 0 ||
	    field_content(body, "content", "encoding", FILE_CONTENT_MAX, &w->content, &err) < 0 ||
	    file_mode(body, &w->mode, &err) < 0)
		op_fail(&w->op, &err);
	else
		op_begin(&w->op);
}
