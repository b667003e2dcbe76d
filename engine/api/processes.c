/* SPDX-License-Identifier: Apache-2.0
 *
 * processes.c - named background processes: start, list, read, end.
 */
#include <string.h>

#include "api/audit.h"
#include "api/command.h"
#include "api/ended.h"
#include "api/fields.h"
#include "api/handlers.h"
#include "api/listing.h"
#include "api/object.h"
#include "api/process_json.h"

#define TIMEOUT_MAX_MS (365LL * 24 * 3600 * 1000)
#define GRACE_MAX_MS   60000

/* The wire counts to 2^32 ms; longer is as good as for ever. */
#define TIMEOUT_WIRE_MAX_MS 0xffffffffLL

static void on_process(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	struct op *op = ctx;

	if (err)
		process_fail(op, err);
	else
		op_json(op, 200, process_json(&r->proc, false));
}

static const struct agent_handler ONE = {.done = on_process};

/* ---- start ---- */

struct start {
	struct op op;
	struct command command;
	struct audit audit;
	const char *name;
	int64_t timeout_ms;
	bool keep_alive;
	bool input;
};

static void on_started(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	struct op *op = ctx;

	audit_end(&((struct start *)op)->audit, NULL, err);
	if (err)
		op_fail(op, err);
	else
		op_json(op, 200, process_json(&r->proc, false));
}

static void free_start(struct op *op)
{
	audit_end(&((struct start *)op)->audit, NULL, NULL);
	command_free(&((struct start *)op)->command);
}

static void go_start(struct op *op)
{
	static const struct agent_handler handler = {.done = on_started};
	struct start *st = (struct start *)op;
	struct inis_error err = INIS_ERROR_INIT;
	struct inis_exec m = {.id = {st->name, strlen(st->name)},
			      .flags = st->keep_alive ? INIS_EXEC_KEEP_ALIVE : 0,
			      .timeout_ms = (uint32_t)st->timeout_ms,
			      .stdin_mode = st->input ? INIS_STDIN_PIPE : INIS_STDIN_NULL};

	if (command_merge_env(&st->command, &op->session->spec, &err) < 0) {
		op_fail(op, &err);
		return;
	}
	command_put(&st->command, &m);
	audit_begin(&st->audit, op->rq, op->session, AUDIT_PROCESS, st->name, st->command.argv, st->command.argc);
	op_call(op, agent_proc_start(op_agent(op), &m, &handler, op, &err), &err);
}

static int read_start(struct start *st, const json_t *body, struct inis_error *err)
{
	if (field_required(body, "name", err) < 0 ||
	    field_text(body, "name", 1, INIS_PROC_NAME_MAX, &st->name, err) < 0 ||
	    command_read(&st->command, body, err) < 0 || field_bool(body, "keep_alive", &st->keep_alive, err) < 0 ||
	    field_bool(body, "stdin", &st->input, err) < 0 ||
	    field_int(body, "timeout_ms", 0, FIELD_INT_MAX, &st->timeout_ms, err) < 0)
		return -1;
	if (!proc_name_valid(st->name))
		return inis_fail_field(err, "name", "must be 1 to 64 of A-Z a-z 0-9 . _ -");
	if (st->timeout_ms > TIMEOUT_MAX_MS)
		st->timeout_ms = TIMEOUT_MAX_MS;
	if (st->timeout_ms > TIMEOUT_WIRE_MAX_MS)
		st->timeout_ms = TIMEOUT_WIRE_MAX_MS;
	return 0;
}

void process_post(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	json_t *body = op_body(rq);
	struct start *st = body ? op_new(rq, sizeof(*st), body, go_start) : NULL;

	if (!st)
		return;
	st->op.cleanup = free_start;
	if (read_start(st, body, &err) < 0)
		op_fail(&st->op, &err);
	else
		op_begin(&st->op);
}

/* ---- list ---- */

static json_t *item(const struct agent_result *r)
{
	return process_json(&r->proc, false);
}

void processes_get(struct http_request *rq)
{
	struct listing *l = listing_new(rq);

	if (!l)
		return;
	l->member = "processes";
	l->item = item;
	l->ask = agent_proc_list;
	ended_begin(&l->op, ended_list);
}

/* ---- one ---- */

static void go_get(struct op *op)
{
	struct inis_error err = INIS_ERROR_INIT;

	if (process_name_ok(op))
		op_call(op, agent_proc_get(op_agent(op), http_param(op->rq, "name"), &ONE, op, &err), &err);
}

void process_get(struct http_request *rq)
{
	struct op *op = op_new(rq, sizeof(*op), NULL, go_get);

	if (op)
		ended_begin(op, ended_get);
}

static void on_killed(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	struct op *op = ctx;

	if (err)
		process_fail(op, err);
	else
		op_json(op, 200, process_json(&r->proc, true));
}

static void go_kill(struct op *op)
{
	static const struct agent_handler handler = {.done = on_killed};
	struct inis_error err = INIS_ERROR_INIT;
	int64_t grace = INIS_KILL_GRACE_MS;

	if (!process_name_ok(op))
		return;
	if (query_int(op->rq, "grace_ms", 0, GRACE_MAX_MS, &grace, &err) < 0) {
		op_fail(op, &err);
		return;
	}
	op_call(op, agent_proc_kill(op_agent(op), http_param(op->rq, "name"), (uint32_t)grace, &handler, op, &err),
		&err);
}

void process_remove(struct http_request *rq)
{
	struct op *op = op_new(rq, sizeof(*op), NULL, go_kill);

	if (op)
		op_begin(op);
}
