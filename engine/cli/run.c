/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - `inis run`: one command in a session of its own that is destroyed in any case.
 */
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/verb.h"

static const char HELP[] =
	"inis run [OPTION]… -- CMD [ARG]… - run one command in a fresh session, then destroy the session\n\n"
	"  --template NAME    what the session starts from (default: the server's base)\n"
	"  --size SIZE        small, medium, large or xlarge\n"
	"  --env NAME=VALUE   environment of the command; may be repeated\n"
	"  --label KEY=VALUE  label of the session; may be repeated\n"
	"  --cwd DIR          where the command runs (default /workspace)\n"
	"  --timeout TIME     stop it after TIME: 90, 90s, 5m, 1500ms (default and most: 1h)\n"
	"  -n, --no-stdin     give the command an empty stdin and do not read ours\n"
	"  --json             print {\"event\": \"stdout\", \"data\": …} and so on, one object a line, at last \"exit\"\n"
	"  --help\n\n"
	"stdin that is not a terminal goes to the command as it comes, of any size. stdout and stderr come out\n"
	"apart and as they are written. CMD is run as it is: for a pipe or a variable, run sh -c. Ctrl-C ends the\n"
	"command and destroys the session.\n\n"
	"Exit code: the command's own; 124 after a timeout; 128+N when signal N ended it; 125 when inis failed.\n\n"
	"Examples:\n"
	"  inis run -- python3 -c 'print(6 * 7)'\n"
	"  inis run --timeout 10s -- sh -c 'echo to stdout; echo to stderr >&2; exit 3'\n"
	"  echo 'print(\"from stdin\")' | inis run -- python3 -\n";

struct run_options {
	struct cli_session_options session;
	struct cli_command command;
};

/* In a session that exists: waits for it, runs the command. */
static int run_in(const struct cli_client *client, const struct cli_session *session, const struct run_options *options,
		  int interrupts, struct inis_error *err)
{
	if (cli_session_await(client, session, inis_deadline_in(CLI_READY_WAIT_MS), interrupts, err) < 0)
		return -1;
	return cli_command_run(client, session, &options->command, interrupts, err);
}

static int run_once(struct run_options *options, struct inis_error *err)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	struct inis_error cleanup_error = INIS_ERROR_INIT;
	struct cli_session session;
	int interrupts, code;
	json_t *body;

	interrupts = cli_interrupts_open(err);
	if (interrupts < 0 || cli_client_open(&client, err) < 0)
		return -1;
	body = cli_session_body(&options->session, err);
	code = body ? cli_session_create(&client, body, &session, NULL, err) : -1;
	json_decref(body);
	if (code < 0)
		return -1;
	code = run_in(&client, &session, options, interrupts, err);
	if (cli_session_destroy(&client, &session, &cleanup_error) < 0)
		cli_say("session %s could not be destroyed: %s", session.id, cleanup_error.message);
	return code;
}

static const struct option OPTIONS[] = {
	{"template", required_argument, NULL, 'T'}, {"size", required_argument, NULL, 'S'},
	{"env", required_argument, NULL, 'e'},      {"label", required_argument, NULL, 'l'},
	{"cwd", required_argument, NULL, 'C'},      {"timeout", required_argument, NULL, 't'},
	{"no-stdin", no_argument, NULL, 'n'},       {"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0},
};

static int take_option(void *ctx, int option, struct inis_error *err)
{
	struct run_options *options = ctx;

	switch (option) {
	case 'C':
		options->command.cwd = optarg;
		return 0;
	case 't':
		return cli_option_duration(optarg, &options->command.timeout_ms, err);
	case 'n':
		options->command.no_stdin = true;
		return 0;
	default:
		return cli_session_take_option(&options->session, option, err);
	}
}

static int run(int argc, char **argv)
{
	struct run_options options = {.command.timeout_ms = CLI_COMMAND_TIMEOUT_MS};
	struct inis_error err = INIS_ERROR_INIT;
	int code = cli_parse_words(&cli_verb_run, argc, argv, take_option, &options, 1, argc,
				   "which command? Put it after --");

	if (code == CLI_GO_ON) {
		options.command.argv = argv + optind;
		code = run_once(&options, &err);
		if (code < 0)
			code = cli_fail(&err);
	}
	cli_session_options_free(&options.session);
	return code;
}

const struct cli_verb cli_verb_run = {
	.name = "run",
	.summary = "run one command in a fresh session, then destroy it",
	.help = HELP,
	.run = run,
	.options = OPTIONS,
	.letters = "+he:l:n",
	.words = (const char *const[]){"command", NULL},
	.runs_command = true,
};
