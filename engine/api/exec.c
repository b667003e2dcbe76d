/* SPDX-License-Identifier: Apache-2.0
 *
 * exec.c - POST /v1/sessions/{id}/exec, buffered; with stream=true handed to exec_stream.c.
 *
 * The command runs on when the client goes away: its result is then dropped.
 */
#include "api/encode.h"
#include "api/exec_run.h"
#include "api/fields.h"
#include "api/handlers.h"

static void on_output(struct exec_run *run, enum agent_stream stream, const uint8_t *data, size_t n)
{
	struct inis_buf *b = &run->out[stream];
	size_t room = ENCODE_CAP - b->len;

	inis_buf_append(b, data, n < room ? n : room);
}

static void put_output(struct object *o, struct exec_run *run, enum agent_stream stream, bool cut)
{
	static const char *const names[][2] = {
		[AGENT_OUT] = {"stdout", "stdout_encoding"}, [AGENT_ERR] = {"stderr", "stderr_encoding"}};
	struct inis_buf *b = &run->out[stream];

	if (cut)
		b->len = encode_trim_end(b->data, b->len);
	encode_stream(o, names[stream][0], names[stream][1], b->data, b->len);
	o->failed |= inis_buf_failed(b);
}

static void on_exited(struct exec_run *run, const struct inis_exited *e)
{
	bool out_cut = (e->flags & INIS_EXIT_OUT_CUT) || e->out_total > ENCODE_CAP;
	bool err_cut = (e->flags & INIS_EXIT_ERR_CUT) || e->err_total > ENCODE_CAP;
	struct object o = object_new();

	put_output(&o, run, AGENT_OUT, out_cut);
	put_output(&o, run, AGENT_ERR, err_cut);
	object_int(&o, "exit_code", e->exit_code);
	object_int(&o, "duration_ms", (int64_t)e->duration_ms);
	object_bool(&o, "timed_out", e->flags & INIS_EXIT_TIMED_OUT);
	object_flag(&o, "truncated", out_cut || err_cut);
	object_flag(&o, "oom", e->flags & INIS_EXIT_OOM);
	http_respond_json(run->op.rq, 200, object_done(&o));
}

static void on_failed(struct exec_run *run, const struct inis_error *err)
{
	http_respond_error(run->op.rq, err);
}

static void cleanup(struct exec_run *run)
{
	inis_buf_free(&run->out[AGENT_OUT]);
	inis_buf_free(&run->out[AGENT_ERR]);
}

const struct exec_sink EXEC_BUFFERED = {
	.flags = INIS_EXEC_DETACHED,
	.capture_max = ENCODE_CAP,
	.output = on_output,
	.exited = on_exited,
	.failed = on_failed,
	.cleanup = cleanup,
};

void exec_post(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	bool stream = false;

	if (query_bool(rq, "stream", &stream, &err) < 0)
		http_respond_error(rq, &err);
	else
		exec_run_begin(rq, stream ? &EXEC_STREAM : &EXEC_BUFFERED);
}
