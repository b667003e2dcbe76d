/* SPDX-License-Identifier: Apache-2.0
 *
 * agent.h - what the parts of the agent share: one process, one loop, one unit.
 */
#ifndef INIS_AGENT_AGENT_H
#define INIS_AGENT_AGENT_H

#include <stdbool.h>
#include <sys/resource.h>

#include "agent/list.h"
#include "os/events.h"

#define AGENT_WORKSPACE "/workspace"

/* Limits of one session. */
#define AGENT_EXECS_RUNNING_MAX 256
#define AGENT_EXECS_KNOWN_MAX   1024 /* with those that ended and wait for RELEASE */
#define AGENT_PROCS_RUNNING_MAX 64
#define AGENT_PROCS_EXITED_MAX  1000
#define AGENT_CHANNELS_MAX      4096

struct agent {
	struct inis_events events;
	struct rlimit nofile; /* what children get: what the agent was given, up to a bound of ours */
	bool filtered; /* it runs under the base filter, and so does what it starts */
	bool no_new_privs; /* of every command */
	int spool; /* the spool directory: wire/spool_proto.h */
};

extern struct agent agent;

/* For one read or copy within one call: nothing stays in it. */
#define AGENT_SCRATCH 65536
extern unsigned char agent_scratch[AGENT_SCRATCH];

/* Work that goes on in slices between events. The node must be initialised. */
struct agent_work {
	struct list node;
	bool (*run)(struct agent_work *w); /* true: there is more; false: w may be gone */
};

void agent_work_start(struct agent_work *w);
void agent_work_stop(struct agent_work *w);

/* Handles events for ever. */
_Noreturn void agent_loop(void);

#endif
