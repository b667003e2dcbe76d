/* SPDX-License-Identifier: Apache-2.0
 *
 * files_batch.c - PUT /v1/sessions/{id}/files/batch: several files, each with its own result.
 *
 * All items are checked before the first is written; then they are written one
 * after the other, and one that fails stops no other.
 */
#include <stdio.h>

#include "api/fields.h"
#include "api/file_ops.h"
#include "api/handlers.h"
#include "api/object.h"
#include "http/utf8.h"

#define BATCH_MAX 64

struct item {
	const char *path;
	uint32_t mode;
	struct inis_buf content;
};

struct batch {
	struct op op;
	struct item items[BATCH_MAX];
	size_t count;
	size_t at;
	struct file_put put;
	json_t *results;
	bool failed;
};

static void next(struct batch *b);

/* The agent quotes file names; what is not UTF-8 in them becomes U+FFFD's stand-in. */
static const char *clean(char *text)
{
	size_t n = 0, at;

	while (text[n])
		n++;
	while ((at = http_utf8_prefix(text, n)) < n)
		text[at] = '?';
	return text;
}

static void put_result(struct batch *b, const struct inis_error *err)
{
	struct object o = object_new();

	object_text(&o, "path", b->items[b->at].path);
	object_bool(&o, "ok", !err);
	if (err) {
		struct inis_error copy = *err;

		object_text(&o, "error", clean(copy.message));
		object_text(&o, "code", inis_code_name(err->code));
	}
	if (json_array_append_new(b->results, object_done(&o)) < 0)
		b->failed = true;
	b->at++;
}

static void on_written(void *ctx, const struct inis_error *err)
{
	struct batch *b = ctx;

	put_result(b, err);
	next(b);
}

static void answer(struct batch *b)
{
	struct object o = object_new();

	object_take(&o, "results", json_incref(b->results));
	object_int(&o, "duration_ms", op_ms(&b->op));
	o.failed |= b->failed;
	op_json(&b->op, 200, object_done(&o));
}

static void next(struct batch *b)
{
	struct inis_error err = INIS_ERROR_INIT;

	/* Each result may come at once, when the session has ended. */
	while (b->at < b->count) {
		struct item *it = &b->items[b->at];

		if (!op_agent(&b->op)) {
			session_check(b->op.session, &err);
			op_fail(&b->op, &err);
			return;
		}
		b->put = (struct file_put){
			.data = it->content.data, .left = it->content.len, .done = on_written, .ctx = b};
		if (file_put_start(&b->put, op_agent(&b->op), it->path, it->mode, &err) == 0)
			return;
		put_result(b, &err);
	}
	answer(b);
}

static void go(struct op *op)
{
	next((struct batch *)op);
}

/* Says which item is at fault: "files[3].content". */
static int blame(struct inis_error *err, size_t index)
{
	struct inis_error inner = *err;
	char field[96];
	const char *text = inner.message;
	enum inis_code code = inner.code;

	if (!inner.field[0])
		return -1;
	for (int colons = 0; *text && colons == 0; text++)
		colons += *text == ':';
	snprintf(field, sizeof(field), "files[%zu].%s", index, inner.field);
	inis_fail_field(err, field, "%s", *text == ' ' ? text + 1 : text);
	err->code = code;
	return -1;
}

static int read_item(struct batch *b, const json_t *o, size_t *total, struct inis_error *err)
{
	struct item *it = &b->items[b->count++];

	if (field_path(o, "path", &it->path, err) < 0 || field_required(o, "content", err) < 0 ||
	    field_content(o, "content", "encoding", FILE_CONTENT_MAX, &it->content, err) < 0 ||
	    file_mode(o, &it->mode, err) < 0)
		return -1;
	*total += it->content.len;
	return 0;
}

static int read_items(struct batch *b, struct inis_error *err)
{
	json_t *files = json_object_get(b->op.body, "files");
	size_t total = 0;
	size_t i;
	json_t *o;

	if (field_required(b->op.body, "files", err) < 0)
		return -1;
	if (!json_is_array(files))
		return inis_fail_field(err, "files", "must be an array");
	if (json_array_size(files) > BATCH_MAX) {
		inis_fail_field(err, "files", "must have at most %d items", BATCH_MAX);
		err->code = INIS_PAYLOAD_TOO_LARGE;
		return -1;
	}
	json_array_foreach (files, i, o) {
		if (!json_is_object(o))
			return inis_fail_field(err, "files", "items must be objects");
		if (read_item(b, o, &total, err) < 0)
			return blame(err, i);
	}
	if (total > FILE_CONTENT_MAX) {
		inis_fail_field(err, "files", "must be at most %zu bytes in all", FILE_CONTENT_MAX);
		err->code = INIS_PAYLOAD_TOO_LARGE;
		return -1;
	}
	b->results = json_array();
	return 0;
}

static void cleanup(struct op *op)
{
	struct batch *b = (struct batch *)op;

	for (size_t i = 0; i < BATCH_MAX; i++)
		inis_buf_free(&b->items[i].content);
	json_decref(b->results);
}

void files_batch_put(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	json_t *body = op_body(rq);
	struct batch *b = body ? op_new(rq, sizeof(*b), body, go) : NULL;

	if (!b)
		return;
	b->op.cleanup = cleanup;
	if (read_items(b, &err) < 0)
		op_fail(&b->op, &err);
	else
		op_begin(&b->op);
}
