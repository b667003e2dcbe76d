/* SPDX-License-Identifier: Apache-2.0
 *
 * file_search.c - find and grep: query parameters, and the records of the agent as JSON.
 *
 * Records become JSON as they come, so that an answer is held once. Names and lines that are not UTF-8 are shown with
 * U+FFFD; such a name cannot be used to get at the file.
 */
#include <string.h>

#include "api/encode.h"
#include "api/fields.h"
#include "api/file_ops.h"

#define BUDGET_MS    10000
#define FIND_DEFAULT 1000
#define FIND_MAX     10000
#define GREP_DEFAULT 100
#define GREP_MAX     1000
#define PENDING_MAX  ((size_t)1024 * 1024)
#define DEPTH_MAX    10000

struct search {
	struct op op;
	bool grep;
	bool details; /* find: what each path is, too */
	struct inis_search want;
	size_t received; /* bytes */
	struct inis_buf pending; /* the beginning of a record whose end has not come */
	json_t *results; /* paths or matches */
	json_t *entries;
	uint64_t searched;
};

/* ---- records ---- */

static json_t *text(struct inis_str s)
{
	return encode_lossy((const uint8_t *)s.s, s.len);
}

static json_t *lines(const struct inis_str *list, uint8_t n)
{
	json_t *array = n ? json_array() : NULL;

	for (uint8_t i = 0; array && i < n; i++) {
		if (json_array_append_new(array, text(list[i])) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *match_json(const struct inis_match *m)
{
	struct object o = object_new();

	object_take(&o, "path", text(m->path));
	object_int(&o, "line_number", m->line_number);
	object_take(&o, "line", text(m->line));
	if (m->n_before)
		object_take(&o, "before", lines(m->before, m->n_before));
	if (m->n_after)
		object_take(&o, "after", lines(m->after, m->n_after));
	return object_done(&o);
}

static json_t *entry_json(const struct inis_found *f)
{
	struct inis_file_info info = {.type = f->type, .mode = f->mode, .size = f->size, .mtime_ms = f->mtime_ms};
	struct object o = object_new();

	object_take(&o, "path", text(f->path));
	file_info_members(&o, &info);
	return object_done(&o);
}

/* False: no memory, or not what was asked for. */
static bool take_record(struct search *s, const struct inis_record *r)
{
	size_t most = (size_t)s->want.max_results * (s->grep ? INIS_SEARCH_FILE_MATCHES : 1);

	if (r->kind != INIS_RECORD_SEARCHED && json_array_size(s->results) >= most)
		return false;
	switch (r->kind) {
	case INIS_RECORD_FOUND:
		return !s->grep && json_array_append_new(s->results, text(r->found.path)) == 0 &&
		       (!s->details || json_array_append_new(s->entries, entry_json(&r->found)) == 0);
	case INIS_RECORD_MATCH:
		return s->grep && json_array_append_new(s->results, match_json(&r->match)) == 0;
	default:
		s->searched = r->searched;
		return s->grep && r->searched <= FIELD_INT_MAX;
	}
}

/* False: they are not records. */
static bool take_records(struct search *s)
{
	struct inis_record r;
	size_t used = 0;
	ssize_t length = 1;

	while (!inis_buf_failed(&s->pending) && used < s->pending.len) {
		length = inis_record_unpack(s->pending.data + used, s->pending.len - used, &r);
		if (length <= 0)
			break;
		if (!take_record(s, &r))
			return false;
		used += (size_t)length;
	}
	if (inis_buf_failed(&s->pending) || length < 0)
		return false;
	inis_buf_consume(&s->pending, used);
	return true;
}

static void on_data(void *ctx, enum agent_stream stream, uint64_t offset, const uint8_t *data, size_t n)
{
	struct inis_error broken = INIS_ERROR_INIT;
	struct search *s = ctx;

	(void)stream;
	(void)offset;
	s->received += n;
	inis_buf_append(&s->pending, data, n);
	/* The last record may go beyond. */
	if (s->received <= INIS_SEARCH_OUTPUT_MAX + PENDING_MAX && take_records(s))
		return;
	inis_fail(&broken, INIS_UNAVAILABLE, "the answer of the sandbox could not be read");
	agent_call_release(s->op.call);
	op_fail(&s->op, &broken);
}

static void on_done(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	struct search *s = ctx;
	struct object o;

	if (err) {
		op_fail(&s->op, err);
		return;
	}
	o = object_new();
	object_text(&o, "path", s->want.path.s);
	object_share(&o, s->grep ? "matches" : "paths", s->results);
	if (s->details)
		object_share(&o, "entries", s->entries);
	if (s->grep)
		object_int(&o, "files_searched", (int64_t)s->searched);
	object_bool(&o, "truncated", r->end_flags & INIS_END_TRUNCATED);
	object_int(&o, "duration_ms", op_ms(&s->op));
	op_json(&s->op, 200, object_done(&o));
}

static void go(struct op *op)
{
	static const struct agent_handler handler = {.data = on_data, .done = on_done};
	struct search *s = (struct search *)op;
	struct inis_error err = INIS_ERROR_INIT;

	op_call(op, agent_file_search(op_agent(op), s->grep, &s->want, &handler, s, &err), &err);
}

static void cleanup(struct op *op)
{
	struct search *s = (struct search *)op;

	inis_buf_free(&s->pending);
	json_decref(s->results);
	json_decref(s->entries);
}

/* ---- the request ---- */

/* A text without NUL; "" when absent. */
static int query_text(const struct http_request *rq, const char *name, struct inis_str *out, struct inis_error *err)
{
	const char *value = http_query(rq, name);

	*out = (struct inis_str){value ? value : "", value ? strlen(value) : 0};
	if (out->len > INIS_SEARCH_PATTERN_MAX)
		return inis_fail_field(err, name, "must have at most %d bytes", INIS_SEARCH_PATTERN_MAX);
	return 0;
}

static int read_limits(struct http_request *rq, struct search *s, struct inis_error *err)
{
	int64_t results = s->grep ? GREP_DEFAULT : FIND_DEFAULT;
	int64_t most = s->grep ? GREP_MAX : FIND_MAX;
	int64_t context = 0, depth = 0;

	if (query_int(rq, "max_results", 1, FIELD_INT_MAX, &results, err) < 0 ||
	    query_int(rq, "context_lines", 0, FIELD_INT_MAX, &context, err) < 0 ||
	    query_int(rq, "max_depth", 1, FIELD_INT_MAX, &depth, err) < 0)
		return -1;
	s->want.max_results = (uint32_t)(results < most ? results : most);
	s->want.context = (uint32_t)(context < INIS_SEARCH_CONTEXT_MAX ? context : INIS_SEARCH_CONTEXT_MAX);
	s->want.max_depth = (uint32_t)(depth < DEPTH_MAX ? depth : DEPTH_MAX);
	return 0;
}

static int read_query(struct http_request *rq, struct search *s, struct inis_error *err)
{
	bool case_sensitive = false, no_hidden = false;

	if (query_text(rq, "pattern", &s->want.pattern, err) < 0 ||
	    query_text(rq, "file_pattern", &s->want.file_pattern, err) < 0 ||
	    query_text(rq, "exclude_dirs", &s->want.exclude_dirs, err) < 0 ||
	    query_bool(rq, "case_sensitive", &case_sensitive, err) < 0 ||
	    query_bool(rq, "no_hidden", &no_hidden, err) < 0 || query_bool(rq, "details", &s->details, err) < 0)
		return -1;
	if (s->want.pattern.len == 0)
		return inis_fail_field(err, "pattern", "is required");
	s->details = s->details && !s->grep;
	s->want.flags = (case_sensitive ? INIS_SEARCH_CASE : 0) | (no_hidden ? INIS_SEARCH_NO_HIDDEN : 0);
	return read_limits(rq, s, err);
}

void file_search(struct http_request *rq, const char *path, bool grep)
{
	struct search *s = op_new(rq, sizeof(*s), NULL, go);
	struct inis_error err = INIS_ERROR_INIT;

	if (!s)
		return;
	s->op.cleanup = cleanup;
	s->grep = grep;
	s->pending.max = PENDING_MAX;
	s->want.path = (struct inis_str){path, strlen(path)};
	s->want.budget_ms = BUDGET_MS;
	s->results = json_array();
	s->entries = json_array();
	if (!s->results || !s->entries)
		inis_fail(&err, INIS_UNAVAILABLE, "out of memory");
	if (err.code || read_query(rq, s, &err) < 0)
		op_fail(&s->op, &err);
	else
		op_begin(&s->op);
}
