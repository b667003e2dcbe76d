/* SPDX-License-Identifier: Apache-2.0
 *
 * pipes.c - the three streams of a command.
 */
#include "agent/pipes.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"

void pipes_close(struct pipes *p)
{
	for (int end = 0; end < 2; end++) {
		close_fd(&p->in[end]);
		close_fd(&p->out[end]);
		close_fd(&p->err[end]);
	}
}

static int make(int fds[2], int ours, struct inis_error *err)
{
	if (pipe2(fds, O_CLOEXEC) < 0 || fcntl(fds[ours], F_SETFL, O_NONBLOCK) < 0)
		return inis_fail_errno(err, "make a pipe");
	return 0;
}

int pipes_make(struct pipes *p, struct inis_error *err)
{
	if (make(p->in, 1, err) == 0 && make(p->out, 0, err) == 0 && make(p->err, 0, err) == 0)
		return 0;
	pipes_close(p);
	return -1;
}

int pipes_give(const struct pipes *p, uid_t uid, gid_t gid, struct inis_error *err)
{
	/* A pipe has one owner, whichever end is asked. */
	if (fchown(p->in[1], uid, gid) < 0 || fchown(p->out[0], uid, gid) < 0 || fchown(p->err[0], uid, gid) < 0)
		return inis_fail_errno(err, "hand pipes over to the guest");
	return 0;
}
