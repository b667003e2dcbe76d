/* SPDX-License-Identifier: Apache-2.0
 *
 * zygote.c - the process that the agents of units are cloned from: wire/unit_proto.h.
 *
 * It is started with the driver and again when it is gone. A unit waits for it no longer than for anything else of a
 * start; one that does not answer is ended.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/wall.h"
#include "driver/container/internal.h"
#include "os/fd.h"
#include "os/proc.h"
#include "wire/unit_proto.h"

#define CLEAR_SIGNALS 0x100000000ULL /* CLONE_CLEAR_SIGHAND */

/* In the child. */
static _Noreturn void become_zygote(int sock)
{
	char name[] = INIS_ZYGOTE_NAME;
	char *const argv[] = {name, NULL};
	char *const envp[] = {INIS_WALLS_ENTRY(), NULL};
	sigset_t all;

	/* A terminal's are for the supervisor. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (inis_fds_place(INIS_UNIT_FD, &sock, 1, NULL) == 0)
		execve(RUN_AGENT, argv, envp);
	_exit(1);
}

int zygote_start(struct container *c, struct inis_error *err)
{
	cleanup_close int ours = -1;
	cleanup_close int theirs = -1;
	int pair[2];
	pid_t pid;

	if (inis_packet_pair(pair, err) < 0)
		return -1;
	ours = pair[0];
	theirs = pair[1];
	pid = inis_clone3(CLEAR_SIGNALS, -1, &c->zygote.pidfd, err);
	if (pid == 0)
		become_zygote(theirs);
	if (pid < 0)
		return -1;
	c->zygote.sock = take_fd(&ours);
	return 0;
}

void zygote_stop(struct container *c)
{
	siginfo_t info;

	close_fd(&c->zygote.sock);
	if (c->zygote.pidfd < 0)
		return;
	inis_pidfd_signal(c->zygote.pidfd, SIGKILL);
	waitid(P_PIDFD, (id_t)c->zygote.pidfd, &info, WEXITED);
	close_fd(&c->zygote.pidfd);
}

static int receive(struct container *c, struct inis_zygote_answer *a, int *pidfd, struct inis_error *err)
{
	struct pollfd readable = {.fd = c->zygote.sock, .events = POLLIN};
	size_t n_fds = 0;

	if (poll(&readable, 1, START_DEADLINE_MS) <= 0)
		return inis_fail(err, INIS_UNAVAILABLE, "the agent's program does not answer");
	if (inis_packet_recv(c->zygote.sock, a, sizeof(*a), pidfd, 1, &n_fds, err) != sizeof(*a) ||
	    a->magic != INIS_UNIT_MAGIC || (a->pid > 0) != (n_fds == 1))
		return inis_fail(err, INIS_UNAVAILABLE, "the agent's program has ended");
	return 0;
}

static int ask(struct container *c, uint64_t flags, const int fds[2], struct inis_zygote_answer *a, int *pidfd,
	       struct inis_error *err)
{
	struct inis_zygote_request request = {.magic = INIS_UNIT_MAGIC, .clone_flags = flags | CLEAR_SIGNALS};

	if (c->zygote.sock < 0 && zygote_start(c, err) < 0)
		return -1;
	if (inis_packet_send(c->zygote.sock, &request, sizeof(request), fds, 2, err) == 0 &&
	    receive(c, a, pidfd, err) == 0)
		return 0;
	zygote_stop(c);
	return -1;
}

pid_t zygote_clone(struct container *c, uint64_t flags, int sock, int cgroup, int *pidfd, struct inis_error *err)
{
	const int fds[2] = {sock, cgroup};
	struct inis_zygote_answer a;

	/* Once more, with a new one, when the old one had ended. */
	if (ask(c, flags, fds, &a, pidfd, NULL) < 0 && ask(c, flags, fds, &a, pidfd, err) < 0)
		return -1;
	if (a.pid > 0)
		return a.pid;
	errno = a.sys_errno;
	return inis_fail_errno(err, "make the namespaces of a unit");
}
