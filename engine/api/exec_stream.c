/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_stream.c - exec as server-sent events.
 *
 * The head goes out when the command has started, so that what cannot be started
 * is an ordinary error. A client that leaves ends the command. The stream never
 * ends without `exit` or `error`, unless the connection itself breaks.
 */
#include <string.h>

#include "api/exec_json.h"
#include "api/exec_run.h"
#include "api/sse_error.h"

static void on_drain(struct http_request *rq, void *ctx)
{
	struct exec_run *run = ctx;

	(void)rq;
	if (run->op.call)
		agent_call_unhold(run->op.call);
}

static void on_closed(struct op *op)
{
	agent_call_unhold(op->call);
	agent_call_cancel(op->call, INIS_TERM_GRACE_MS);
}

static void on_started(struct exec_run *run)
{
	run->streaming = true;
	http_sse_begin(run->op.rq, on_drain);
}

static void on_output(struct exec_run *run, enum agent_stream stream, const uint8_t *data, size_t n)
{
	const char *event = stream == AGENT_OUT ? "stdout" : "stderr";

	if (run->op.gone)
		return;
	if (!http_sse_send_base64(run->op.rq, event, NULL, data, n))
		agent_call_hold(run->op.call);
}

static json_t *exit_json(const struct inis_exited *e)
{
	struct object o = object_new();

	exec_json_exit(&o, e);
	return object_done(&o);
}

static void on_failed(struct exec_run *run, const struct inis_error *err)
{
	if (!run->streaming) {
		http_respond_error(run->op.rq, err);
		return;
	}
	sse_error(run->op.rq, err);
}

static void on_exited(struct exec_run *run, const struct inis_exited *e)
{
	static const struct inis_error no_memory = {.code = INIS_UNAVAILABLE, .message = "out of memory"};
	json_t *json = exit_json(e);
	char text[512];
	size_t n = json ? json_dumpb(json, text, sizeof(text), JSON_COMPACT) : 0;

	json_decref(json);
	if (!run->streaming)
		on_started(run);
	if (n == 0 || n > sizeof(text)) {
		sse_error(run->op.rq, &no_memory);
		return;
	}
	http_sse_send(run->op.rq, "exit", NULL, text, n);
	http_sse_end(run->op.rq);
}

const struct exec_sink EXEC_STREAM = {
	.started = on_started,
	.closed = on_closed,
	.output = on_output,
	.exited = on_exited,
	.failed = on_failed,
};
