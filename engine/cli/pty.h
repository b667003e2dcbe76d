/* SPDX-License-Identifier: Apache-2.0
 *
 * pty.h - a terminal of a session on our own.
 */
#ifndef INIS_CLI_PTY_H
#define INIS_CLI_PTY_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/session.h"

struct cli_pty {
	const char *name; /* NULL: it ends with us; else it goes on, and one that runs is attached to */
	char *const *argv; /* NULL-terminated; NULL: the login shell */
	const char *cwd; /* NULL: the session's default */
	json_t *env; /* NULL: none; only with argv */
	bool no_stdin;
};

/*
 * Runs it, our terminal in raw mode meanwhile and as it was afterwards in any case. Gives the exit code that this
 * program should have. A signal on interrupts hangs up, or leaves a named one. -1 when the end is not known.
 */
int cli_pty_run(const struct cli_client *client, const struct cli_session *session, const struct cli_pty *pty,
		int interrupts, struct inis_error *err);

#endif
