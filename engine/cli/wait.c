/* SPDX-License-Identifier: Apache-2.0
 *
 * wait.c - `inis wait`: until a background process has exited.
 */
#include <stdio.h>

#include "cli/follow.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/verb.h"

static const char HELP[] =
	"inis wait [OPTION]… SESSION NAME - wait until a background process has exited, and exit as it did\n\n"
	"  --timeout TIME   wait at most TIME, then exit with 124 and leave it running\n"
	"  --json           print the process object\n"
	"  --help\n\n"
	"Exit code: the process's own, 124 when it or the wait has timed out, 125 when inis failed.\n\n"
	"Examples:\n"
	"  inis wait \"$id\" build && inis cp \"$id\":dist .\n"
	"  inis wait --timeout 5m \"$id\" build || inis logs --tail 20 \"$id\" build\n";

static int discard(void *ctx, int fd, const uint8_t *data, size_t n)
{
	(void)ctx;
	(void)fd;
	(void)data;
	(void)n;
	return 0;
}

static int result_of(const struct cli_client *client, const struct cli_session *session, const char *name,
		     struct inis_error *err)
{
	char rest[160];
	json_t *process;
	int code = -1;

	snprintf(rest, sizeof(rest), "/processes/%s?ended=true", name);
	if (cli_session_request(client, "GET", session, rest, &process, err) < 0)
		return -1;
	if (json_unpack(process, "{s:i}", "exit_code", &code) < 0)
		inis_fail(err, INIS_INTERNAL, "process \"%s\" has ended without an exit code", name);
	else if (cli_json && cli_print_json(json_incref(process), err) < 0)
		code = -1;
	json_decref(process);
	return code;
}

static int wait_for(const char *session_text, const char *name, json_int_t timeout_ms, struct inis_error *err)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	struct cli_session session;
	struct cli_follow follow = {.client = &client,
				    .session = &session,
				    .name = name,
				    /* Behind the end of any log: what was written before is of no interest. */
				    .from = {CLI_LOG_END, CLI_LOG_END},
				    .deadline = timeout_ms ? inis_deadline_in(timeout_ms) : INIS_NEVER,
				    .interrupts = cli_interrupts_open(err),
				    .output = discard};
	int rc;

	if (follow.interrupts < 0 || cli_process_name(name, err) < 0 || cli_client_open(&client, err) < 0 ||
	    cli_session_find_kept(&client, &session, session_text, err) < 0)
		return -1;
	rc = cli_follow(&follow, err);
	if (rc == CLI_FOLLOW_STOPPED)
		return cli_stopped(follow.interrupts);
	return rc < 0 ? -1 : result_of(&client, &session, name, err);
}

static const struct option OPTIONS[] = {
	{"timeout", required_argument, NULL, 't'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int take_option(void *ctx, int option, struct inis_error *err)
{
	(void)option;
	return cli_option_duration(optarg, ctx, err);
}

static int run(int argc, char **argv)
{
	struct inis_error err = INIS_ERROR_INIT;
	json_int_t timeout_ms = 0;
	int code = cli_parse_words(&cli_verb_wait, argc, argv, take_option, &timeout_ms, 2, 2,
				   "which session, which process?");

	if (code != CLI_GO_ON)
		return code;
	code = wait_for(argv[optind], argv[optind + 1], timeout_ms, &err);
	return code < 0 ? cli_fail(&err) : code;
}

const struct cli_verb cli_verb_wait = {
	.name = "wait",
	.summary = "wait for a background process, and exit as it did",
	.help = HELP,
	.run = run,
	.options = OPTIONS,
	.words = (const char *const[]){"session", "process", NULL},
	.runs_command = true,
};
