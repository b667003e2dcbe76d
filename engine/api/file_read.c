/* SPDX-License-Identifier: Apache-2.0
 *
 * file_read.c - the content of a file as JSON.
 */
#include "api/encode.h"
#include "api/file_ops.h"

struct reading {
	struct op op;
	const char *path;
	bool base64;
	int64_t offset;
	int64_t length;
	struct inis_buf content;
};

static void too_large(struct reading *rd)
{
	struct inis_error err = INIS_ERROR_INIT;

	inis_fail(&err, INIS_PAYLOAD_TOO_LARGE, "the file is larger than %zu bytes: read a part, or stream it",
		  ENCODE_CAP);
	agent_call_release(rd->op.call);
	op_fail(&rd->op, &err);
}

static void on_info(void *ctx, const struct agent_result *r)
{
	struct reading *rd = ctx;
	uint64_t offset = (uint64_t)rd->offset;

	if (rd->length < 0 && r->file.size > offset && r->file.size - offset > ENCODE_CAP)
		too_large(rd);
}

static void on_data(void *ctx, enum agent_stream stream, uint64_t offset, const uint8_t *data, size_t n)
{
	struct reading *rd = ctx;

	(void)stream;
	(void)offset;
	if (rd->content.len + n > ENCODE_CAP)
		too_large(rd);
	else
		inis_buf_append(&rd->content, data, n);
}

static void on_done(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	struct reading *rd = ctx;
	struct object o;

	(void)r;
	if (err) {
		op_fail(&rd->op, err);
		return;
	}
	o = object_new();
	o.failed |= inis_buf_failed(&rd->content);
	object_text(&o, "path", rd->path);
	if (rd->base64) {
		object_take(&o, "content", encode_base64(rd->content.data, rd->content.len));
		object_text(&o, "encoding", "base64");
	} else {
		object_take(&o, "content", encode_lossy(rd->content.data, rd->content.len));
	}
	op_json(&rd->op, 200, object_done(&o));
}

static void go(struct op *op)
{
	static const struct agent_handler handler = {.info = on_info, .data = on_data, .done = on_done};
	struct reading *rd = (struct reading *)op;
	struct inis_error err = INIS_ERROR_INIT;
	/* One more than fits, to see a file that grows. */
	uint64_t length = rd->length < 0 ? ENCODE_CAP + 1 : (uint64_t)rd->length;

	op_call(op, agent_file_read(op_agent(op), rd->path, (uint64_t)rd->offset, length, &handler, rd, &err), &err);
}

static void cleanup(struct op *op)
{
	inis_buf_free(&((struct reading *)op)->content);
}

void file_read(struct http_request *rq, json_t *body, const char *path, bool base64, int64_t offset, int64_t length)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct reading *rd = op_new(rq, sizeof(*rd), body, go);

	if (!rd)
		return;
	rd->op.cleanup = cleanup;
	rd->path = path;
	rd->base64 = base64;
	rd->offset = offset;
	rd->length = length;
	if (length > (int64_t)ENCODE_CAP) {
		inis_fail_field(&err, "length", "must be at most %zu", ENCODE_CAP);
		err.code = INIS_PAYLOAD_TOO_LARGE;
		op_fail(&rd->op, &err);
		return;
	}
	op_begin(&rd->op);
}
