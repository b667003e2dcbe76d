/* SPDX-License-Identifier: Apache-2.0
 *
 * rm.c - `inis rm`: destroys sessions.
 */
#include "cli/session.h"
#include "cli/verb.h"

static const char HELP[] =
	"inis rm SESSION… - destroy sessions, given by id or name, and all that runs in them\n\n"
	"  --json   report errors as JSON\n"
	"  --help\n\n"
	"Each is tried; the exit code is that of the first which could not be destroyed, 3 for one that does\n"
	"not exist (any more).\n\n"
	"Examples:\n"
	"  inis rm \"$id\"\n"
	"  inis ls --json | jq -r '.[].session_id' | xargs -r inis rm\n";

static const struct option OPTIONS[] = {
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int run(int argc, char **argv)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	struct inis_error err = INIS_ERROR_INIT;
	struct cli_session session;
	int code = cli_parse_words(&cli_verb_rm, argc, argv, NULL, NULL, 1, argc, "which session?");
	int failed;

	if (code != CLI_GO_ON)
		return code;
	if (cli_client_open(&client, &err) < 0)
		return cli_fail(&err);
	code = 0;
	for (int i = optind; i < argc; i++) {
		if (cli_session_find(&client, &session, argv[i], &err) == 0 &&
		    cli_session_destroy(&client, &session, &err) == 0)
			continue;
		failed = cli_fail(&err);
		code = code ? code : failed;
	}
	return code;
}

const struct cli_verb cli_verb_rm = {
	.name = "rm",
	.summary = "destroy sessions",
	.help = HELP,
	.run = run,
	.options = OPTIONS,
	.words = (const char *const[]){"session…", NULL},
};
