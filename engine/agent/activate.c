/* SPDX-License-Identifier: Apache-2.0
 *
 * activate.c - from a blank unit to a guest.
 */
#include "agent/activate.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/cgroup.h"
#include "agent/launch.h"
#include "agent/listener.h"
#include "agent/mounts.h"
#include "agent/pause.h"
#include "agent/rights.h"
#include "base/cleanup.h"
#include "base/wall.h"
#include "os/fd.h"
#include "os/net.h"
#include "wire/unit_proto.h"

struct order {
	struct inis_unit_activate msg;
	int fds[INIS_UNIT_MOUNTS_MAX];
};

static void say(uint32_t verb, int fd, const struct inis_error *why)
{
	struct inis_unit_status status = {.magic = INIS_UNIT_MAGIC, .verb = verb};

	if (why) {
		status.sys_errno = why->sys_errno;
		snprintf(status.text, sizeof(status.text), "%.*s", (int)sizeof(status.text) - 1, why->message);
	}
	/* The broker may be gone; then nobody is left to be told. */
	inis_packet_send(INIS_UNIT_FD, &status, sizeof(status), &fd, fd >= 0 ? 1 : 0, NULL);
}

/* With a socket for the broker's first connection, which must be one of this network. */
static int say_ready(struct inis_error *err)
{
	cleanup_close int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (sock < 0)
		return inis_fail_errno(err, "make a socket");
	say(INIS_UNIT_READY, sock, NULL);
	return 0;
}

static bool terminated(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static int check_order(const struct order *o, size_t bytes, size_t n_fds, struct inis_error *err)
{
	const struct inis_unit_activate *m = &o->msg;

	if (bytes != sizeof(*m) || m->magic != INIS_UNIT_MAGIC || m->verb != INIS_UNIT_ACTIVATE)
		return inis_fail(err, INIS_INTERNAL, "not an activation");
	if (m->fd_count == 0 || m->fd_count > INIS_UNIT_MOUNTS_MAX || m->fd_count != n_fds)
		return inis_fail(err, INIS_INTERNAL, "descriptors do not match");
	if (!terminated(m->hostname, sizeof(m->hostname)) || m->fds[0].kind != INIS_UNIT_FD_ROOT)
		return inis_fail(err, INIS_INTERNAL, "bad activation");
	for (uint32_t i = 0; i < m->fd_count; i++) {
		if (!terminated(m->fds[i].target, sizeof(m->fds[i].target)) ||
		    (m->fds[i].kind == INIS_UNIT_FD_MOUNT && m->fds[i].target[0] != '/'))
			return inis_fail(err, INIS_INTERNAL, "bad mount target");
	}
	return 0;
}

static int receive_order(struct order *o, struct inis_error *err)
{
	size_t n_fds = 0;
	ssize_t n;

	n = inis_packet_await(INIS_UNIT_FD, &o->msg, sizeof(o->msg), o->fds, INIS_UNIT_MOUNTS_MAX, &n_fds, err);
	if (n < 0)
		return -1;
	if (n == 0)
		exit(0);
	return check_order(o, (size_t)n, n_fds, err);
}

/* The order says what each descriptor is; those that are no mounts outlive the activation. */
static int enter(const struct order *o, struct inis_error *err)
{
	struct given_mount given[INIS_UNIT_MOUNTS_MAX];
	unsigned n = 0;

	for (uint32_t i = 1; i < o->msg.fd_count; i++) {
		if (o->msg.fds[i].kind == INIS_UNIT_FD_MOUNT)
			given[n++] = (struct given_mount){.fd = o->fds[i], .target = o->msg.fds[i].target};
		else if (o->msg.fds[i].kind == INIS_UNIT_FD_OOM_COUNTER)
			cgroup_set_oom_counter(o->fds[i]);
		else if (o->msg.fds[i].kind == INIS_UNIT_FD_SPOOL)
			agent.spool = o->fds[i];
		else
			return inis_fail(err, INIS_INTERNAL, "unknown descriptor kind %u", o->msg.fds[i].kind);
	}
	if (agent.spool < 0)
		return inis_fail(err, INIS_INTERNAL, "no directory for spools");
	if (mounts_enter(o->fds[0], given, n, o->msg.shm_mb, err) < 0)
		return -1;
	close(o->fds[0]);
	for (unsigned i = 0; i < n; i++)
		close(given[i].fd);
	return 0;
}

/* 0, 1 and 2 are the guest's /dev/null from here on: nothing of the host stays open. */
static int leave_old_files(struct inis_error *err)
{
	cleanup_close int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return inis_fail_errno(err, "open /dev/null");
	for (int fd = 0; fd <= 2; fd++) {
		if (dup2(null, fd) < 0)
			return inis_fail_errno(err, "redirect to /dev/null");
	}
	return 0;
}

/* All that can be done ahead: a create waits for what comes after. */
static int be_blank(struct inis_error *err)
{
	if ((WALL("ns.net") && inis_net_lo_up(err) < 0) || mounts_prepare(err) < 0 || cgroup_open(err) < 0)
		return -1;
	return rights_be_blank(err) < 0 || launch_prepare(err) < 0 ? -1 : 0;
}

static int move_in(const struct order *o, struct inis_error *err)
{
	if (enter(o, err) < 0 || leave_old_files(err) < 0)
		return -1;
	if (sethostname(o->msg.hostname, strlen(o->msg.hostname)) < 0)
		return inis_fail_errno(err, "set the host name");
	return listener_start(err);
}

/* Goes on while the broker connects; nobody is served before it is done. */
static int settle_in(const struct order *o, struct inis_error *err)
{
	if (mounts_leave_old_root(err) < 0 || pause_open(err) < 0 || launch_welcome(err) < 0)
		return -1;
	return rights_drop(o->msg.flags & INIS_UNIT_NO_SUDO, err);
}

void activate(void)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct order *order = calloc(1, sizeof(*order));

	if (!order)
		exit(1);
	if (be_blank(&err) < 0 || say_ready(&err) < 0 || receive_order(order, &err) < 0 || move_in(order, &err) < 0) {
		say(INIS_UNIT_FAILED, -1, &err);
		exit(1);
	}
	say(INIS_UNIT_ACTIVE, -1, NULL);
	if (settle_in(order, &err) < 0)
		exit(1);
	free(order);
	close(INIS_UNIT_FD);
}
