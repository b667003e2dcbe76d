/* SPDX-License-Identifier: Apache-2.0
 *
 * terminal.h - the terminal that we are on.
 */
#ifndef INIS_CLI_TERMINAL_H
#define INIS_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <termios.h>

#include "base/error.h"

struct cli_terminal {
	int fd; /* of stdin when that is a terminal, else -1 */
	bool raw;
	struct termios before;
};

#define CLI_TERMINAL_INIT \
	{                 \
		.fd = -1  \
	}
#define cleanup_terminal __attribute__((cleanup(cli_terminal_restore)))

/* Every key becomes input; nothing when stdin is no terminal. */
int cli_terminal_raw(struct cli_terminal *t, struct inis_error *err);
/* As it was. Harmless when nothing was changed. */
void cli_terminal_restore(struct cli_terminal *t);

/* The size of the first standard stream that is a terminal; false and 24 x 80 when none is. */
bool cli_terminal_size(uint16_t *rows, uint16_t *cols);

#endif
