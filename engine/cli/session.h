/* SPDX-License-Identifier: Apache-2.0
 *
 * session.h - sessions and their processes as the verbs use them.
 */
#ifndef INIS_CLI_SESSION_H
#define INIS_CLI_SESSION_H

#include <jansson.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/error.h"
#include "cli/client.h"

struct cli_session {
	char id[65];
};

/* Takes an id from the user or a server into *session; it becomes part of a URL. */
int cli_session_id(struct cli_session *session, const char *text, struct inis_error *err);

/* By id, or by the name of one that has not ended; not_found. */
int cli_session_find(const struct cli_client *client, struct cli_session *session, const char *text,
		     struct inis_error *err);

/* The same for what is kept of a session: by name also the newest of those that have ended. */
int cli_session_find_kept(const struct cli_client *client, struct cli_session *session, const char *text,
			  struct inis_error *err);

/* Appends all sessions in one state, "": that have not ended, to the array. */
int cli_session_list(const struct cli_client *client, const char *state, json_t *sessions, struct inis_error *err);

/* Asks for a session; it may still be creating. *object (may be NULL) is the caller's. */
int cli_session_create(const struct cli_client *client, const json_t *options, struct cli_session *session,
		       json_t **object, struct inis_error *err);

/* Without --timeout a session may take this long to come up. */
#define CLI_READY_WAIT_MS 300000

/* Waits until the session is usable; a signal on interrupts (-1: none) ends the wait as a failure. */
int cli_session_await(const struct cli_client *client, const struct cli_session *session, inis_ms deadline,
		      int interrupts, struct inis_error *err);

int cli_session_destroy(const struct cli_client *client, const struct cli_session *session, struct inis_error *err);
/* The session as the server shows it, after a request on "/v1/sessions/ID" and rest; *object is the caller's. */
int cli_session_request(const struct cli_client *client, const char *method, const struct cli_session *session,
			const char *rest, json_t **object, struct inis_error *err);

/* A name that a process can have. */
int cli_process_name(const char *text, struct inis_error *err);

/* Options of a new session that several verbs share. */
struct cli_session_options {
	json_t *env, *labels; /* NULL when none */
	const char *name, *template, *size;
};

/* Takes --template, --size, --env and --label by their letters T, S, e and l; 1: it is none of these. */
int cli_session_take_option(struct cli_session_options *options, int option, struct inis_error *err);
/* The request body; NULL on failure. The options' objects stay the caller's. */
json_t *cli_session_body(const struct cli_session_options *options, struct inis_error *err);
void cli_session_options_free(struct cli_session_options *options);
#define cleanup_session_options __attribute__((cleanup(cli_session_options_free)))

#endif
