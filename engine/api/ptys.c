/* SPDX-License-Identifier: Apache-2.0
 *
 * ptys.c - /v1/sessions/{id}/ptys: the terminals that have a name. pty.c attaches to them.
 */
#include "api/encode.h"
#include "api/fields.h"
#include "api/handlers.h"
#include "api/listing.h"
#include "api/object.h"
#include "api/op.h"

#define GRACE_MAX_MS 60000

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

static json_t *item(const struct agent_result *r)
{
	return pty_json(&r->pty);
}

void ptys_get(struct http_request *rq)
{
	struct listing *l = listing_new(rq);

	if (!l)
		return;
	l->member = "ptys";
	l->item = item;
	l->ask = agent_pty_list;
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
