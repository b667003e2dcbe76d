/* SPDX-License-Identifier: Apache-2.0
 *
 * input.c - our own stdin as the input of a command.
 */
#include "cli/input.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/output.h"

#define FIRST_BYTE_MS 2000
#define PIECE         65536
#define SHORT_INPUT   ((size_t)256 * 1024)

/* Once. 1: it has ended; 0: there may be more; -1. */
static int read_piece(struct inis_buf *input, struct inis_error *err)
{
	uint8_t *to = inis_buf_reserve(input, PIECE);
	ssize_t length;

	if (!to)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	length = read(0, to, PIECE);
	if (length < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	/* A closed stdin, too, is an empty one. */
	if (length <= 0)
		return 1;
	input->len += (size_t)length;
	return 0;
}

/* A short input that is there goes with the request. */
static int read_what_is_there(struct inis_buf *input, int *fd, struct inis_error *err)
{
	struct pollfd ready = {.fd = 0, .events = POLLIN};
	int ended = 0;

	while (ended == 0 && input->len < SHORT_INPUT && poll(&ready, 1, 0) > 0)
		ended = read_piece(input, err);
	if (ended == 0)
		*fd = 0;
	return ended < 0 ? -1 : 0;
}

static int read_all(struct inis_buf *input, int interrupts, struct inis_error *err)
{
	struct pollfd ready[] = {{.fd = 0, .events = POLLIN}, {.fd = interrupts, .events = POLLIN}};
	int ended = 0;

	while (ended == 0) {
		if (poll(ready, 2, input->len == 0 ? FIRST_BYTE_MS : -1) == 0) {
			cli_say("nothing comes on stdin; the command gets an empty one (-n says so at once)");
			return 0;
		}
		if (ready[1].revents)
			return inis_fail(err, INIS_UNAVAILABLE, "interrupted");
		ended = read_piece(input, err);
		if (input->len > CLI_INPUT_MAX)
			return inis_fail(err, INIS_PAYLOAD_TOO_LARGE,
					 "more than %zu MiB on stdin: put it in a file of the session instead",
					 CLI_INPUT_MAX >> 20);
	}
	return ended < 0 ? -1 : 0;
}

int cli_input_begin(const struct cli_client *client, struct inis_buf *input, int *fd, int interrupts,
		    struct inis_error *err)
{
	bool streams;

	*fd = -1;
	if (isatty(0))
		return 0;
	if (cli_client_supports(client, "exec.stdin.stream", &streams, err) < 0)
		return -1;
	return streams ? read_what_is_there(input, fd, err) : read_all(input, interrupts, err);
}
