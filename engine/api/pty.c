/* SPDX-License-Identifier: Apache-2.0
 *
 * pty.c - GET /v1/sessions/{id}/pty: a terminal over a WebSocket.
 *
 * The handshake is answered when the command runs, so that what cannot be started
 * is an ordinary error. The object lives as long as the agent's call: a client
 * that leaves hangs up, and what becomes of the session then is decided when the
 * hang-up has done its work: a pause must not stop it halfway. A terminal with a
 * name is only left: it goes on, and its next client is shown what there was.
 */
#include <arpa/inet.h>
#include <string.h>

#include "api/fields.h"
#include "api/handlers.h"
#include "api/pty.h"

#define PAYLOAD_MAX  ((size_t)1 << 20)
#define MESSAGE_MAX  (PAYLOAD_MAX + 64)
#define TERM_MAX     64
#define SIGNAL_MAX   63
#define ROWS_DEFAULT 24
#define COLS_DEFAULT 80
#define TERM_DEFAULT "xterm-256color"
#define COLORTERM    "truecolor"

/* ---- the end ---- */

/* Nothing will come from the agent any more. */
static void finish(struct pty *p, const struct inis_error *err)
{
	static const struct inis_error left = {.code = INIS_UNAVAILABLE, .message = "the client has left"};
	struct session *s = p->op.session;
	bool attached = p->attached, lost = p->lost;

	session_ref(s);
	session_touch(s);
	if (p->op.rq)
		op_fail(&p->op, err ? err : &left);
	else
		op_end(&p->op);
	if (attached)
		session_pty_detach(s, lost);
	session_unref(s);
}

/* Without a client. p is gone then if it has a name: the terminal is only left. */
static void hang_up(struct pty *p)
{
	if (!p->name) {
		agent_call_unhold(p->op.call);
		agent_call_cancel(p->op.call, INIS_TERM_GRACE_MS);
		return;
	}
	agent_call_release(p->op.call);
	p->op.call = NULL;
	finish(p, NULL);
}

/* ---- to the client ---- */

static void on_output(void *ctx, enum agent_stream stream, uint64_t offset, const uint8_t *data, size_t n)
{
	struct pty *p = ctx;

	(void)stream;
	if (!p->ws || pty_output(p, offset, data, n) == 0)
		return;
	pty_error(p, "the sandbox sent something that is not the output of a terminal", WS_INTERNAL);
	hang_up(p);
}

static void on_drain(void *ctx)
{
	struct pty *p = ctx;

	if (p->op.call)
		agent_call_unhold(p->op.call);
}

/* ---- from the client ---- */

static void on_malformed(struct pty *p, const char *text)
{
	pty_error(p, text, WS_PROTOCOL_ERROR);
	hang_up(p);
}

static void on_input(struct pty *p, const uint8_t *data, size_t n)
{
	if (n > PAYLOAD_MAX)
		on_malformed(p, "DATA: more than 1 MiB");
	else if (n > 0 && !agent_call_write(p->op.call, data, n))
		websocket_hold(p->ws);
}

static void on_resize(struct pty *p, const uint8_t *data, size_t n)
{
	uint16_t rows, cols;

	if (n != 4) {
		on_malformed(p, "RESIZE: must hold rows and columns, two bytes each");
		return;
	}
	rows = (uint16_t)(data[0] << 8 | data[1]);
	cols = (uint16_t)(data[2] << 8 | data[3]);
	/* What a client sends whose window is not shown. */
	if (rows > 0 && cols > 0)
		agent_call_resize(p->op.call, rows, cols);
}

static void on_signal(struct pty *p, const uint8_t *data, size_t n)
{
	if (n != 1 || data[0] == 0 || data[0] > SIGNAL_MAX)
		on_malformed(p, "SIGNAL: must be the number of a signal, one byte");
	else
		agent_call_signal(p->op.call, data[0]);
}

static void on_message(void *ctx, const uint8_t *data, size_t n)
{
	struct pty *p = ctx;

	if (n == 0)
		return;
	if (data[0] == PTY_DATA)
		on_input(p, data + 1, n - 1);
	else if (data[0] == PTY_RESIZE)
		on_resize(p, data + 1, n - 1);
	else if (data[0] == PTY_SIGNAL)
		on_signal(p, data + 1, n - 1);
}

static void on_input_room(void *ctx)
{
	struct pty *p = ctx;

	if (p->ws)
		websocket_unhold(p->ws);
}

static void on_closed(void *ctx, enum websocket_end how)
{
	struct pty *p = ctx;

	p->ws = NULL;
	p->op.rq = NULL;
	p->lost = how == WEBSOCKET_LEFT;
	if (p->name) {
		hang_up(p);
		return;
	}
	hang_up(p);
	/* The hang-up comes with the resume; by then it is too late to ask what is to become of the session. */
	if (p->lost && p->attached && session_frozen(p->op.session)) {
		p->attached = false;
		session_pty_detach(p->op.session, true);
	}
}

/* ---- start and end ---- */

static void on_started(void *ctx)
{
	static const struct websocket_events events = {.message = on_message, .drain = on_drain, .closed = on_closed};
	struct pty *p = ctx;

	p->ws = websocket_accept(p->op.rq, MESSAGE_MAX, &events, p);
	if (!p->ws) {
		hang_up(p);
		return;
	}
	p->attached = true;
	session_pty_attach(p->op.session);
}

