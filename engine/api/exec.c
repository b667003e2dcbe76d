/* SPDX-License-Identifier: Apache-2.0
 *
 * exec.c - POST /v1/sessions/{id}/exec, buffered; with stream=true handed to exec_stream.c.
 *
 * The command runs on when the client goes away: its result is then dropped.
 */
#include "api/encode.h"
#include "api/exec_json.h"
#include "api/exec_run.h"
#include "api/fields.h"
#include "api/handlers.h"

static void on_output(struct exec_run *run, enum agent_stream stream, const uint8_t *data, size_t n)
{
	exec_json_keep(&run->out[stream], ENCODE_CAP, data, n);
}

static void on_exited(struct exec_run *run, const struct inis_exited *e)
{
	struct object o = object_new();

	exec_json_result(&o, run->out, ENCODE_CAP, e);
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
