/* SPDX-License-Identifier: Apache-2.0
 *
 * input.h - our own stdin as the input of a command.
 */
#ifndef INIS_CLI_INPUT_H
#define INIS_CLI_INPUT_H

#include "base/buf.h"
#include "base/error.h"

#define CLI_INPUT_MAX ((size_t)4 * 1024 * 1024)

/*
 * Reads stdin to its end into *input, unless it is a terminal or closed. A pipe on which
 * nothing has come for a while counts as empty, with a word on stderr, so that a caller
 * that left one open does not wait for ever. More than CLI_INPUT_MAX is an error.
 */
int cli_input_read(struct inis_buf *input, int interrupts, struct inis_error *err);

#endif
