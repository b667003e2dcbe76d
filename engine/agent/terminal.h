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

#include "base/error.h"

struct terminal {
	int master; /* does not make the agent wait */
	int slave;
};

#define TERMINAL_NONE                     \
	{                                 \
		.master = -1, .slave = -1 \
	}

/* Belongs to the guest user. */
int terminal_open(struct terminal *t, uint16_t rows, uint16_t cols, struct inis_error *err);
void terminal_close(struct terminal *t);

/* The foreground process group gets SIGWINCH when this is a change. */
void terminal_resize(const struct terminal *t, uint16_t rows, uint16_t cols);
/* A signal to the foreground process group. */
void terminal_signal(const struct terminal *t, int signal);

#endif
