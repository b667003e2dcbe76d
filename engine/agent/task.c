/* SPDX-License-Identifier: Apache-2.0
 *
 * task.c - one command from its start to its end.
 */
#include "agent/task.h"

#include <signal.h>
#include <sys/wait.h>

#include "agent/agent.h"
#include "agent/launch.h"
#include "agent/link.h"
#include "agent/reap.h"

#define LOOK_MIN_MS 1
#define LOOK_MAX_MS 32

static struct list tasks = LIST_INIT(tasks);

static bool died_by_sigkill(const struct task *t)
{
	return WIFSIGNALED(t->status) && WTERMSIG(t->status) == SIGKILL && t->stage != TASK_KILLING;
}

/*
 * The kernel counts out-of-memory kills for the whole unit. A rise during this command's life is put down to it when
 * it died that way, when its shell says that a child did (137), or when nothing else was running.
 */
static bool judge_oom(const struct task *t)
{
	bool alone = tasks.next == &t->node && tasks.prev == &t->node;

	if (cgroup_oom_kills() <= t->oom_before)
		return false;
	return died_by_sigkill(t) || (WIFEXITED(t->status) && WEXITSTATUS(t->status) == 128 + SIGKILL) || alone;
}

static void end(struct task *t)
{
	inis_timer_stop(&agent.events, &t->limit);
	inis_timer_stop(&agent.events, &t->look);
	t->oom = judge_oom(t);
	t->cpu_us = leaf_cpu_us(&t->leaf);
	t->stage = TASK_OVER;
	list_remove(&t->node);
	leaf_release(&t->leaf);
	launch_make_ready();
	t->over(t);
}

static void schedule_look(struct task *t)
{
	inis_ms in = t->wait_ms;

	if (t->stage == TASK_TERMINATING && t->kill_at - inis_events_now(&agent.events) < in)
		in = t->kill_at - inis_events_now(&agent.events);
	inis_timer_start(&agent.events, &t->look, in > 0 ? in : 0);
	t->wait_ms = t->wait_ms * 2 < LOOK_MAX_MS ? t->wait_ms * 2 : LOOK_MAX_MS;
}

/* Terminating or killing: is it all gone? What has died is reaped first, so that its cost is known. */
static void look(struct task *t)
{
	reap_some();
	if (t->reaped && !leaf_populated(&t->leaf)) {
		end(t);
		return;
	}
	if (t->stage == TASK_TERMINATING && inis_events_now(&agent.events) >= t->kill_at) {
		t->stage = TASK_KILLING;
		t->wait_ms = LOOK_MIN_MS;
	}
	if (t->stage == TASK_KILLING)
		leaf_kill(&t->leaf);
	schedule_look(t);
}

static void on_look(struct inis_timer *timer)
{
	look(container_of(timer, struct task, look));
}

static void ask_to_end(struct task *t)
{
	leaf_signal(&t->leaf, t->terminal ? SIGHUP : SIGTERM);
	/* What is stopped would not notice. */
	if (t->terminal)
		leaf_signal(&t->leaf, SIGCONT);
}

static void terminate(struct task *t, uint32_t grace_ms)
{
	inis_ms at = inis_events_now(&agent.events) + (inis_ms)grace_ms;

	if (t->stage == TASK_RUNNING) {
		t->stage = TASK_TERMINATING;
		t->kill_at = at;
		ask_to_end(t);
	} else if (at < t->kill_at) {
		t->kill_at = at;
	}
	t->wait_ms = LOOK_MIN_MS;
	schedule_look(t);
}

static void on_limit(struct inis_timer *timer)
{
	struct task *t = container_of(timer, struct task, limit);

	t->timed_out = true;
	terminate(t, INIS_TERM_GRACE_MS);
}

void task_start(struct task *t, struct spawned *s, uint32_t timeout_ms, void (*over)(struct task *t))
{
	*t = (struct task){
		.stage = TASK_RUNNING,
		.pid = s->pid,
		.leaf = s->leaf,
		.started = inis_events_now(&agent.events),
		.started_wall = (uint64_t)inis_wall_ms(),
		.oom_before = cgroup_oom_kills(),
		.limit = {.fire = on_limit},
		.look = {.fire = on_look},
		.over = over,
	};
	s->leaf = (struct leaf)LEAF_INIT;
	list_append(&tasks, &t->node);
	if (timeout_ms > 0)
		inis_timer_start(&agent.events, &t->limit, timeout_ms);
}

void task_kill(struct task *t, uint32_t grace_ms)
{
	if (!task_live(t))
		return;
	if (t->stage == TASK_RUNNING)
		t->killed = true;
	inis_timer_stop(&agent.events, &t->limit);
	terminate(t, grace_ms);
}

bool task_reaped(pid_t pid, pid_t session, int status, const struct rusage *usage)
{
	uint64_t peak = (uint64_t)usage->ru_maxrss * 1024;

	list_each (at, &tasks) {
		struct task *t = container_of(at, struct task, node);

		/* Each command has a terminal session of its own, in which what it leaves behind usually stays. */
		if ((t->pid == pid || t->pid == session) && peak > t->peak_bytes)
			t->peak_bytes = peak;
		if (t->pid != pid || t->reaped)
			continue;
		t->reaped = true;
		t->status = status;
		t->ended = inis_events_now(&agent.events);
		t->ended_wall = (uint64_t)inis_wall_ms();
		if (t->stage == TASK_RUNNING) {
			end(t);
		} else {
			/* Not at once: this may be the first of many that are dead. */
			t->wait_ms = LOOK_MIN_MS;
			schedule_look(t);
		}
		return true;
	}
	return false;
}

void task_exited(const struct task *t, struct inis_exited *e)
{
	bool signalled = WIFSIGNALED(t->status);

	e->signal = signalled ? (uint32_t)WTERMSIG(t->status) : 0;
	e->exit_code = signalled ? 128 + WTERMSIG(t->status) : WEXITSTATUS(t->status);
	if (t->timed_out)
		e->exit_code = 124;
	e->flags = (t->timed_out ? INIS_EXIT_TIMED_OUT : 0) | (t->killed ? INIS_EXIT_KILLED : 0) |
		   (t->oom ? INIS_EXIT_OOM : 0);
	e->duration_ms = (uint64_t)(t->ended - t->started);
	e->cpu_us = t->cpu_us;
	e->peak_bytes = link_knows(INIS_FEATURE_USAGE) ? t->peak_bytes : 0;
}
