/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_run.c - one exec from its request to its end.
 */
#include "api/exec_run.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "api/fields.h"

#define INPUT_MAX  ((size_t)4 * 1024 * 1024)
#define OWN_ID_LEN 24 /* longer than chance can repeat */

static struct exec_run *run_of_entry(struct session_exec *e)
{
	return (struct exec_run *)(void *)((char *)e - offsetof(struct exec_run, entry));
}

struct exec_run *exec_run_find(struct session *s, const char *id)
{
	struct session_exec *e;

	LIST_FOREACH (e, &s->execs, link) {
		if (strcmp(e->id, id) == 0)
			return run_of_entry(e);
	}
	return NULL;
}

/* ---- end ---- */

static void tell_watches(struct exec_run *run, bool killed, const struct inis_error *err)
{
	struct exec_watch *w;

	while ((w = LIST_FIRST(&run->watches))) {
		LIST_REMOVE(w, link);
		w->ended(w->ctx, killed, err);
		free(w);
	}
}

static void on_done(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	struct exec_run *run = ctx;
	struct session *s = run->op.session;

	run->op.call = NULL;
	LIST_REMOVE(&run->entry, link);
	session_touch(s);
	audit_end(&run->audit, r ? &r->exited : NULL, err);
	if (run->feeder)
		run->feeder->ended(run->feeder, err);
	if (r)
		run->sink->exited(run, &r->exited);
	else
		run->sink->failed(run, err);
	tell_watches(run, r && (r->exited.flags & INIS_EXIT_KILLED), err);
	if (r)
		session_completed(s);
	op_end(&run->op);
}

static void cleanup(struct op *op)
{
	struct exec_run *run = (struct exec_run *)op;

	if (run->sink->cleanup)
		run->sink->cleanup(run);
	command_free(&run->command);
	inis_buf_free(&run->input);
}

/* ---- start ---- */

static void on_started(void *ctx)
{
	struct exec_run *run = ctx;

	if (run->has_input) {
		if (run->input.len)
			agent_call_write(run->op.call, run->input.data, run->input.len);
		run->written = run->input.len;
		if (!run->stdin_open)
			agent_call_finish(run->op.call);
		inis_buf_free(&run->input);
	}
	run->running = true;
	if (run->feeder)
		run->feeder->input(run->feeder);
	if (run->sink->started)
		run->sink->started(run);
}

static void on_input(void *ctx)
{
	struct exec_run *run = ctx;

	if (run->feeder)
		run->feeder->input(run->feeder);
}

static void on_data(void *ctx, enum agent_stream stream, uint64_t offset, const uint8_t *data, size_t n)
{
	struct exec_run *run = ctx;

	(void)offset;
	run->sink->output(run, stream, data, n);
}

static int choose_id(struct exec_run *run, struct inis_error *err)
{
	if (run->entry.id[0] == '\0')
		return inis_random_text(run->entry.id, OWN_ID_LEN, err);
	if (exec_run_find(run->op.session, run->entry.id))
		return inis_fail(err, INIS_CONFLICT, "an exec with the id \"%s\" is running", run->entry.id);
	return 0;
}

static void go(struct op *op)
{
	static const struct agent_handler handler = {
		.started = on_started, .data = on_data, .input = on_input, .done = on_done};
	struct exec_run *run = (struct exec_run *)op;
	struct inis_error err = INIS_ERROR_INIT;
	struct inis_exec m = {.flags = run->sink->flags,
			      .capture_max = run->sink->capture_max,
			      .timeout_ms = (uint32_t)run->timeout_ms,
			      .stdin_mode = run->has_input ? INIS_STDIN_PIPE : INIS_STDIN_NULL};

	if (choose_id(run, &err) < 0 || command_merge_env(&run->command, &op->session->spec, &err) < 0) {
		op_fail(op, &err);
		return;
	}
	m.id = (struct inis_str){run->entry.id, strlen(run->entry.id)};
	command_put(&run->command, &m);
	audit_begin(&run->audit, op->rq, op->session, AUDIT_EXEC, NULL, run->command.argv, run->command.argc);
	op->call = agent_exec(op_agent(op), &m, &handler, run, &err);
	command_free(&run->command);
	if (!op->call) {
		audit_end(&run->audit, NULL, &err);
		op_fail(op, &err);
		return;
	}
	LIST_INSERT_HEAD(&op->session->execs, &run->entry, link);
}

static int read_fields(struct exec_run *run, const json_t *body, struct inis_error *err)
{
	const json_t *input = json_object_get(body, "stdin");
	const char *id = NULL;

	if (command_read(&run->command, body, err) < 0 || command_timeout(body, &run->timeout_ms, err) < 0 ||
	    field_content(body, "stdin", "stdin_encoding", INPUT_MAX, &run->input, err) < 0 ||
	    field_bool(body, "stdin_open", &run->stdin_open, err) < 0 ||
	    field_text(body, "exec_id", 1, INIS_PROC_NAME_MAX, &id, err) < 0)
		return -1;
	if (run->stdin_open && !id)
		return inis_fail_field(err, "exec_id", "is needed with stdin_open");
	if (id && !proc_name_valid(id))
		return inis_fail_field(err, "exec_id", "must be 1 to 64 of A-Z a-z 0-9 . _ -");
	if (id)
		memcpy(run->entry.id, id, strlen(id) + 1);
	run->has_input = run->stdin_open || (input && !json_is_null(input));
	return 0;
}

void exec_run_begin(struct http_request *rq, const struct exec_sink *sink)
{
	struct inis_error err = INIS_ERROR_INIT;
	json_t *body = op_body(rq);
	struct exec_run *run = body ? op_new(rq, sizeof(*run), body, go) : NULL;

	if (!run)
		return;
	run->sink = sink;
	run->op.cleanup = cleanup;
	run->op.closed = sink->closed;
	LIST_INIT(&run->watches);
	if (read_fields(run, body, &err) < 0)
		op_fail(&run->op, &err);
	else
		op_begin(&run->op);
}

int exec_run_cancel(struct exec_run *run, exec_ended ended, void *ctx, struct inis_error *err)
{
	struct exec_watch *w = malloc(sizeof(*w));

	if (!w)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	*w = (struct exec_watch){.ended = ended, .ctx = ctx};
	LIST_INSERT_HEAD(&run->watches, w, link);
	agent_call_cancel(run->op.call, INIS_TERM_GRACE_MS);
	return 0;
}
