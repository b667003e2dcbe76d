/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - `inis run`: one command in a session of its own that is destroyed in any case.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/options.h"
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
	"  --help\n\n"
	"stdin that is not a terminal is read to its end, up to 4 MiB, and given to the command. stdout and\n"
	"stderr come out apart and as they are written. CMD is run as it is: for a pipe or a variable, run sh -c.\n"
	"Ctrl-C ends the command and destroys the session.\n\n"
	"Exit code: the command's own; 124 after a timeout; 128+N when signal N ended it; 125 when inis failed.\n\n"
	"Examples:\n"
	"  inis run -- python3 -c 'print(6 * 7)'\n"
	"  inis run --timeout 10s -- sh -c 'echo to stdout; echo to stderr >&2; exit 3'\n"
	"  echo 'print(\"from stdin\")' | inis run -- python3 -\n";

struct run_options {
	struct cli_session_options session;
	struct cli_command command;
	bool no_stdin;
};

/* In a session that exists: waits for it, runs the command. */
static int run_in(const struct cli_client *client, const struct cli_session *session, const struct run_options *options,
		  const struct inis_buf *input, int interrupts, struct inis_error *err)
{
	if (cli_session_await(client, session, interrupts, err) < 0)
		return -1;
	return cli_command_run(client, session, &options->command, input, interrupts, err);
}

static int run_once(struct run_options *options, struct inis_error *err)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	cleanup_buf struct inis_buf input = INIS_BUF_INIT(0);
	struct inis_error cleanup_error = INIS_ERROR_INIT;
	struct cli_session session;
	int interrupts, code;
	json_t *body;

	interrupts = cli_interrupts_open(err);
	if (interrupts < 0 || (!options->no_stdin && cli_input_read(&input, interrupts, err) < 0))
		return -1;
	if (cli_client_open(&client, err) < 0)
		return -1;
	body = cli_session_body(&options->session, err);
	code = body ? cli_session_create(&client, body, &session, err) : -1;
	json_decref(body);
	if (code < 0)
		return -1;
	code = run_in(&client, &session, options, &input, interrupts, err);
	if (cli_session_destroy(&client, &session, &cleanup_error) < 0)
		fprintf(stderr, "inis: session %s could not be destroyed: %s\n", session.id, cleanup_error.message);
	return code;
}

/* 0, the letter of an option that ends parsing, or -1. */
static int parse(int argc, char **argv, struct run_options *options, struct inis_error *err)
{
	static const struct option known[] = {
		{"template", required_argument, NULL, 'T'},
		{"size", required_argument, NULL, 'S'},
		{"env", required_argument, NULL, 'e'},
		{"label", required_argument, NULL, 'l'},
		{"cwd", required_argument, NULL, 'C'},
		{"timeout", required_argument, NULL, 't'},
		{"no-stdin", no_argument, NULL, 'n'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, result = 0;

	while (result == 0 && (option = getopt_long(argc, argv, "+he:l:n", known, NULL)) != -1) {
		switch (option) {
		case 'T':
			options->session.template = optarg;
			break;
		case 'S':
			options->session.size = optarg;
			break;
		case 'e':
			result = cli_option_pair(&options->session.env, optarg, err);
			break;
		case 'l':
			result = cli_option_pair(&options->session.labels, optarg, err);
			break;
		case 'C':
			options->command.cwd = optarg;
			break;
		case 't':
			result = cli_option_duration(optarg, &options->command.timeout_ms, err);
			break;
		case 'n':
			options->no_stdin = true;
			break;
		default:
			return option;
		}
	}
	if (result == 0 && optind == argc)
		return inis_fail(err, INIS_BAD_REQUEST, "which command? Put it after --");
	options->command.argv = argv + optind;
	return result;
}

static int run(int argc, char **argv)
{
	struct run_options options = {.command.timeout_ms = CLI_COMMAND_TIMEOUT_MS};
	struct inis_error err = INIS_ERROR_INIT;
	int code = parse(argc, argv, &options, &err);

	if (code == 'h') {
		code = cli_help(&cli_verb_run);
	} else if (code != 0) {
		code = cli_usage(&cli_verb_run, "%s", code < 0 ? err.message : "see the options");
	} else {
		code = run_once(&options, &err);
		if (code < 0)
			code = cli_fail(&err);
	}
	cli_session_options_free(&options.session);
	return code;
}

const struct cli_verb cli_verb_run = {"run", "run one command in a fresh session, then destroy it", HELP, run};
