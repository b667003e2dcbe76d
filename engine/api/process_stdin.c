/* SPDX-License-Identifier: Apache-2.0
 *
 * process_stdin.c - POST /v1/sessions/{id}/processes/{name}/stdin: the body goes to a running process.
 *
 * Answered when the agent has taken every byte, with eof=true when it has closed the pipe.
 */
#include "api/feed.h"
#include "api/fields.h"
#include "api/handlers.h"
#include "api/object.h"
#include "api/process_json.h"

struct input {
	struct feed feed;
	bool eof;
};

static void answer(struct input *in)
{
	struct object o = object_new();

	object_text(&o, "name", http_param(in->feed.op.rq, "name"));
	object_int(&o, "bytes", (int64_t)in->feed.received);
	op_json(&in->feed.op, 200, object_done(&o));
}

static void finish_if_taken(struct input *in)
{
	struct agent_call *call = in->feed.op.call;

	if (in->eof || !in->feed.ended || agent_call_input_taken(call) < in->feed.received)
		return;
	agent_call_release(call);
	answer(in);
}

static void on_body_end(struct feed *f)
{
	struct input *in = (struct input *)f;

	if (in->eof)
		agent_call_finish(f->op.call);
	finish_if_taken(in);
}

static void reader_gone(struct input *in)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct op *op = &in->feed.op;

	inis_fail(&err, INIS_CONFLICT, "process \"%.200s\" does not read its stdin any more",
		  http_param(op->rq, "name"));
	agent_call_release(op->call);
	op_fail(op, &err);
}

static void on_input(void *ctx)
{
	struct input *in = ctx;
	struct agent_call *call = in->feed.op.call;

	if (agent_call_input_closed(call)) {
		reader_gone(in);
		return;
	}
	if (in->feed.ended)
		finish_if_taken(in);
	else
		feed_room(&in->feed);
}

static void on_done(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	struct input *in = ctx;

	(void)r;
	if (err)
		process_fail(&in->feed.op, err);
	else
		answer(in);
}

static void go(struct op *op)
{
	static const struct agent_handler handler = {.input = on_input, .done = on_done};
	struct inis_error err = INIS_ERROR_INIT;

	if (process_name_ok(op))
		op_call(op, agent_proc_stdin(op_agent(op), http_param(op->rq, "name"), &handler, op, &err), &err);
}

void process_stdin_post(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct input *in = op_new(rq, sizeof(*in), NULL, go);

	if (!in)
		return;
	in->feed.on_end = on_body_end;
	in->feed.op.closed = feed_closed;
	if (query_bool(rq, "eof", &in->eof, &err) < 0)
		op_fail(&in->feed.op, &err);
	else
		op_begin(&in->feed.op);
}
