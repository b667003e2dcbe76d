/* SPDX-License-Identifier: Apache-2.0
 *
 * reap.c - PID 1 reaps everything that dies in the unit.
 *
 * A flood of orphans must not starve the loop: a bounded number at a time; the rest goes on as work.
 */
#include "agent/reap.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/cgroup.h"
#include "agent/task.h"

#define BATCH 256

/* 0: nobody is dead. *session is asked for first: a process that was reaped has none. */
static pid_t reap_one(int *status, pid_t *session, struct rusage *usage)
{
	siginfo_t info = {.si_pid = 0};

	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
		return 0;
	*session = getsid(info.si_pid);
	return wait4(info.si_pid, status, 0, usage) == info.si_pid ? info.si_pid : 0;
}

bool reap_some(void)
{
	struct rusage usage;
	bool orphans = false;
	int status, n = 0;
	pid_t pid, session;

	while (n < BATCH && (pid = reap_one(&status, &session, &usage)) > 0) {
		if (!task_reaped(pid, session, status, &usage))
			orphans = true;
		n++;
	}
	/* The last process of a leaf that was left behind is always an orphan of ours. */
	if (orphans)
		cgroup_sweep();
	return n == BATCH;
}

static bool reap(struct agent_work *w)
{
	(void)w;
	return reap_some();
}

static struct agent_work work = {.node = LIST_INIT(work.node), .run = reap};

static void on_signal(struct inis_watch *w, uint32_t events)
{
	struct signalfd_siginfo info;

	(void)events;
	while (read(w->fd, &info, sizeof(info)) > 0)
		;
	agent_work_start(&work);
}

static struct inis_watch watch = INIS_WATCH_INIT(on_signal);

int reap_start(struct inis_error *err)
{
	sigset_t child;
	int fd;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return inis_fail_errno(err, "signalfd");
	return inis_watch_start(&agent.events, &watch, fd, EPOLLIN, err);
}