static void tell_end(struct pty *p, const struct agent_result *r, const struct inis_error *err)
{
	uint32_t code;

	if (!r && p->name && err->code == INIS_CONFLICT) {
		pty_goodbye(p, WS_TAKEN_OVER, "taken over by another client");
		return;
	}
	if (!r) {
		pty_error(p, err->message, WS_INTERNAL);
		return;
	}
	code = htonl((uint32_t)r->exited.exit_code);
	pty_send(p, PTY_EXIT, &code, sizeof(code));
	pty_goodbye(p, WS_NORMAL, "");
}

static void on_done(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	struct pty *p = ctx;

	p->op.call = NULL;
	audit_end(&p->audit, r ? &r->exited : NULL, err);
	if (p->ws)
		tell_end(p, r, err);
	finish(p, err);
}

static int build_env(struct pty *p, const struct session_spec *spec, struct inis_error *err)
{
	if (!json_object_get(p->env, "TERM") && !json_object_get(spec->env, "TERM") &&
	    json_object_set_new(p->env, "TERM", json_string(TERM_DEFAULT)) < 0)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	if (!json_object_get(p->env, "COLORTERM") && !json_object_get(spec->env, "COLORTERM") &&
	    json_object_set_new(p->env, "COLORTERM", json_string(COLORTERM)) < 0)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	p->command.call_env = p->env;
	return command_merge_env(&p->command, spec, err);
}

static struct agent_call *call_agent(struct pty *p, const struct inis_pty *m, struct inis_error *err)
{
	static const struct agent_handler plain = {
		.started = on_started, .data = on_output, .input = on_input_room, .done = on_done};
	static const struct agent_handler named = {.started = on_started,
						   .info = pty_tape_begins,
						   .data = on_output,
						   .input = on_input_room,
						   .done = on_done};
	const struct inis_attach attach = {.name = {p->name, p->name ? strlen(p->name) : 0}, .pty = *m};

	return p->name ? agent_pty_attach(op_agent(&p->op), &attach, &named, p, err)
		       : agent_pty(op_agent(&p->op), m, &plain, p, err);
}

static void go(struct op *op)
{
	struct pty *p = (struct pty *)op;
	struct inis_error err = INIS_ERROR_INIT;
	struct inis_pty m = {.rows = (uint16_t)p->rows, .cols = (uint16_t)p->cols};

	if (inis_random_text(p->id, PTY_OWN_ID_LEN, &err) < 0 || build_env(p, &op->session->spec, &err) < 0) {
		op_fail(op, &err);
		return;
	}
	command_put(&p->command, &m.exec);
	m.exec.argv = p->argv;
	m.exec.id = (struct inis_str){p->id, PTY_OWN_ID_LEN};
	audit_begin(&p->audit, op->rq, op->session, AUDIT_PTY, p->name, p->argv, p->command.argc);
	op_call(op, call_agent(p, &m, &err), &err);
}

static void cleanup(struct op *op)
{
	struct pty *p = (struct pty *)op;

	audit_end(&p->audit, NULL, NULL);
	command_free(&p->command);
	json_decref(p->env);
}

static int read_command(struct pty *p, struct inis_error *err)
{
	const char *values[PTY_ARGS_MAX];
	int count = http_query_all(p->op.rq, "cmd", values, PTY_ARGS_MAX);

	for (int i = 0; i < count; i++)
		p->argv[i] = (struct inis_str){values[i], strlen(values[i])};
	if (count > 0 && p->argv[0].len == 0)
		return inis_fail_field(err, "cmd", "must begin with the name of a program");
	p->command.argc = (uint32_t)count;
	p->command.cwd = http_query(p->op.rq, "cwd");
	if (p->command.cwd && (p->command.cwd[0] == '\0' || strlen(p->command.cwd) > FIELD_PATH_MAX))
		return inis_fail_field(err, "cwd", "must be 1 to %d bytes long", FIELD_PATH_MAX);
	return 0;
}

static int read_variable(struct pty *p, const char *field, const char *name, struct inis_error *err)
{
	const char *value = http_query(p->op.rq, field);

	if (!value)
		return 0;
	if (strlen(value) > TERM_MAX || !text_printable(value))
		return inis_fail_field(err, field, "must be at most %d characters, none of them a control character",
				       TERM_MAX);
	if (json_object_set_new(p->env, name, json_string(value)) < 0)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	return 0;
}

static int read_name(struct pty *p, struct inis_error *err)
{
	p->name = http_query(p->op.rq, "name");
	if (p->name && !proc_name_valid(p->name))
		return inis_fail_field(err, "name", "must be 1 to 64 of A-Z a-z 0-9 . _ -");
	return 0;
}

static int read_query(struct pty *p, struct inis_error *err)
{
	p->env = json_object();
	if (read_name(p, err) < 0)
		return -1;
	/* A terminal that runs keeps its size unless another one is asked for. */
	if (!p->name || http_query(p->op.rq, "rows") || http_query(p->op.rq, "cols")) {
		p->rows = ROWS_DEFAULT;
		p->cols = COLS_DEFAULT;
	}
	if (query_int(p->op.rq, "rows", 1, UINT16_MAX, &p->rows, err) < 0 ||
	    query_int(p->op.rq, "cols", 1, UINT16_MAX, &p->cols, err) < 0 ||
	    read_variable(p, "term", "TERM", err) < 0 || read_variable(p, "colorterm", "COLORTERM", err) < 0)
		return -1;
	return read_command(p, err);
}

void pty_get(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct pty *p = op_new(rq, sizeof(*p), NULL, go);

	if (!p)
		return;
	p->op.cleanup = cleanup;
	if (read_query(p, &err) < 0)
		op_fail(&p->op, &err);
	else
		op_begin(&p->op);
}
