/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_cancel.c - DELETE /v1/sessions/{id}/execs/{exec_id}: answers when the exec has ended.
 */
#include "api/exec_run.h"
#include "api/fields.h"
#include "api/handlers.h"
#include "api/object.h"

static void on_ended(void *ctx, bool killed, const struct inis_error *err)
{
	struct op *op = ctx;
	struct object o;

	if (err) {
		op_fail(op, err);
		return;
	}
	o = object_new();
	object_text(&o, "exec_id", http_param(op->rq, "exec_id"));
	object_bool(&o, "killed", killed);
	op_json(op, 200, object_done(&o));
}

static void go(struct op *op)
{
	struct inis_error err = INIS_ERROR_INIT;
	const char *id = http_param(op->rq, "exec_id");
	struct exec_run *run = exec_run_find(op->session, id);

	if (!run)
		inis_fail(&err, INIS_NOT_FOUND, "exec \"%.64s\" is not running", id);
	if (!run || exec_run_cancel(run, on_ended, op, &err) < 0)
		op_fail(op, &err);
}

void exec_remove(struct http_request *rq)
{
	struct op *op = op_new(rq, sizeof(*op), NULL, go);

	if (op)
		op_begin(op);
}
