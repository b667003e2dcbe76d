/* SPDX-License-Identifier: Apache-2.0
 *
 * capture.c - one command in one session with its output kept in memory.
 */
#include "api/capture.h"

#include "api/exec_json.h"

static void finish(struct capture *c, const struct inis_exited *e, const struct inis_error *err)
{
	struct session *s = c->session;
	bool used = c->uses;

	audit_end(&c->audit, e, err);
	c->done(c, e, err);
	if (used)
		session_use_end(s);
	if (e)
		session_completed(s);
	session_unref(s);
}

static void on_output(void *ctx, enum agent_stream stream, uint64_t offset, const uint8_t *data, size_t n)
{
	struct capture *c = ctx;

	(void)offset;
	exec_json_keep(&c->out[stream], c->cap, data, n);
}

static void on_done(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	struct capture *c = ctx;

	session_touch(c->session);
	finish(c, r ? &r->exited : NULL, err);
}

static int run(struct capture *c, struct inis_error *err)
{
	static const struct agent_handler handler = {.data = on_output, .done = on_done};
	struct command command = {.argv = c->command->argv,
				  .argc = c->command->argc,
				  .cwd = c->command->cwd,
				  .call_env = c->command->call_env};
	struct inis_exec m = {.id = {c->id, CAPTURE_ID_LEN},
			      .flags = INIS_EXEC_DETACHED,
			      .capture_max = c->cap,
			      .timeout_ms = (uint32_t)c->timeout_ms};
	bool started = false;

	if (inis_random_text(c->id, CAPTURE_ID_LEN, err) == 0 &&
	    command_merge_env(&command, &c->session->spec, err) == 0) {
		command_put(&command, &m);
		started = agent_exec(c->session->agent, &m, &handler, c, err) != NULL;
	}
	command.argv = NULL; /* the caller's */
	command_free(&command);
	return started ? 0 : -1;
}

static void on_ready(struct session *s, void *ctx, const struct inis_error *unusable)
{
	struct inis_error err = unusable ? *unusable : (struct inis_error)INIS_ERROR_INIT;
	struct capture *c = ctx;

	if (!unusable && !s->agent)
		inis_fail(&err, INIS_SESSION_UNAVAILABLE, "the sandbox cannot be reached");
	if (err.code) {
		finish(c, NULL, &err);
		return;
	}
	c->uses = true;
	session_use_begin(s);
	audit_begin(&c->audit, c->rq, s, c->kind, NULL, c->command->argv, c->command->argc);
	if (run(c, &err) < 0)
		finish(c, NULL, &err);
}

void capture_start(struct capture *c)
{
	session_ref(c->session);
	session_wait_ready(c->session, SESSION_WAIT_MS, on_ready, c);
}

void capture_free(struct capture *c)
{
	inis_buf_free(&c->out[AGENT_OUT]);
	inis_buf_free(&c->out[AGENT_ERR]);
}
