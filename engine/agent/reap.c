/* SPDX-License-Identifier: Apache-2.0
 *
 * reap.c - PID 1 reaps everything that dies in the unit.
 *
 * A flood of orphans must not starve the loop: a bounded number at a time; the rest goes on as work.
 */
#include "agent/reap.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/cgroup.h"
#include "agent/task.h"

#define BATCH 256

static bool reap(struct agent_work *w)
{
	bool orphans = false;
	int status, n = 0;
	pid_t pid;

	(void)w;
	while (n < BATCH && (pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (!task_reaped(pid, status))
			orphans = true;
		n++;
	}
	/* The last process of a leaf that was left behind is always an orphan of ours. */
	if (orphans)
		cgroup_sweep();
	return n == BATCH;
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
