/* SPDX-License-Identifier: Apache-2.0
 *
 * terminal.c - the terminal that we are on.
 */
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

int cli_terminal_raw(struct cli_terminal *t, struct inis_error *err)
{
	struct termios raw;

	if (!isatty(0))
		return 0;
	if (tcgetattr(0, &t->before) < 0)
		return inis_fail_errno(err, "read the terminal's settings");
	raw = t->before;
	cfmakeraw(&raw);
	if (tcsetattr(0, TCSADRAIN, &raw) < 0)
		return inis_fail_errno(err, "change the terminal's settings");
	t->fd = 0;
	t->raw = true;
	return 0;
}

void cli_terminal_restore(struct cli_terminal *t)
{
	if (!t->raw)
		return;
	tcsetattr(t->fd, TCSADRAIN, &t->before);
	t->raw = false;
}

bool cli_terminal_size(uint16_t *rows, uint16_t *cols)
{
	struct winsize size;

	*rows = 24;
	*cols = 80;
	for (int fd = 0; fd < 3; fd++) {
		if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_row == 0 || size.ws_col == 0)
			continue;
		*rows = size.ws_row;
		*cols = size.ws_col;
		return true;
	}
	return false;
}
