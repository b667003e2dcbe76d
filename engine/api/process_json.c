/* SPDX-License-Identifier: Apache-2.0
 *
 * process_json.c - the process object of the API.
 */
#include "api/process_json.h"

#include "api/encode.h"
#include "api/exec_json.h"
#include "api/object.h"

static void put_exit(struct object *o, const struct inis_proc_info *p)
{
	const struct inis_exited *e = &p->exit;

	object_int(o, "exit_code", e->exit_code);
	if (e->signal)
		object_int(o, "signal", e->signal);
	object_time(o, "ended_at", (inis_ms)(p->ended_wall_ms ? p->ended_wall_ms : p->started_wall_ms));
	object_flag(o, "timed_out", e->flags & INIS_EXIT_TIMED_OUT);
	exec_json_usage(o, e);
}

json_t *process_json(const struct inis_proc_info *p, bool with_killed)
{
	struct object o = object_new();

	object_take(&o, "name", json_stringn(p->name.s, p->name.len));
	object_text(&o, "state", p->running ? "running" : "exited");
	object_int(&o, "pid", p->pid);
	object_take(&o, "command", encode_argv(p->argv, p->argc));
	if (!p->running)
		put_exit(&o, p);
	object_bool(&o, "keep_alive", p->exit.flags & INIS_EXIT_KEEP_ALIVE);
	object_time(&o, "started_at", (inis_ms)p->started_wall_ms);
	object_flag(&o, "oom", p->exit.flags & INIS_EXIT_OOM);
	object_flag(&o, "has_stdin", p->running && (p->exit.flags & INIS_EXIT_STDIN_OPEN));
	if (with_killed)
		object_bool(&o, "killed", p->exit.flags & INIS_EXIT_KILLED_NOW);
	else
		object_flag(&o, "killed", p->exit.flags & INIS_EXIT_KILLED);
	return object_done(&o);
}

static void no_such_process(const struct op *op, struct inis_error *err)
{
	inis_fail(err, INIS_NOT_FOUND, "process \"%.200s\" not found", http_param(op->rq, "name"));
}

void process_fail(struct op *op, const struct inis_error *err)
{
	struct inis_error mine = *err;

	if (err->code == INIS_NOT_FOUND && op_agent(op))
		no_such_process(op, &mine);
	op_fail(op, &mine);
}

void process_missing(struct op *op)
{
	struct inis_error err = INIS_ERROR_INIT;

	no_such_process(op, &err);
	op_fail(op, &err);
}

bool process_name_ok(struct op *op)
{
	if (proc_name_valid(http_param(op->rq, "name")))
		return true;
	process_missing(op);
	return false;
}
