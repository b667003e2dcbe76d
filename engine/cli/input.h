/* SPDX-License-Identifier: Apache-2.0
 *
 * input.h - our own stdin as the input of a command.
 */
#ifndef INIS_CLI_INPUT_H
#define INIS_CLI_INPUT_H

#include "base/buf.h"
#include "base/error.h"
#include "cli/client.h"

/* For servers to which it must be sent as a whole. */
#define CLI_INPUT_MAX ((size_t)4 * 1024 * 1024)

/*
 * What there is of stdin now goes into *input; *fd is where more is to be read while the command runs, -1 when that was
 * all. A terminal, or none, counts as empty.
 *
 * A server that takes no input later (exec.stdin.stream) gets all of it: then stdin is read to its end here, a pipe on
 * which nothing has come for a while counts as empty, with a word on stderr, and more than CLI_INPUT_MAX is an error.
 */
int cli_input_begin(const struct cli_client *client, struct inis_buf *input, int *fd, int interrupts,
		    struct inis_error *err);

#endif
