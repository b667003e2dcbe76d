/* SPDX-License-Identifier: Apache-2.0
 *
 * terminal.c - a pseudo-terminal of the guest's own.
 */
#include "agent/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "agent/request.h"
#include "agent/user.h"
#include "base/cleanup.h"

#define PTMX "/dev/pts/ptmx"

/* The one who opens it owns the slave. */
static int open_master(void)
{
	int fd;

	guest_rights_enter();
	fd = open(PTMX, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	guest_rights_leave();
	return fd;
}

static int terminal_open(struct terminal *t, uint16_t rows, uint16_t cols, struct inis_error *err)
{
	int unlocked = 0;

	*t = (struct terminal)TERMINAL_NONE;
	t->master = open_master();
	if (t->master < 0 || ioctl(t->master, TIOCSPTLCK, &unlocked) < 0) {
		inis_fail(err, INIS_UNAVAILABLE, "cannot open a terminal");
		terminal_close(t);
		return -1;
	}
	/* By descriptor: no path of the guest has a say. */
	t->slave = ioctl(t->master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (t->slave < 0) {
		inis_fail(err, INIS_UNAVAILABLE, "cannot open a terminal");
		terminal_close(t);
		return -1;
	}
	terminal_resize(t, rows, cols);
	return 0;
}

void terminal_close(struct terminal *t)
{
	close_fd(&t->slave);
	close_fd(&t->master);
}

void terminal_resize(const struct terminal *t, uint16_t rows, uint16_t cols)
{
	struct winsize size = {.ws_row = rows, .ws_col = cols};

	ioctl(t->master, TIOCSWINSZ, &size);
}

int terminal_read_size(const struct inis_frame *f, uint16_t *rows, uint16_t *cols)
{
	struct inis_unpack u;

	inis_unpack_init(&u, f->payload, f->length);
	*rows = inis_unpack_u16(&u);
	*cols = inis_unpack_u16(&u);
	return inis_unpack_ok(&u) ? 0 : -1;
}

int terminal_signal(const struct terminal *t, struct task *task, const struct inis_frame *f, struct inis_error *err)
{
	struct inis_unpack u;
	uint32_t signo;
	pid_t group;

	inis_unpack_init(&u, f->payload, f->length);
	signo = inis_unpack_u32(&u);
	if (!inis_unpack_ok(&u) || signo == 0 || signo >= (uint32_t)NSIG)
		return request_malformed(err);
	if (!task_live(task))
		return 0;
	if (signo == SIGKILL) {
		leaf_kill(&task->leaf);
		return 0;
	}
	group = tcgetpgrp(t->master);
	if (group > 1)
		kill(-group, (int)signo);
	return 0;
}

/* The first of the usual shells that is there, as for a login. */
static void set_login_shell(struct inis_exec *m)
{
	static const char *const bash[] = {"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"};
	static struct inis_str argv[2] = {{"sh", 2}, {"-l", 2}};

	argv[0] = (struct inis_str){"sh", 2};
	for (size_t i = 0; i < sizeof(bash) / sizeof(bash[0]); i++) {
		if (access(bash[i], X_OK) == 0) {
			argv[0] = (struct inis_str){"bash", 4};
			break;
		}
	}
	m->argv = argv;
	m->argc = 2;
}

int terminal_spawn(struct terminal *t, const struct inis_pty *m, struct spawned *s, struct inis_error *err)
{
	struct inis_exec command = m->exec;
	cleanup_close int in = -1;
	cleanup_close int out = -1;

	if (terminal_open(t, m->rows, m->cols, err) < 0)
		return -1;
	/* What is watched for reading and for writing is one descriptor each. */
	in = fcntl(t->master, F_DUPFD_CLOEXEC, 3);
	out = fcntl(t->master, F_DUPFD_CLOEXEC, 3);
	if (in < 0 || out < 0)
		return inis_fail(err, INIS_UNAVAILABLE, "cannot open a terminal");
	if (command.argc == 0)
		set_login_shell(&command);
	if (spawn_on_terminal(&command, t->slave, s, err) < 0)
		return -1;
	s->in = take_fd(&in);
	s->out = take_fd(&out);
	return 0;
}
