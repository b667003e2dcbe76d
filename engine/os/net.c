/* SPDX-License-Identifier: Apache-2.0
 *
 * net.c - network namespaces.
 */
#include "os/net.h"

#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

int inis_net_lo_up(struct inis_error *err)
{
	cleanup_close int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};

	if (sock < 0)
		return inis_fail_errno(err, "socket for the loopback device");
	if (ioctl(sock, SIOCSIFFLAGS, &request) < 0)
		return inis_fail_errno(err, "bring loopback up");
	return 0;
}

struct visit {
	int pidfd;
	int domain;
	int type;
	int sock;
	int error;
};

/* Runs in the caller's memory while the caller waits: system calls only. */
static int visit_namespace(void *arg)
{
	struct visit *v = arg;

	if (setns(v->pidfd, CLONE_NEWNET) < 0) {
		v->error = errno;
		return 0;
	}
	v->sock = socket(v->domain, v->type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (v->sock < 0)
		v->error = errno;
	return 0;
}

int inis_net_socket_in(int pidfd, int domain, int type, struct inis_error *err)
{
	struct visit visit = {.pidfd = pidfd, .domain = domain, .type = type, .sock = -1};
	char stack[16384] __attribute__((aligned(16)));
	pid_t child = clone(visit_namespace, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | CLONE_FILES, &visit);

	if (child < 0)
		return inis_fail_errno(err, "enter a network namespace");
	while (waitpid(child, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	errno = visit.error;
	if (visit.sock < 0)
		return inis_fail_errno(err, "socket in a network namespace");
	return visit.sock;
}

int inis_net_connect_abstract(int sock, const char *name, struct inis_error *err)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	size_t n = strlen(name);

	if (n >= sizeof(addr.sun_path))
		return inis_fail(err, INIS_INTERNAL, "socket name too long");
	memcpy(addr.sun_path + 1, name, n);
	if (connect(sock, (struct sockaddr *)&addr, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) < 0)
		return inis_fail_errno(err, "connect to %s", name);
	return 0;
}
