/* SPDX-License-Identifier: Apache-2.0
 *
 * session.h - sessions as the verbs use them.
 */
#ifndef INIS_CLI_SESSION_H
#define INIS_CLI_SESSION_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "cli/client.h"

struct cli_session {
	char id[65];
};

/* Takes an id from the user or a server into *session; it becomes part of a URL. */
int cli_session_id(struct cli_session *session, const char *text, struct inis_error *err);

/* Asks for a session; it may still be creating. */
int cli_session_create(const struct cli_client *client, const json_t *options, struct cli_session *session,
		       struct inis_error *err);

/* Waits until the session is usable; a signal on interrupts (-1: none) ends the wait as a failure. */
int cli_session_await(const struct cli_client *client, const struct cli_session *session, int interrupts,
		      struct inis_error *err);

int cli_session_destroy(const struct cli_client *client, const struct cli_session *session, struct inis_error *err);

/* Options of a new session that `create` and `run` share. */
struct cli_session_options {
	json_t *env, *labels; /* NULL when none */
	const char *name, *template, *size;
};

/* The request body; NULL on failure. The options' objects stay the caller's. */
json_t *cli_session_body(const struct cli_session_options *options, struct inis_error *err);
void cli_session_options_free(struct cli_session_options *options);
#define cleanup_session_options __attribute__((cleanup(cli_session_options_free)))

#endif
