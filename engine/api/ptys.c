/* SPDX-License-Identifier: Apache-2.0
 *
 * ptys.c - /v1/sessions/{id}/ptys: the terminals that have a name. pty.c attaches to them.
 */
#include "api/encode.h"
#include "api/fields.h"
#include "api/handlers.h"
#include "api/object.h"
#include "api/op.h"

#define GRACE_MAX_MS 60000

struct listing {
	struct op op;
	json_t *list;
	bool failed;
};

static json_t *pty_json(const struct inis_pty_entry *p)
{
	struct object o = object_new();

	object_take(&o, "name", json_stringn(p->name.s, p->name.len));
	object_int(&o, "pid", p->pid);
	object_int(&o, "rows", p->rows);
	object_int(&o, "cols", p->cols);
	object_bool(&o, "attached", p->attached);
	object_time(&o, "started_at", (inis_ms)p->started_wall_ms);
	if (p->argc > 0)
		object_take(&o, "command", encode_argv(p->argv, p->argc));
	return object_done(&o);
}

static void on_each(void *ctx, const struct agent_result *r)
{
	struct listing *l = ctx;

	if (json_array_append_new(l->list, pty_json(&r->pty)) < 0)
		l->failed = true;
}

static void on_listed(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	struct listing *l = ctx;
	struct object o;

	(void)r;
	if (err) {
		op_fail(&l->op, err);
		return;
	}
	o = object_new();
	object_take(&o, "ptys", json_incref(l->list));
	o.failed |= l->failed;
	op_json(&l->op, 200, object_done(&o));
}

static void free_listing(struct op *op)
{
	json_decref(((struct listing *)op)->list);
}

static void go_list(struct op *op)
{
	static const struct agent_handler handler = {.info = on_each, .done = on_listed};
	struct inis_error err = INIS_ERROR_INIT;

	((struct listing *)op)->list = json_array();
	op_call(op, agent_pty_list(op_agent(op), &handler, op, &err), &err);
}

void ptys_get(struct http_request *rq)
{
	struct listing *l = op_new(rq, sizeof(*l), NULL, go_list);

	if (!l)
		return;
	l->op.cleanup = free_listing;
	op_begin(&l->op);
}

static void fail_kill(struct op *op, const struct inis_error *err)
{
	struct inis_error mine = *err;

	if (err->code == INIS_NOT_FOUND)
		inis_fail(&mine, INIS_NOT_FOUND, "terminal \"%.200s\" not found", http_param(op->rq, "name"));
	op_fail(op, &mine);
}

static void on_killed(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	(void)r;
	if (err)
		fail_kill(ctx, err);
	else
		op_empty(ctx);
}

static void go_kill(struct op *op)
{
	static const struct agent_handler handler = {.done = on_killed};
	static const struct inis_error none = {.code = INIS_NOT_FOUND};
	const char *name = http_param(op->rq, "name");
	struct inis_error err = INIS_ERROR_INIT;
	int64_t grace = INIS_TERM_GRACE_MS;

	if (!proc_name_valid(name))
		fail_kill(op, &none);
	else if (query_int(op->rq, "grace_ms", 0, GRACE_MAX_MS, &grace, &err) < 0)
		op_fail(op, &err);
	else
		op_call(op, agent_pty_kill(op_agent(op), name, (uint32_t)grace, &handler, op, &err), &err);
}

void pty_remove(struct http_request *rq)
{
	struct op *op = op_new(rq, sizeof(*op), NULL, go_kill);

	if (op)
		op_begin(op);
}
