/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_stdin.c - POST /v1/sessions/{id}/execs/{exec_id}/stdin: the body goes to the stdin of a running exec.
 *
 * The call belongs to the exec; a request only borrows it, one at a time. A request whose client leaves in the middle
 * closes nothing: what came before stays written, and another request may go on.
 */
#include <stddef.h>

#include "api/exec_run.h"
#include "api/feed.h"
#include "api/fields.h"
#include "api/handlers.h"
#include "api/object.h"

struct input {
	struct feed feed;
	struct exec_feeder feeder;
	struct exec_run *run; /* NULL: not, or no longer, its feeder */
	bool eof;
};

static struct input *input_of(struct exec_feeder *f)
{
	return (struct input *)(void *)((char *)f - offsetof(struct input, feeder));
}

static const char *exec_id(const struct input *in)
{
	return http_param(in->feed.op.rq, "exec_id");
}

/* The run is free for another request. */
static void let_go(struct input *in)
{
	if (in->run)
		in->run->feeder = NULL;
	in->run = NULL;
}

static void refuse(struct input *in, const char *why)
{
	struct inis_error err = INIS_ERROR_INIT;

	inis_fail(&err, INIS_CONFLICT, "exec \"%.64s\" %s", exec_id(in), why);
	let_go(in);
	op_fail(&in->feed.op, &err);
}

static bool all_taken(const struct input *in)
{
	return agent_call_input_taken(in->feed.op.call) >= in->run->written;
}

static void answer(struct input *in)
{
	struct object o = object_new();

	object_text(&o, "exec_id", exec_id(in));
	object_int(&o, "bytes", (int64_t)in->feed.received);
	let_go(in);
	op_json(&in->feed.op, 200, object_done(&o));
}

static void on_input(struct exec_feeder *f)
{
	struct input *in = input_of(f);

	/* The agent closes the pipe behind the last byte too: that all was taken counts first. */
	if (in->feed.ended && all_taken(in))
		answer(in);
	else if (agent_call_input_closed(in->feed.op.call))
		refuse(in, "does not read its stdin any more");
	else if (!in->feed.ended)
		feed_room(&in->feed);
}

static void on_run_ended(struct exec_feeder *f, const struct inis_error *err)
{
	struct input *in = input_of(f);

	let_go(in);
	if (err)
		op_fail(&in->feed.op, err);
	else
		refuse(in, "has ended");
}

static void on_body(struct feed *f, const uint8_t *data, size_t n)
{
	(void)data;
	((struct input *)f)->run->written += n;
}

static void on_body_end(struct feed *f)
{
	struct input *in = (struct input *)f;

	if (in->eof) {
		in->run->stdin_open = false;
		agent_call_finish(f->op.call);
	}
	if (all_taken(in))
		answer(in);
}

static void on_closed(struct op *op)
{
	let_go((struct input *)op);
	op_leave(op);
}

static void go(struct op *op)
{
	struct input *in = (struct input *)op;
	struct exec_run *run = exec_run_find(op->session, exec_id(in));
	struct inis_error err = INIS_ERROR_INIT;

	if (!run) {
		inis_fail(&err, INIS_NOT_FOUND, "exec \"%.64s\" is not running", exec_id(in));
		op_fail(op, &err);
	} else if (!run->stdin_open) {
		refuse(in, "has no open stdin");
	} else if (run->feeder) {
		refuse(in, "is being written to by another request");
	} else {
		in->run = run;
		run->feeder = &in->feeder;
		op->call = run->op.call;
		/* Before it runs nothing is taken; the agent's first word about its input is the beginning. */
		if (run->running)
			on_input(&in->feeder);
	}
}

void exec_stdin_post(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct input *in = op_new(rq, sizeof(*in), NULL, go);

	if (!in)
		return;
	in->feeder = (struct exec_feeder){.input = on_input, .ended = on_run_ended};
	in->feed.on_data = on_body;
	in->feed.on_end = on_body_end;
	in->feed.op.closed = on_closed;
	if (query_bool(rq, "eof", &in->eof, &err) < 0)
		op_fail(&in->feed.op, &err);
	else
		op_begin(&in->feed.op);
}
