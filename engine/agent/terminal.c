/* SPDX-License-Identifier: Apache-2.0
 *
 * terminal.c - a pseudo-terminal of the guest's own.
 */
#include "agent/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

int terminal_open(struct terminal *t, uint16_t rows, uint16_t cols, struct inis_error *err)
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

void terminal_signal(const struct terminal *t, int signal)
{
	pid_t group = tcgetpgrp(t->master);

	if (group > 1)
		kill(-group, signal);
}
