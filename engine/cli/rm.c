/* SPDX-License-Identifier: Apache-2.0
 *
 * rm.c - `inis rm`: destroys sessions.
 */
#include <string.h>

#include "cli/session.h"
#include "cli/verb.h"

static const char HELP[] = "inis rm ID… - destroy sessions and all that runs in them\n\n"
			   "Every id is tried; the exit code is 125 when one could not be destroyed.\n\n"
			   "Examples:\n"
			   "  inis rm \"$id\"\n"
			   "  inis ls --json | jq -r '.[].session_id' | xargs -r inis rm\n";

static int run(int argc, char **argv)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	struct inis_error err = INIS_ERROR_INIT;
	struct cli_session session;
	int code = 0;

	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return cli_help(&cli_verb_rm);
	if (argc < 2)
		return cli_usage(&cli_verb_rm, "which session?");
	if (cli_client_open(&client, &err) < 0)
		return cli_fail(&err);
	for (int i = 1; i < argc; i++)
		if (cli_session_id(&session, argv[i], &err) < 0 || cli_session_destroy(&client, &session, &err) < 0)
			code = cli_fail(&err);
	return code;
}

const struct cli_verb cli_verb_rm = {"rm", "destroy sessions", HELP, run};
