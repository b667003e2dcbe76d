/* SPDX-License-Identifier: Apache-2.0
 *
 * spawn.c - starting a process of the guest.
 */
#include "agent/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/child.h"
#include "agent/command.h"
#include "agent/user.h"
#include "base/cleanup.h"

struct pipes {
	int in[2];
	int out[2];
	int err[2];
};

static void close_pipes(struct pipes *p)
{
	for (int end = 0; end < 2; end++) {
		close_fd(&p->in[end]);
		close_fd(&p->out[end]);
		close_fd(&p->err[end]);
	}
}

/* `ours` is the end that must not make the agent wait. */
static int make_pipe(int fds[2], int ours, struct inis_error *err)
{
	if (pipe2(fds, O_CLOEXEC) < 0 || fcntl(fds[ours], F_SETFL, O_NONBLOCK) < 0)
		return inis_fail_errno(err, "make a pipe");
	return 0;
}

/* They belong to the guest user: a program may open /dev/stdout anew. */
static int make_pipes(struct pipes *p, bool with_stdin, struct inis_error *err)
{
	int rc;

	guest_rights_enter();
	rc = make_pipe(p->out, 0, err) < 0 || make_pipe(p->err, 0, err) < 0 ||
	     (with_stdin && make_pipe(p->in, 1, err) < 0);
	guest_rights_leave();
	return rc ? -1 : 0;
}

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

static int run(const struct command *cmd, const int stdio[3], bool terminal, struct spawned *s, struct inis_error *err)
{
	const struct guest_user *user = guest_user();
	struct child child = {
		.argv = cmd->argv.v,
		.env = cmd->env.v,
		.paths = cmd->paths.v,
		.cwd = cmd->cwd,
		.stdio = {stdio[0], stdio[1], stdio[2]},
		.terminal = terminal,
		.uid = user->uid,
		.gid = user->gid,
		.n_groups = user->n_groups,
		.groups = user->groups,
	};

	if (leaf_make(&s->leaf, err) < 0)
		return -1;
	s->pid = child_clone(&child, s->leaf.fd);
	if (s->pid < 0) {
		leaf_release(&s->leaf);
		return inis_fail(err, INIS_UNAVAILABLE, "cannot start a process: %s", strerror(-s->pid));
	}
	if (started_nothing(&child)) {
		while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
			;
		leaf_release(&s->leaf);
		return fail_start(&child, err);
	}
	complain(&child, s);
	return 0;
}

int spawn(const struct inis_exec *m, struct spawned *s, struct inis_error *err)
{
	__attribute__((cleanup(command_free))) struct command cmd = {0};
	__attribute__((cleanup(close_pipes))) struct pipes p = {{-1, -1}, {-1, -1}, {-1, -1}};

	*s = (struct spawned){.leaf = LEAF_INIT, .in = -1, .out = -1, .err = -1};
	if (command_build(&cmd, m, guest_user(), err) < 0 || make_pipes(&p, m->stdin_mode == INIS_STDIN_PIPE, err) < 0)
		return -1;
	if (run(&cmd, (int[]){p.in[0] >= 0 ? p.in[0] : agent.null, p.out[1], p.err[1]}, false, s, err) < 0)
		return -1;
	s->in = take_fd(&p.in[1]);
	s->out = take_fd(&p.out[0]);
	s->err = take_fd(&p.err[0]);
	return 0;
}

int spawn_on_terminal(const struct inis_exec *m, int terminal, struct spawned *s, struct inis_error *err)
{
	__attribute__((cleanup(command_free))) struct command cmd = {0};

	*s = (struct spawned){.leaf = LEAF_INIT, .in = -1, .out = -1, .err = -1};
	if (command_build(&cmd, m, guest_user(), err) < 0)
		return -1;
	return run(&cmd, (int[]){terminal, terminal, terminal}, true, s, err);
}
