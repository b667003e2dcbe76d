/* SPDX-License-Identifier: Apache-2.0
 *
 * session.c - sessions as the verbs use them.
 */
#include "cli/session.h"

#include <stdio.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/pages.h"
#include "cli/verb.h"

#define POLL_MS   50
#define ID_LENGTH 21

int cli_session_id(struct cli_session *session, const char *text, struct inis_error *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	size_t length = strlen(text);

	if (length == 0 || length >= sizeof(session->id) || strspn(text, allowed) != length)
		return inis_fail(err, INIS_BAD_REQUEST, "\"%.64s\" is not a session id", text);
	memcpy(session->id, text, length + 1);
	return 0;
}

static int session_pages(const struct cli_client *client, const char *state, cli_page take, void *ctx,
			 struct inis_error *err)
{
	char *text = curl_easy_escape(NULL, state, 0);
	char path[1024];
	int length = snprintf(path, sizeof(path), "/v1/sessions?limit=200%s%s", *state ? "&state=" : "", text);

	curl_free(text);
	if (length < 0 || (size_t)length >= sizeof(path))
		return inis_fail(err, INIS_BAD_REQUEST, "the state is too long");
	return cli_pages(client, path, take, ctx, err);
}

static int append(void *sessions, const json_t *page, struct inis_error *err)
{
	(void)err;
	json_array_extend(sessions, json_object_get(page, "sessions"));
	return 0;
}

int cli_session_list(const struct cli_client *client, const char *state, json_t *sessions, struct inis_error *err)
{
	return session_pages(client, state, append, sessions, err);
}

static bool looks_like_id(const char *text)
{
	return strlen(text) == ID_LENGTH && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789") == ID_LENGTH;
}

struct search {
	const char *name;
	struct cli_session *session;
};

/* Pages come the newest first. */
static int look_for_name(void *ctx, const json_t *page, struct inis_error *err)
{
	const struct search *search = ctx;
	const json_t *one;
	size_t index;

	json_array_foreach (json_object_get(page, "sessions"), index, one)
		if (strcmp(cli_member(one, "name", ""), search->name) == 0)
			return cli_session_id(search->session, cli_member(one, "session_id", ""), err) < 0 ? -1 : 1;
	return 0;
}

static int find(const struct cli_client *client, struct cli_session *session, const char *text, bool ended,
		struct inis_error *err)
{
	struct search search = {text, session};
	int found;

	if (looks_like_id(text))
		return cli_session_id(session, text, err);
	found = session_pages(client, "", look_for_name, &search, err);
	if (found == 0 && ended)
		found = session_pages(client, "ended", look_for_name, &search, err);
	if (found == 0)
		return inis_fail(err, INIS_NOT_FOUND, "no session has the id or name \"%.128s\"", text);
	return found < 0 ? -1 : 0;
}

int cli_session_find(const struct cli_client *client, struct cli_session *session, const char *text,
		     struct inis_error *err)
{
	return find(client, session, text, false, err);
}

int cli_session_find_kept(const struct cli_client *client, struct cli_session *session, const char *text,
			  struct inis_error *err)
{
	return find(client, session, text, true, err);
}

int cli_session_create(const struct cli_client *client, const json_t *options, struct cli_session *session,
		       json_t **object, struct inis_error *err)
{
	json_t *reply;
	const char *id;
	int result;

	if (cli_request(client, "POST", "/v1/sessions", options, &reply, err) < 0)
		return -1;
	id = json_string_value(json_object_get(reply, "session_id"));
	result = cli_session_id(session, id ? id : "", err);
	if (object && result == 0)
		*object = json_incref(reply);
	json_decref(reply);
	return result;
}

int cli_session_request(const struct cli_client *client, const char *method, const struct cli_session *session,
			const char *rest, json_t **object, struct inis_error *err)
{
	char path[512];

	snprintf(path, sizeof(path), "/v1/sessions/%s%s", session->id, rest);
	return cli_request(client, method, path, NULL, object, err);
}

int cli_process_name(const char *text, struct inis_error *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t length = strlen(text);

	if (length == 0 || length > 64 || strspn(text, allowed) != length)
		return inis_fail(err, INIS_BAD_REQUEST,
				 "\"%.64s\" is no name of a process: 1 to 64 of A-Z a-z 0-9 . _ -", text);
	return 0;
}

/* 1 ready, 0 still creating, -1 failed. */
static int look(const struct cli_client *client, const struct cli_session *session, struct inis_error *err)
{
	const char *state = NULL, *reason = NULL;
	json_t *reply;
	int result;

	if (cli_session_request(client, "GET", session, "", &reply, err) < 0)
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

int cli_session_await(const struct cli_client *client, const struct cli_session *session, inis_ms deadline,
		      int interrupts, struct inis_error *err)
{
	int ready;

	while ((ready = look(client, session, err)) == 0) {
		if (cli_interrupted(interrupts, POLL_MS) > 0)
			return inis_fail(err, INIS_UNAVAILABLE, "interrupted");
		if (inis_now_ms() >= deadline)
			return cli_fail_late(err, "session %s was not ready in time", session->id);
	}
	return ready < 0 ? -1 : 0;
}

int cli_session_destroy(const struct cli_client *client, const struct cli_session *session, struct inis_error *err)
{
	return cli_session_request(client, "DELETE", session, "", NULL, err);
}

int cli_session_take_option(struct cli_session_options *options, int option, struct inis_error *err)
{
	switch (option) {
	case 'T':
		options->template = optarg;
		return 0;
	case 'S':
		options->size = optarg;
		return 0;
	case 'e':
		return cli_option_pair(&options->env, optarg, err);
	case 'l':
		return cli_option_pair(&options->labels, optarg, err);
	default:
		return 1;
	}
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
