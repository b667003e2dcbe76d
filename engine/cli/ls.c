/* SPDX-License-Identifier: Apache-2.0
 *
 * ls.c - `inis ls`: lists sessions, page by page.
 */
#include <curl/curl.h>
#include <getopt.h>
#include <stdio.h>

#include "cli/client.h"
#include "cli/verb.h"

static const char HELP[] =
	"inis ls [OPTION]… - list sessions, newest first\n\n"
	"  --state STATE   only those in one state; \"ended\" shows what is remembered of ended ones\n"
	"  --json          print the session objects as one JSON array\n"
	"  --help\n\n"
	"Examples:\n"
	"  inis ls\n"
	"  inis ls --state ended\n"
	"  inis ls --json | jq -r '.[] | select(.labels.team == \"search\") | .session_id'\n";

static int fetch_page(const struct cli_client *client, const char *state, const char *cursor, json_t **page,
		      struct inis_error *err)
{
	char *state_text = curl_easy_escape(NULL, state, 0);
	char *cursor_text = curl_easy_escape(NULL, cursor, 0);
	char path[1024];
	int length;

	length = snprintf(path, sizeof(path), "/v1/sessions?limit=200%s%s%s%s", *state ? "&state=" : "", state_text,
			  *cursor ? "&cursor=" : "", cursor_text);
	curl_free(state_text);
	curl_free(cursor_text);
	if (length < 0 || (size_t)length >= sizeof(path))
		return inis_fail(err, INIS_BAD_REQUEST, "the state or the server's cursor is too long");
	return cli_request(client, "GET", path, NULL, page, err);
}

/* All sessions into the array; stops at an answer that has no further page. */
static int fetch_all(const struct cli_client *client, const char *state, json_t *sessions, struct inis_error *err)
{
	json_t *page = NULL;
	const char *cursor = "";

	while (cursor) {
		json_t *next;

		if (fetch_page(client, state, cursor, &next, err) < 0) {
			json_decref(page);
			return -1;
		}
		json_decref(page);
		page = next;
		json_array_extend(sessions, json_object_get(page, "sessions"));
		cursor = json_string_value(json_object_get(page, "next_cursor"));
	}
	json_decref(page);
	return 0;
}

static const char *text(const json_t *session, const char *member, const char *absent)
{
	const char *value = json_string_value(json_object_get(session, member));

	return value ? value : absent;
}

static void print_table(const json_t *sessions)
{
	size_t index;
	json_t *session;

	printf("%-21s  %-9s  %-7s  %-20s  %s\n", "ID", "STATE", "SIZE", "CREATED", "NAME");
	json_array_foreach (sessions, index, session)
		printf("%-21s  %-9s  %-7s  %-.19s%s  %s\n", text(session, "session_id", "?"),
		       text(session, "state", "?"), text(session, "size", "-"), text(session, "created_at", "-"), "Z",
		       text(session, "name", "-"));
}

static int list(const char *state, int json, struct inis_error *err)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	json_t *sessions = json_array();
	int result = cli_client_open(&client, err);

	if (result == 0)
		result = fetch_all(&client, state, sessions, err);
	if (result == 0 && json) {
		json_dumpf(sessions, stdout, JSON_INDENT(2));
		putchar('\n');
	} else if (result == 0) {
		print_table(sessions);
	}
	json_decref(sessions);
	return result;
}

static int run(int argc, char **argv)
{
	static const struct option known[] = {
		{"state", required_argument, NULL, 's'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct inis_error err = INIS_ERROR_INIT;
	const char *state = "";
	int option, json = 0;

	while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
		switch (option) {
		case 's':
			state = optarg;
			break;
		case 'j':
			json = 1;
			break;
		case 'h':
			return cli_help(&cli_verb_ls);
		default:
			return cli_usage(&cli_verb_ls, "see the options");
		}
	}
	if (optind < argc)
		return cli_usage(&cli_verb_ls, "\"%s\" is one argument too many", argv[optind]);
	return list(state, json, &err) < 0 ? cli_fail(&err) : 0;
}

const struct cli_verb cli_verb_ls = {"ls", "list sessions", HELP, run};
