/* SPDX-License-Identifier: Apache-2.0
 *
 * download.c - GET /v1/sessions/{id}/files/stream: a file's bytes, as long as it was when it was opened.
 *
 * An error before the first byte is an ordinary answer; after it the connection is cut.
 */
#include <string.h>

#include "api/fields.h"
#include "api/handlers.h"
#include "api/op.h"
#include "base/buf.h"

struct download {
	struct op op;
	const char *path;
	int64_t offset;
	int64_t length; /* -1: to the end */
	uint64_t left; /* announced and not yet sent */
	bool streaming;
};

static void on_drain(struct http_request *rq, void *ctx)
{
	(void)rq;
	agent_call_unhold(((struct download *)ctx)->op.call);
}

static void end(struct download *d, bool whole)
{
	http_stream_end(d->op.rq, whole);
	op_end(&d->op);
}

static void on_closed(struct op *op)
{
	struct download *d = (struct download *)op;

	agent_call_release(op->call);
	if (d->streaming)
		end(d, false);
	else
		op_leave(op);
}

/* Letters that stand for themselves in an extended value (RFC 8187). */
static const char PLAIN[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$&+-.^_`|~";

/* For who knows no better: what is not plain ASCII, or would have to be quoted, becomes '_'. */
static void put_simple_name(struct inis_buf *b, const char *name)
{
	for (; *name; name++) {
		bool fits = *name >= ' ' && *name <= '~' && !strchr("\"\\%", *name);

		/* Of a character of several bytes the first one counts. */
		if (((unsigned char)*name & 0xc0) != 0x80)
			inis_buf_append(b, fits ? name : "_", 1);
	}
}

static void put_exact_name(struct inis_buf *b, const char *name)
{
	for (; *name; name++) {
		if (strchr(PLAIN, *name))
			inis_buf_append(b, name, 1);
		else
			inis_buf_printf(b, "%%%02X", (unsigned char)*name);
	}
}

/* A name for who saves the file: RFC 6266. */
static void name_answer(struct http_request *rq, const char *path)
{
	cleanup_buf struct inis_buf value = INIS_BUF_INIT(0);
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	inis_buf_puts(&value, "attachment; filename=\"");
	put_simple_name(&value, name);
	inis_buf_puts(&value, "\"");
	if (strspn(name, PLAIN) != strlen(name)) {
		inis_buf_puts(&value, "; filename*=UTF-8''");
		put_exact_name(&value, name);
	}
	/* Without memory it has no name. */
	if (inis_buf_cstr(&value))
		http_add_header(rq, "Content-Disposition", inis_buf_cstr(&value));
}

static void on_info(void *ctx, const struct agent_result *r)
{
	struct download *d = ctx;
	uint64_t offset = (uint64_t)d->offset;

	d->left = r->file.size > offset ? r->file.size - offset : 0;
	if (d->length >= 0 && (uint64_t)d->length < d->left)
		d->left = (uint64_t)d->length;
	d->streaming = true;
	name_answer(d->op.rq, d->path);
	http_stream_begin(d->op.rq, 200, "application/octet-stream", (int64_t)d->left, on_drain);
}

static void on_data(void *ctx, enum agent_stream stream, uint64_t offset, const uint8_t *data, size_t n)
{
	struct download *d = ctx;

	(void)stream;
	(void)offset;
	/* A file that grows meanwhile: what was announced is sent. */
	if (n > d->left)
		n = (size_t)d->left;
	d->left -= n;
	if (!http_stream_write(d->op.rq, data, n))
		agent_call_hold(d->op.call);
}

static void on_done(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	static const struct inis_error nothing = {.code = INIS_SESSION_UNAVAILABLE,
						  .message = "the sandbox did not describe the file"};
	struct download *d = ctx;

	(void)r;
	if (!d->streaming)
		op_fail(&d->op, err ? err : &nothing);
	else
		end(d, !err && d->left == 0);
}

static void go(struct op *op)
{
	static const struct agent_handler handler = {.info = on_info, .data = on_data, .done = on_done};
	struct download *d = (struct download *)op;
	struct inis_error err = INIS_ERROR_INIT;
	uint64_t length = d->length < 0 ? UINT64_MAX : (uint64_t)d->length;

	op_call(op, agent_file_read(op_agent(op), d->path, (uint64_t)d->offset, length, &handler, d, &err), &err);
}

void download_get(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct download *d = op_new(rq, sizeof(*d), NULL, go);

	if (!d)
		return;
	d->length = -1;
	d->op.closed = on_closed;
	if (query_path(rq, &d->path, &err) < 0 || query_int(rq, "offset", 0, FIELD_INT_MAX, &d->offset, &err) < 0 ||
	    query_int(rq, "length", 0, FIELD_INT_MAX, &d->length, &err) < 0)
		op_fail(&d->op, &err);
	else
		op_begin(&d->op);
}
