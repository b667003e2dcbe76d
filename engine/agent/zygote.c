/* SPDX-License-Identifier: Apache-2.0
 *
 * zygote.c - agents as copies of one that has started already.
 *
 * A program's start and the first touch of its pages are most of what a new agent costs. So the program is started
 * once, and a unit gets a clone of it. Nothing of any guest ever comes to the zygote: it hears the broker only, and a
 * clone does not speak to it.
 */
#include "agent/zygote.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/wall.h"
#include "os/fd.h"
#include "os/proc.h"
#include "wire/unit_proto.h"

_Static_assert(sizeof(INIS_ZYGOTE_NAME) == sizeof(INIS_AGENT_NAME), "one takes the place of the other");

/* In the clone, once its ids are mapped. Which step failed goes into the exit status, for whoever traces it. */
static void become_agent(int sock, char *name)
{
	size_t n_fds = 0;
	char go;

	if (inis_packet_await(sock, &go, 1, NULL, 0, &n_fds, NULL) != 1)
		_exit(100);
	if (WALL("ns.cgroup") && unshare(CLONE_NEWCGROUP) < 0)
		_exit(101);
	if (syscall(SYS_setgroups, 0, NULL) < 0 || syscall(SYS_setresgid, 0, 0, 0) < 0 ||
	    syscall(SYS_setresuid, 0, 0, 0) < 0)
		_exit(102);
	setsid();
	umask(022);
	if (inis_fds_place(INIS_UNIT_FD, &sock, 1, NULL) < 0)
		_exit(103);
	memcpy(name, INIS_AGENT_NAME, sizeof(INIS_AGENT_NAME));
}

/* 0 in the clone; in the zygote something else, when the request has been answered. */
static pid_t answer(const struct inis_zygote_request *request, int cgroup)
{
	struct inis_zygote_answer a = {.magic = INIS_UNIT_MAGIC};
	cleanup_close int pidfd = -1;

	a.pid = inis_clone3(request->clone_flags | CLONE_PARENT, cgroup, &pidfd, NULL);
	if (a.pid == 0)
		return 0;
	a.sys_errno = a.pid < 0 ? errno : 0;
	if (inis_packet_send(INIS_UNIT_FD, &a, sizeof(a), &pidfd, a.pid > 0 ? 1 : 0, NULL) < 0 && a.pid > 0)
		inis_pidfd_signal(pidfd, SIGKILL);
	return a.pid;
}

/* Descriptors: the unit's socket and its cgroup. Ends with the broker. */
static void receive(struct inis_zygote_request *request, int fds[2])
{
	size_t n_fds = 0;

	if (inis_packet_await(INIS_UNIT_FD, request, sizeof(*request), fds, 2, &n_fds, NULL) != sizeof(*request) ||
	    request->magic != INIS_UNIT_MAGIC || n_fds != 2)
		_exit(0);
}

void zygote_serve(char *name)
{
	struct inis_zygote_request request;
	int fds[2];

	for (;;) {
		receive(&request, fds);
		if (answer(&request, fds[1]) == 0)
			break;
		close(fds[0]);
		close(fds[1]);
	}
	become_agent(fds[0], name);
}
