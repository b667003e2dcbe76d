/* SPDX-License-Identifier: Apache-2.0
 *
 * ls.c - `inis ls`: lists sessions.
 */
#include <stdio.h>

#include "cli/output.h"
#include "cli/session.h"
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

static void print_table(const json_t *sessions)
{
	size_t index;
	json_t *session;

	printf("%-21s  %-9s  %-7s  %-20s  %s\n", "ID", "STATE", "SIZE", "CREATED", "NAME");
	json_array_foreach (sessions, index, session)
		printf("%-21s  %-9s  %-7s  %-.19s%s  %s\n", cli_member(session, "session_id", "?"),
		       cli_member(session, "state", "?"), cli_member(session, "size", "-"),
		       cli_member(session, "created_at", "-"), "Z", cli_member(session, "name", "-"));
}

static int list(const char *state, struct inis_error *err)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	json_t *sessions = json_array();
	int rc = cli_client_open(&client, err);

	if (rc == 0)
		rc = cli_session_list(&client, state, sessions, err);
	if (rc == 0 && cli_json)
		rc = cli_print_json(json_incref(sessions), err);
	else if (rc == 0)
		print_table(sessions);
	json_decref(sessions);
	return rc;
}

static const struct option OPTIONS[] = {
	{"state", required_argument, NULL, 's'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int take_option(void *ctx, int option, struct inis_error *err)
{
	(void)option;
	(void)err;
	*(const char **)ctx = optarg;
	return 0;
}

static int run(int argc, char **argv)
{
	struct inis_error err = INIS_ERROR_INIT;
	const char *state = "";
	int code = cli_parse_words(&cli_verb_ls, argc, argv, take_option, &state, 0, 0, NULL);

	if (code != CLI_GO_ON)
		return code;
	return list(state, &err) < 0 ? cli_fail(&err) : 0;
}

const struct cli_verb cli_verb_ls = {
	.name = "ls",
	.summary = "list sessions",
	.help = HELP,
	.run = run,
	.options = OPTIONS,
};
