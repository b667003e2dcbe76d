/* SPDX-License-Identifier: Apache-2.0
 *
 * spawn.c - starting a process of the guest.
 */
#include "agent/spawn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "agent/child.h"
#include "agent/command.h"
#include "agent/launch.h"
#include "agent/user.h"
#include "base/cleanup.h"

/* The child ended without becoming the program, in a way that means: nothing was started. */
static int fail_start(const struct child *c, struct inis_error *err)
{
	const char *reason = strerror(c->error);

	if (c->step == CHILD_CWD)
		return inis_fail_field(err, "cwd", "%.200s: %s", c->cwd, reason);
	if (c->step == CHILD_EXEC && c->error == E2BIG)
		return inis_fail_field(err, "command", "arguments and environment are too long");
	return inis_fail(err, INIS_UNAVAILABLE, "cannot start a process: %s", reason);
}

static bool started_nothing(const struct child *c)
{
	switch (c->step) {
	case 0:
		return false;
	case CHILD_EXEC:
		return c->error == E2BIG || c->error == ENOMEM || c->error == EAGAIN || c->error == ENFILE;
	default:
		return true;
	}
}

static void complain(const struct child *c, struct spawned *s)
{
	const char *reason = c->error == ENOENT && !strchr(c->argv[0], '/') ? "command not found" : strerror(c->error);

	if (c->step != 0)
		snprintf(s->complaint, sizeof(s->complaint), "inis: %.200s: %s\n", c->argv[0], reason);
}

static int judge(const struct child *c, struct spawned *s, struct inis_error *err)
{
	if (!c)
		return -1;
	if (started_nothing(c)) {
		while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
			;
		leaf_release(&s->leaf);
		close_fd(&s->in);
		close_fd(&s->out);
		close_fd(&s->err);
		return fail_start(c, err);
	}
	complain(c, s);
	return 0;
}

int spawn(const struct inis_exec *m, struct spawned *s, struct inis_error *err)
{
	__attribute__((cleanup(command_free))) struct command cmd = {0};
	const struct guest_user *user = guest_user();

	*s = (struct spawned){.leaf = LEAF_INIT, .in = -1, .out = -1, .err = -1};
	if (command_build(&cmd, m, user, err) < 0)
		return -1;
	return judge(launch(&cmd, user, m->stdin_mode == INIS_STDIN_PIPE, s, err), s, err);
}

int spawn_on_terminal(const struct inis_exec *m, int terminal, struct spawned *s, struct inis_error *err)
{
	__attribute__((cleanup(command_free))) struct command cmd = {0};
	const struct guest_user *user = guest_user();

	*s = (struct spawned){.leaf = LEAF_INIT, .in = -1, .out = -1, .err = -1};
	if (command_build(&cmd, m, user, err) < 0)
		return -1;
	return judge(launch_on_terminal(&cmd, user, terminal, s, err), s, err);
}
