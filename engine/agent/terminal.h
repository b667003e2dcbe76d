/* SPDX-License-Identifier: Apache-2.0
 *
 * terminal.h - a pseudo-terminal of the guest's own, held from outside its session.
 *
 * Both ends stay open as long as the command lives: a program that closes the terminal and opens it again loses
 * nothing, and reading the master never fails in between.
 */
#ifndef INIS_AGENT_TERMINAL_H
#define INIS_AGENT_TERMINAL_H

#include <stdint.h>
#include <sys/types.h>

#include "agent/spawn.h"
#include "agent/task.h"

struct terminal {
	int master; /* does not make the agent wait */
	int slave;
};

#define TERMINAL_NONE                     \
	{                                 \
		.master = -1, .slave = -1 \
	}

void terminal_close(struct terminal *t);

/*
 * Opens a terminal that belongs to the guest user and starts m's command on it, or a login shell when it names none. s->in and s->out are the master,
 * for what is watched for writing and for reading. Close *t also when it fails.
 */
int terminal_spawn(struct terminal *t, const struct inis_pty *m, struct spawned *s, struct inis_error *err);

/* The foreground process group gets SIGWINCH when this is a change. */
void terminal_resize(const struct terminal *t, uint16_t rows, uint16_t cols);
/* PTY_RESIZE; -1: malformed. */
int terminal_read_size(const struct inis_frame *f, uint16_t *rows, uint16_t *cols);
/* PTY_SIGNAL: to the foreground process group of what runs on it; SIGKILL ends all of it. */
int terminal_signal(const struct terminal *t, struct task *task, const struct inis_frame *f, struct inis_error *err);

#endif
