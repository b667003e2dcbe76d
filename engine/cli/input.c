/* SPDX-License-Identifier: Apache-2.0
 *
 * input.c - our own stdin as the input of a command.
 */
#include "cli/input.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define FIRST_BYTE_MS 2000
#define PIECE         65536

int cli_input_read(struct inis_buf *input, int interrupts, struct inis_error *err)
{
	struct pollfd ready[] = {{.fd = 0, .events = POLLIN}, {.fd = interrupts, .events = POLLIN}};

	if (isatty(0))
		return 0;
	for (;;) {
		uint8_t *to = inis_buf_reserve(input, PIECE);
		ssize_t length;

		if (!to)
			return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		if (poll(ready, 2, input->len == 0 ? FIRST_BYTE_MS : -1) == 0) {
			fputs("inis: nothing comes on stdin; the command gets an empty one (-n says so at once)\n",
			      stderr);
			return 0;
		}
		if (ready[1].revents)
			return inis_fail(err, INIS_UNAVAILABLE, "interrupted");
		length = read(0, to, PIECE);
		if (length < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (length <= 0)
			return 0;
		input->len += (size_t)length;
		if (input->len > CLI_INPUT_MAX)
			return inis_fail(err, INIS_PAYLOAD_TOO_LARGE,
					 "more than %zu MiB on stdin: put it in a file of the session instead",
					 CLI_INPUT_MAX >> 20);
	}
}
