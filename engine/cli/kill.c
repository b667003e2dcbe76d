/* SPDX-License-Identifier: Apache-2.0
 *
 * kill.c - `inis kill`: ends a background process.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/options.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/verb.h"

static const char HELP[] = "inis kill [OPTION]… SESSION NAME - end a background process and all that it has started\n\n"
			   "  --grace TIME   between SIGTERM and the kill (default 5s, at most 1m); 0 kills at once\n"
			   "  --json         print the process object\n"
			   "  --help\n\n"
			   "Returns when it has exited. One that had exited before is no error.\n\n"
			   "Examples:\n"
			   "  inis kill \"$id\" web\n"
			   "  inis kill --grace 0 \"$id\" stuck\n";

#define GRACE_MAX_MS 60000

static int end_process(const char *session_text, const char *name, json_int_t grace_ms, struct inis_error *err)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	struct cli_session session;
	char rest[192];
	json_t *process;
	int n, rc = 0;

	if (cli_process_name(name, err) < 0 || cli_client_open(&client, err) < 0 ||
	    cli_session_find(&client, &session, session_text, err) < 0)
		return -1;
	n = snprintf(rest, sizeof(rest), "/processes/%s", name);
	if (grace_ms >= 0) {
		if (cli_client_require(&client, "process.kill", err) < 0)
			return -1;
		snprintf(rest + n, sizeof(rest) - (size_t)n, "?grace_ms=%" JSON_INTEGER_FORMAT, grace_ms);
	}
	if (cli_session_request(&client, "DELETE", &session, rest, &process, err) < 0)
		return -1;
	if (cli_json)
		rc = cli_print_json(json_incref(process), err);
	else if (json_is_false(json_object_get(process, "killed")))
		cli_say("\"%s\" had exited before, with %" JSON_INTEGER_FORMAT, name,
			json_integer_value(json_object_get(process, "exit_code")));
	json_decref(process);
	return rc;
}

static const struct option OPTIONS[] = {
	{"grace", required_argument, NULL, 'g'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int take_option(void *ctx, int option, struct inis_error *err)
{
	json_int_t *grace_ms = ctx;

	(void)option;
	if (cli_option_duration_or_zero(optarg, grace_ms, err) < 0)
		return -1;
	return *grace_ms <= GRACE_MAX_MS ? 0 : inis_fail(err, INIS_BAD_REQUEST, "--grace is at most 1m");
}

static int run(int argc, char **argv)
{
	struct inis_error err = INIS_ERROR_INIT;
	json_int_t grace_ms = -1;
	int code = cli_parse_words(&cli_verb_kill, argc, argv, take_option, &grace_ms, 2, 2,
				   "which session, which process?");

	if (code != CLI_GO_ON)
		return code;
	return end_process(argv[optind], argv[optind + 1], grace_ms, &err) < 0 ? cli_fail(&err) : 0;
}

const struct cli_verb cli_verb_kill = {
	.name = "kill",
	.summary = "end a background process",
	.help = HELP,
	.run = run,
	.options = OPTIONS,
	.words = (const char *const[]){"session", "process", NULL},
};
