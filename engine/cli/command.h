/* SPDX-License-Identifier: Apache-2.0
 *
 * command.h - running one command in a session, its streams as our own.
 */
#ifndef INIS_CLI_COMMAND_H
#define INIS_CLI_COMMAND_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "cli/client.h"
#include "cli/session.h"

struct cli_command {
	char *const *argv; /* NULL-terminated */
	const char *cwd; /* NULL: the session's default */
	json_int_t timeout_ms;
	json_t *env; /* NULL: none */
	bool no_stdin; /* an empty one, ours is left alone */
};

/* Without --timeout a command may take this long. */
#define CLI_COMMAND_TIMEOUT_MS 3600000

/*
 * Runs the command with our stdin, unless that is a terminal, as its own, and its output on descriptors 1 and 2 as it
 * comes; with --json as a JSON object a line on 1. Gives the exit code that this program should have. A signal on
 * interrupts, or a reader of ours that went away, ends the command. -1 when the command's end is not known.
 */
int cli_command_run(const struct cli_client *client, const struct cli_session *session,
		    const struct cli_command *command, int interrupts, struct inis_error *err);

#endif
