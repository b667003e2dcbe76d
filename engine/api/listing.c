/* SPDX-License-Identifier: Apache-2.0
 *
 * listing.c - what a session's agent lists, as one JSON array.
 */
#include "api/listing.h"

#include "api/object.h"

/*
 * An agent remembers fewer processes and terminals, and shows less of their commands. One that was taken over may list
 * without end.
 */
#define ITEMS_MAX 4096
#define COST_MAX  ((size_t)128 * 1024 * 1024)
#define ITEM_COST 1024
#define WORD_COST 64

static size_t cost_of(const struct agent_result *r)
{
	size_t cost = ITEM_COST;

	for (uint32_t i = 0; i < r->proc.argc; i++)
		cost += WORD_COST + r->proc.argv[i].len;
	for (uint32_t i = 0; i < r->pty.argc; i++)
		cost += WORD_COST + r->pty.argv[i].len;
	return cost;
}

static void give_up(struct listing *l)
{
	struct inis_error err = INIS_ERROR_INIT;

	inis_fail(&err, INIS_UNAVAILABLE, "the answer of the sandbox is too long");
	agent_call_release(l->op.call);
	op_fail(&l->op, &err);
}

static void on_each(void *ctx, const struct agent_result *r)
{
	struct listing *l = ctx;

	l->cost += cost_of(r);
	if (json_array_size(l->list) >= ITEMS_MAX || l->cost > COST_MAX)
		give_up(l);
	else if (json_array_append_new(l->list, l->item(r)) < 0)
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
	object_take(&o, l->member, json_incref(l->list));
	o.failed |= l->failed;
	op_json(&l->op, 200, object_done(&o));
}

static void cleanup(struct op *op)
{
	json_decref(((struct listing *)op)->list);
}

static void go(struct op *op)
{
	static const struct agent_handler handler = {.info = on_each, .done = on_listed};
	struct listing *l = (struct listing *)op;
	struct inis_error err = INIS_ERROR_INIT;

	l->list = json_array();
	op_call(op, l->ask(op_agent(op), &handler, op, &err), &err);
}

struct listing *listing_new(struct http_request *rq)
{
	struct listing *l = op_new(rq, sizeof(*l), NULL, go);

	if (l)
		l->op.cleanup = cleanup;
	return l;
}
