/* SPDX-License-Identifier: Apache-2.0
 *
 * task.h - one command from its start until nothing of it that should end is left.
 *
 *   running --main process ends--> over            what it left in the background lives on
 *   running --limit or request---> terminating     SIGTERM, on a terminal SIGHUP, to everything in its leaf
 *   terminating --grace ends-----> killing         cgroup.kill
 *   terminating, killing --main reaped and leaf empty--> over
 */
#ifndef INIS_AGENT_TASK_H
#define INIS_AGENT_TASK_H

#include <stdbool.h>
#include <sys/resource.h>

#include "agent/cgroup.h"
#include "agent/list.h"
#include "agent/spawn.h"
#include "os/events.h"
#include "wire/agent_proto.h"

enum task_stage { TASK_NONE, TASK_RUNNING, TASK_TERMINATING, TASK_KILLING, TASK_OVER };

struct task {
	struct list node; /* until over */
	enum task_stage stage;
	pid_t pid;
	struct leaf leaf;
	int status; /* of wait */
	bool reaped;
	bool timed_out;
	bool killed; /* a request ended it */
	bool terminal; /* it is told to end by a hang-up */
	bool oom;
	inis_ms started; /* of inis_events_now(): time in which the unit was frozen does not count; likewise below */
	inis_ms ended; /* when the main process was reaped */
	uint64_t started_wall;
	uint64_t ended_wall;
	uint64_t oom_before;
	uint64_t cpu_us;
	uint64_t peak_bytes; /* see struct inis_exited */
	inis_ms kill_at; /* terminating: when the grace ends */
	unsigned wait_ms; /* until the next look whether the leaf is empty */
	struct inis_timer limit;
	struct inis_timer look;
	void (*over)(struct task *t); /* called once; the owner may free it */
};

/* Takes pid and leaf over. timeout_ms 0: none. */
void task_start(struct task *t, struct spawned *s, uint32_t timeout_ms, void (*over)(struct task *t));

/* On request. Harmless when over; a shorter grace than the running one counts. */
void task_kill(struct task *t, uint32_t grace_ms);

static inline bool task_live(const struct task *t)
{
	return t->stage != TASK_NONE && t->stage != TASK_OVER;
}

/* What is known of the end; out_total and err_total stay. */
void task_exited(const struct task *t, struct inis_exited *e);

/* For the reaper: whether pid, of this terminal session, is the main process of a task. usage counts either way. */
bool task_reaped(pid_t pid, pid_t session, int status, const struct rusage *usage);

#endif
