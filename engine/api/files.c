/* SPDX-License-Identifier: Apache-2.0
 *
 * files.c - /v1/sessions/{id}/files: read, list, stat, find, grep, write, remove, the older form, mkdir, rename.
 */
#include <string.h>

#include "api/fields.h"
#include "api/file_ops.h"
#include "api/handlers.h"
#include "api/object.h"

struct path_op {
	struct op op;
	const char *path;
	const char *dest;
	bool recursive;
};

static void fail_request(struct http_request *rq, json_t *body, const struct inis_error *err)
{
	json_decref(body);
	http_respond_error(rq, err);
}

/* ---- GET ---- */

void file_info_members(struct object *o, const struct inis_file_info *info)
{
	static const char *const types[] = {[INIS_FILE_REGULAR] = "file",
					    [INIS_FILE_DIRECTORY] = "directory",
					    [INIS_FILE_SYMLINK] = "symlink",
					    [INIS_FILE_OTHER] = "other"};

	object_text(o, "type", types[info->type]);
	object_int(o, "size_bytes", info->size > INT64_MAX ? INT64_MAX : (int64_t)info->size);
	object_int(o, "mode", info->mode & 07777);
	/* Times before 1970 cannot be shown as such; the guest may set what it likes. */
	object_time(o, "mtime", info->mtime_ms > 0 && info->mtime_ms < 253402300800000LL ? info->mtime_ms : 1);
}

static void on_stat(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	struct path_op *p = ctx;
	struct object o;

	if (err) {
		op_fail(&p->op, err);
		return;
	}
	o = object_new();
	object_text(&o, "path", p->path);
	file_info_members(&o, &r->file);
	op_json(&p->op, 200, object_done(&o));
}

static void go_stat(struct op *op)
{
	static const struct agent_handler handler = {.done = on_stat};
	struct path_op *p = (struct path_op *)op;
	struct inis_error err = INIS_ERROR_INIT;

	op_call(op, agent_file_stat(op_agent(op), p->path, &handler, p, &err), &err);
}

static void stat_path(struct http_request *rq, const char *path)
{
	struct path_op *p = op_new(rq, sizeof(*p), NULL, go_stat);

	if (!p)
		return;
	p->path = path;
	op_begin(&p->op);
}

static void read_path(struct http_request *rq, const char *path)
{
	static const char *const encodings[] = {"text", "base64", NULL};
	struct inis_error err = INIS_ERROR_INIT;
	int64_t offset = 0, length = -1;
	int encoding = 0;

	if (query_choice(rq, "encoding", encodings, &encoding, &err) < 0 ||
	    query_int(rq, "offset", 0, FIELD_INT_MAX, &offset, &err) < 0 ||
	    query_int(rq, "length", 0, FIELD_INT_MAX, &length, &err) < 0)
		http_respond_error(rq, &err);
	else
		file_read(rq, NULL, path, encoding == 1, offset, length);
}

void files_get(struct http_request *rq)
{
	static const char *const ops[] = {"read", "list", "stat", "find", "grep", NULL};
	struct inis_error err = INIS_ERROR_INIT;
	const char *path = NULL;
	int op = 0;

	if (!http_query(rq, "op"))
		inis_fail_field(&err, "op", "is required");
	if (err.code || query_choice(rq, "op", ops, &op, &err) < 0 || query_path(rq, &path, &err) < 0) {
		http_respond_error(rq, &err);
		return;
	}
	if (op == 0) {
		read_path(rq, path);
	} else if (op == 1) {
		file_list(rq, NULL, path);
	} else if (op == 2) {
		stat_path(rq, path);
	} else {
		file_search(rq, path, op == 4);
	}
}

/* ---- PUT, POST ---- */

void files_put(struct http_request *rq)
{
	json_t *body = op_body(rq);

	if (body)
		file_write(rq, body);
}

/* The older form knows text only. */
static int check_legacy(const json_t *body, int *op, const char **path, struct inis_error *err)
{
	static const char *const ops[] = {"read", "write", "list", NULL};
	int64_t timeout = 0;

	if (field_required(body, "op", err) < 0 || field_choice(body, "op", ops, op, err) < 0 ||
	    field_path(body, "path", path, err) < 0)
		return -1;
	return field_int(body, "timeout_ms", 0, FIELD_INT_MAX, &timeout, err);
}

void files_post(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	json_t *body = op_body(rq);
	const char *path = NULL;
	int op = 0;

	if (!body)
		return;
	if (check_legacy(body, &op, &path, &err) < 0) {
		fail_request(rq, body, &err);
	} else if (op == 0) {
		file_read(rq, body, path, false, 0, -1);
	} else if (op == 1) {
		json_object_del(body, "encoding");
		file_write(rq, body);
	} else {
		file_list(rq, body, path);
	}
}

/* ---- DELETE ---- */

static void on_removed(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	struct op *op = ctx;

	(void)r;
	if (err)
		op_fail(op, err);
	else
		op_empty(op);
}

static void go_remove(struct op *op)
{
	static const struct agent_handler handler = {.done = on_removed};
	struct path_op *p = (struct path_op *)op;
	struct inis_error err = INIS_ERROR_INIT;

	op_call(op, agent_file_remove(op_agent(op), p->path, p->recursive, &handler, p, &err), &err);
}

void files_remove(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct path_op *p = op_new(rq, sizeof(*p), NULL, go_remove);

	if (!p)
		return;
	if (query_path(rq, &p->path, &err) < 0 || query_bool(rq, "recursive", &p->recursive, &err) < 0)
		op_fail(&p->op, &err);
	else
		op_begin(&p->op);
}

/* ---- mkdir, rename ---- */

static void on_changed(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	struct path_op *p = ctx;
	struct object o;

	(void)r;
	if (err) {
		op_fail(&p->op, err);
		return;
	}
	o = object_new();
	object_text(&o, "path", p->path);
	object_text(&o, "dest_path", p->dest);
	op_json(&p->op, 200, object_done(&o));
}

static const struct agent_handler CHANGED = {.done = on_changed};

static void go_mkdir(struct op *op)
{
	struct path_op *p = (struct path_op *)op;
	struct inis_error err = INIS_ERROR_INIT;

	op_call(op, agent_file_mkdir(op_agent(op), p->path, &CHANGED, p, &err), &err);
}

static void go_rename(struct op *op)
{
	struct path_op *p = (struct path_op *)op;
	struct inis_error err = INIS_ERROR_INIT;

	op_call(op, agent_file_rename(op_agent(op), p->path, p->dest, &CHANGED, p, &err), &err);
}

static void change(struct http_request *rq, bool with_dest, void (*go)(struct op *op))
{
	struct inis_error err = INIS_ERROR_INIT;
	json_t *body = op_body(rq);
	struct path_op *p = body ? op_new(rq, sizeof(*p), body, go) : NULL;

	if (!p)
		return;
	if (field_path(body, "path", &p->path, &err) < 0 ||
	    (with_dest && field_path(body, "dest_path", &p->dest, &err) < 0))
		op_fail(&p->op, &err);
	else
		op_begin(&p->op);
}

void files_mkdir_post(struct http_request *rq)
{
	change(rq, false, go_mkdir);
}

void files_rename_post(struct http_request *rq)
{
	change(rq, true, go_rename);
}
