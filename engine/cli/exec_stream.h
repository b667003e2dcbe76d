/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_stream.h - one command over the streaming exec: its output as it comes, its input as it is read.
 */
#ifndef INIS_CLI_EXEC_STREAM_H
#define INIS_CLI_EXEC_STREAM_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "cli/client.h"
#include "cli/session.h"

struct cli_exec {
	char *const *argv; /* NULL-terminated */
	const char *cwd; /* NULL: the session's default */
	json_int_t timeout_ms;
	json_t *env; /* NULL: none */
	const struct inis_buf *input; /* stdin begins with this; NULL: nothing */
	int input_fd; /* and goes on with this, to its end; -1: nothing more. Needs the extension exec.stdin.stream */
	int interrupts;
	int (*output)(void *ctx, int fd, const uint8_t *data, size_t n); /* fd 1 or 2; -1 stops */
	void (*tick)(void *ctx); /* now and then; may be NULL */
	void *ctx;
};

struct cli_exec_end {
	int exit_code;
	bool timed_out;
	bool oom;
	json_t *event; /* all that the server said; owned by the caller */
};

enum cli_exec_outcome { CLI_EXEC_ENDED, CLI_EXEC_STOPPED };

/*
 * Leaving early, by output() or a signal, cancels the command on the server. Gives how it went and fills *end when it
 * has ended; -1 when its end is not known.
 */
int cli_exec_stream(const struct cli_client *client, const struct cli_session *session, const struct cli_exec *exec,
		    struct cli_exec_end *end, struct inis_error *err);

#endif
