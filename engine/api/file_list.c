/* SPDX-License-Identifier: Apache-2.0
 *
 * file_list.c - the names in a directory as JSON, sorted by bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "api/encode.h"
#include "api/file_ops.h"

#define ENTRIES_MAX    250000
#define LIST_BYTES_MAX ((size_t)64 * 1024 * 1024)
#define NAME_BYTES_MAX 1024

struct listing {
	struct op op;
	const char *path;
	struct inis_buf packed; /* entries as they come */
};

struct entry {
	struct inis_str name;
	bool directory;
};

static void on_data(void *ctx, enum agent_stream stream, uint64_t offset, const uint8_t *data, size_t n)
{
	struct listing *l = ctx;

	(void)stream;
	(void)offset;
	inis_buf_append(&l->packed, data, n);
}

/* By the bytes of what is shown, the slash of a directory included. */
static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	size_t n = x->name.len < y->name.len ? x->name.len : y->name.len;
	int order = memcmp(x->name.s, y->name.s, n);
	unsigned char cx, cy;

	if (order)
		return order;
	cx = x->name.len > n ? (unsigned char)x->name.s[n] : x->directory ? '/' : '\0';
	cy = y->name.len > n ? (unsigned char)y->name.s[n] : y->directory ? '/' : '\0';
	return (int)cx - (int)cy;
}

/* The number of entries, or -1 when the agent sent something else. */
static ssize_t unpack(const struct inis_buf *packed, struct entry **list)
{
	struct inis_unpack u;
	size_t count = 0, room = 0;

	inis_unpack_init(&u, packed->data, packed->len);
	while (u.left > 0) {
		uint8_t type = inis_unpack_u8(&u);
		struct inis_str name = inis_unpack_str(&u);

		if (u.failed || name.len == 0 || name.len >= NAME_BYTES_MAX)
			return -1;
		if (count == room) {
			struct entry *more;

			room = room ? 2 * room : 64;
			more = realloc(*list, room * sizeof(*more));
			if (!more)
				return -1;
			*list = more;
		}
		(*list)[count++] = (struct entry){name, type == INIS_FILE_DIRECTORY};
	}
	return (ssize_t)count;
}

static json_t *shown(const struct entry *e)
{
	uint8_t text[NAME_BYTES_MAX + 1];

	memcpy(text, e->name.s, e->name.len);
	text[e->name.len] = '/';
	return encode_lossy(text, e->name.len + e->directory);
}

static json_t *entries_json(struct listing *l)
{
	struct entry *list = NULL;
	ssize_t count = inis_buf_failed(&l->packed) ? -1 : unpack(&l->packed, &list);
	json_t *json = count < 0 ? NULL : json_array();

	if (json && count > 1)
		qsort(list, (size_t)count, sizeof(*list), compare);
	for (ssize_t i = 0; json && i < count; i++) {
		if (json_array_append_new(json, shown(&list[i])) < 0) {
			json_decref(json);
			json = NULL;
		}
	}
	free(list);
	return json;
}

static void on_done(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	struct listing *l = ctx;
	struct object o;

	if (err) {
		op_fail(&l->op, err);
		return;
	}
	o = object_new();
	object_take(&o, "entries", entries_json(l));
	object_flag(&o, "truncated", r->end_flags & INIS_END_TRUNCATED);
	op_json(&l->op, 200, object_done(&o));
}

static void go(struct op *op)
{
	static const struct agent_handler handler = {.data = on_data, .done = on_done};
	struct listing *l = (struct listing *)op;
	struct inis_error err = INIS_ERROR_INIT;

	op_call(op, agent_file_list(op_agent(op), l->path, ENTRIES_MAX, &handler, l, &err), &err);
}

static void cleanup(struct op *op)
{
	inis_buf_free(&((struct listing *)op)->packed);
}

void file_list(struct http_request *rq, json_t *body, const char *path)
{
	struct listing *l = op_new(rq, sizeof(*l), body, go);

	if (!l)
		return;
	l->op.cleanup = cleanup;
	l->path = path;
	l->packed.max = LIST_BYTES_MAX;
	op_begin(&l->op);
}
