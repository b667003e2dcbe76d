/* SPDX-License-Identifier: Apache-2.0
 *
 * process_logs.c - output of a process: read at once, or followed as server-sent events.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/fields.h"
#include "api/handlers.h"
#include "api/process_json.h"
#include "api/process_logs.h"
#include "api/sse_error.h"

static void free_logs(struct op *op)
{
	struct logs *l = (struct logs *)op;

	inis_buf_free(&l->text[AGENT_OUT]);
	inis_buf_free(&l->text[AGENT_ERR]);
	ended_logs_free(l);
}

/* ---- read ---- */

static void on_read_info(void *ctx, const struct agent_result *r)
{
	struct logs *l = ctx;

	memcpy(l->first, r->first, sizeof(l->first));
	l->truncated = r->truncated;
}

void logs_take(struct logs *l, enum agent_stream stream, const uint8_t *data, size_t n)
{
	struct inis_buf *b = &l->text[stream];
	size_t room = ENCODE_CAP - b->len;

	inis_buf_append(b, data, n < room ? n : room);
}

static void on_read_data(void *ctx, enum agent_stream stream, uint64_t offset, const uint8_t *data, size_t n)
{
	(void)offset;
	logs_take(ctx, stream, data, n);
}

static void put_log(struct object *o, struct logs *l, enum agent_stream stream)
{
	static const char *const names[][3] = {[AGENT_OUT] = {"stdout", "stdout_encoding", "stdout_offset"},
					       [AGENT_ERR] = {"stderr", "stderr_encoding", "stderr_offset"}};
	struct inis_buf *b = &l->text[stream];
	/* A cut that the client did not choose may have split a character. */
	size_t skip = l->first[stream] > (uint64_t)l->from[stream] ? encode_trim_front(b->data, b->len) : 0;

	encode_stream(o, names[stream][0], names[stream][1], b->data + skip, b->len - skip);
	object_int(o, names[stream][2], (int64_t)(l->first[stream] + skip));
	o->failed |= inis_buf_failed(b);
}

void logs_answer(struct logs *l)
{
	struct object o = object_new();

	object_text(&o, "name", http_param(l->op.rq, "name"));
	put_log(&o, l, AGENT_OUT);
	put_log(&o, l, AGENT_ERR);
	object_flag(&o, "truncated", l->truncated);
	op_json(&l->op, 200, object_done(&o));
}

static void on_read_done(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	struct logs *l = ctx;

	if (err) {
		process_fail(&l->op, err);
		return;
	}
	l->truncated |= (r->end_flags & INIS_END_TRUNCATED) != 0;
	logs_answer(l);
}

/* ---- follow ---- */

static void on_drain(struct http_request *rq, void *ctx)
{
	struct logs *l = ctx;

	(void)rq;
	agent_call_unhold(l->op.call);
}

static void on_closed(struct op *op)
{
	struct logs *l = (struct logs *)op;

	if (op->call)
		agent_call_release(op->call);
	if (!l->streaming) {
		op_leave(op);
		return;
	}
	http_sse_end(op->rq);
	op_end(op);
}

static void on_follow_info(void *ctx, const struct agent_result *r)
{
	struct logs *l = ctx;

	memcpy(l->at, r->first, sizeof(l->at));
	l->streaming = true;
	http_sse_begin(l->op.rq, on_drain);
}

bool logs_send(struct logs *l, enum agent_stream stream, uint64_t offset, const uint8_t *data, size_t n)
{
	const char *event = stream == AGENT_OUT ? "stdout" : "stderr";
	char id[48];

	l->at[stream] = offset + n;
	snprintf(id, sizeof(id), "%" PRIu64 ",%" PRIu64, l->at[AGENT_OUT], l->at[AGENT_ERR]);
	return http_sse_send_base64(l->op.rq, event, l->positions ? id : NULL, data, n);
}

static void on_follow_data(void *ctx, enum agent_stream stream, uint64_t offset, const uint8_t *data, size_t n)
{
	struct logs *l = ctx;
	struct agent_call *call = l->op.call;

	if (!logs_send(l, stream, offset, data, n))
		agent_call_hold(call);
}

void logs_eof(struct logs *l)
{
	if (!l->streaming)
		http_sse_begin(l->op.rq, NULL);
	http_sse_send(l->op.rq, "eof", NULL, "", 0);
	http_sse_end(l->op.rq);
	op_end(&l->op);
}

static void on_follow_done(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	struct logs *l = ctx;

	(void)r;
	if (!l->streaming && err) {
		process_fail(&l->op, err);
		return;
	}
	if (err) {
		sse_error(l->op.rq, err);
		op_end(&l->op);
	} else {
		logs_eof(l);
	}
}

/* ---- both ---- */

static void go(struct op *op)
{
	static const struct agent_handler read = {.info = on_read_info, .data = on_read_data, .done = on_read_done};
	static const struct agent_handler follow = {
		.info = on_follow_info, .data = on_follow_data, .done = on_follow_done};
	struct logs *l = (struct logs *)op;
	struct inis_error err = INIS_ERROR_INIT;
	const char *name = http_param(op->rq, "name");
	struct inis_logs m = {.name = {name, strlen(name)},
			      .follow = l->follow,
			      .out_from = (uint64_t)l->from[AGENT_OUT],
			      .err_from = (uint64_t)l->from[AGENT_ERR],
			      .tail_max = l->follow ? 0 : ENCODE_CAP};

	if (process_name_ok(op))
		op_call(op, agent_proc_logs(op_agent(op), &m, l->follow ? &follow : &read, l, &err), &err);
}

static int read_query(struct logs *l, struct inis_error *err)
{
	const struct http_request *rq = l->op.rq;
	int64_t positions = 0;
	bool ended = false;

	if (query_bool(rq, "ended", &ended, err) < 0 || query_bool(rq, "follow", &l->follow, err) < 0 ||
	    query_int(rq, "from", 0, FIELD_INT_MAX, &l->from[AGENT_OUT], err) < 0 ||
	    query_int(rq, "from_stderr", 0, FIELD_INT_MAX, &l->from[AGENT_ERR], err) < 0 ||
	    query_int(rq, "positions", 0, 1, &positions, err) < 0)
		return -1;
	l->positions = positions;
	if (ended)
		l->op.ended = ended_logs;
	return 0;
}

void process_logs_get(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct logs *l = op_new(rq, sizeof(*l), NULL, go);

	if (!l)
		return;
	l->op.cleanup = free_logs;
	l->op.closed = on_closed;
	if (read_query(l, &err) < 0)
		op_fail(&l->op, &err);
	else
		op_begin(&l->op);
}
