/* SPDX-License-Identifier: Apache-2.0
 *
 * session.c - sessions as the verbs use them.
 */
#include "cli/session.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/interrupt.h"

#define READY_WAIT_MS 300000
#define POLL_MS       50

int cli_session_id(struct cli_session *session, const char *text, struct inis_error *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	size_t length = strlen(text);

	if (length == 0 || length >= sizeof(session->id) || strspn(text, allowed) != length)
		return inis_fail(err, INIS_BAD_REQUEST, "\"%.64s\" is not a session id", text);
	memcpy(session->id, text, length + 1);
	return 0;
}

int cli_session_create(const struct cli_client *client, const json_t *options, struct cli_session *session,
		       struct inis_error *err)
{
	json_t *reply;
	const char *id;
	int result;

	if (cli_request(client, "POST", "/v1/sessions", options, &reply, err) < 0)
		return -1;
	id = json_string_value(json_object_get(reply, "session_id"));
	result = cli_session_id(session, id ? id : "", err);
	json_decref(reply);
	return result;
}

/* 1 ready, 0 still creating, -1 failed. */
static int look(const struct cli_client *client, const struct cli_session *session, struct inis_error *err)
{
	const char *state = NULL, *reason = NULL;
	json_t *reply;
	char path[128];
	int result;

	snprintf(path, sizeof(path), "/v1/sessions/%s", session->id);
	if (cli_request(client, "GET", path, NULL, &reply, err) < 0)
		return -1;
	json_unpack(reply, "{s?s, s?s}", "state", &state, "status_reason", &reason);
	if (state && strcmp(state, "failed") == 0)
		result = inis_fail(err, INIS_UNAVAILABLE, "the session could not be made: %s",
				   reason ? reason : "provisioning failed");
	else
		result = !state || strcmp(state, "creating") != 0;
	json_decref(reply);
	return result;
}

int cli_session_await(const struct cli_client *client, const struct cli_session *session, int interrupts,
		      struct inis_error *err)
{
	inis_ms deadline = inis_deadline_in(READY_WAIT_MS);
	int ready;

	while ((ready = look(client, session, err)) == 0) {
		if (cli_interrupted(interrupts, POLL_MS) > 0)
			return inis_fail(err, INIS_UNAVAILABLE, "interrupted");
		if (inis_now_ms() >= deadline)
			return inis_fail(err, INIS_UNAVAILABLE, "session %s was not ready in %d s", session->id,
					 READY_WAIT_MS / 1000);
	}
	return ready < 0 ? -1 : 0;
}

int cli_session_destroy(const struct cli_client *client, const struct cli_session *session, struct inis_error *err)
{
	char path[128];

	snprintf(path, sizeof(path), "/v1/sessions/%s", session->id);
	return cli_request(client, "DELETE", path, NULL, NULL, err);
}

json_t *cli_session_body(const struct cli_session_options *options, struct inis_error *err)
{
	json_t *body = json_pack("{s:s*, s:s*, s:s*, s:O*, s:O*}", "name", options->name, "template", options->template,
				 "size", options->size, "env", options->env, "labels", options->labels);

	if (!body)
		inis_fail(err, INIS_BAD_REQUEST, "an option is not UTF-8 text");
	return body;
}

void cli_session_options_free(struct cli_session_options *options)
{
	json_decref(options->env);
	json_decref(options->labels);
}
