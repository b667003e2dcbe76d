/* SPDX-License-Identifier: Apache-2.0
 *
 * loop.c - events, then a slice of work, then one flush of what is to be sent.
 */
#include "agent/agent.h"

#include <unistd.h>

#include "agent/link.h"

struct agent agent = {.events.epoll = -1, .spool = -1};
unsigned char agent_scratch[AGENT_SCRATCH];

static struct list work = LIST_INIT(work);

void agent_work_start(struct agent_work *w)
{
	if (list_empty(&w->node))
		list_append(&work, &w->node);
}

void agent_work_stop(struct agent_work *w)
{
	list_remove(&w->node);
}

static void run_slice(void)
{
	struct agent_work *w;

	if (list_empty(&work))
		return;
	w = container_of(work.next, struct agent_work, node);
	list_remove(&w->node);
	if (w->run(w))
		agent_work_start(w);
}

_Noreturn void agent_loop(void)
{
	for (;;) {
		/* The only failure is the kernel out of memory for a moment. */
		if (inis_events_step(&agent.events, list_empty(&work) ? -1 : 0, NULL) < 0)
			usleep(1000);
		run_slice();
		link_flush();
	}
}
