/* SPDX-License-Identifier: Apache-2.0
 *
 * agent_count.c - counts what is asked of the guests, and how it ends.
 */
#include "base/metrics.h"
#include "session/agent_private.h"

void call_count_begin(const struct agent_call *c)
{
	if (c->rule->request == INIS_F_EXEC)
		inis_count(&inis_metrics.execs_started);
}

static enum inis_exec_end exec_end(const struct agent_call *c, const struct agent_result *r)
{
	if (!r)
		return c->started ? EXEC_END_LOST : EXEC_END_NOT_STARTED;
	if (r->exited.flags & INIS_EXIT_TIMED_OUT)
		return EXEC_END_TIMED_OUT;
	if (r->exited.flags & INIS_EXIT_OOM)
		return EXEC_END_OOM;
	return r->exited.flags & INIS_EXIT_KILLED ? EXEC_END_CANCELLED : EXEC_END_EXITED;
}

void call_count_end(const struct agent_call *c, const struct agent_result *r)
{
	if (c->rule->request == INIS_F_EXEC)
		inis_count(&inis_metrics.execs_ended[exec_end(c, r)]);
	else if (c->rule->request == INIS_F_PROC_START && r)
		inis_count(&inis_metrics.processes_started);
}
