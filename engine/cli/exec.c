/* SPDX-License-Identifier: Apache-2.0
 *
 * exec.c - `inis exec`: one command in a session that exists.
 */
#include <getopt.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/verb.h"

static const char HELP[] =
	"inis exec [OPTION]… ID -- CMD [ARG]… - run one command in a session\n\n"
	"  --cwd DIR          where it runs (default /workspace)\n"
	"  --env NAME=VALUE   added to the session's environment; may be repeated\n"
	"  --timeout TIME     stop it after TIME: 90, 90s, 5m, 1500ms (default and most: 1h)\n"
	"  -n, --no-stdin     give the command an empty stdin and do not read ours\n"
	"  --help\n\n"
	"stdin, stdout, stderr and the exit code are those of `inis run`. Ctrl-C ends the command; the session stays.\n\n"
	"Examples:\n"
	"  inis exec \"$id\" -- ls -la\n"
	"  inis exec \"$id\" --cwd /tmp --env LANG=C -- sh -c 'sort > sorted' < words\n";

struct exec_options {
	const char *id;
	struct cli_command command;
	bool no_stdin;
};

static int exec_in(struct exec_options *options, struct inis_error *err)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	cleanup_buf struct inis_buf input = INIS_BUF_INIT(0);
	struct cli_session session;
	int interrupts;

	if (cli_session_id(&session, options->id, err) < 0)
		return -1;
	interrupts = cli_interrupts_open(err);
	if (interrupts < 0 || (!options->no_stdin && cli_input_read(&input, interrupts, err) < 0))
		return -1;
	if (cli_client_open(&client, err) < 0)
		return -1;
	return cli_command_run(&client, &session, &options->command, &input, interrupts, err);
}

/* Options up to the next word that is none: 0, the letter of an option that ends parsing, or -1. */
static int parse_options(int argc, char **argv, struct exec_options *options, struct inis_error *err)
{
	static const struct option known[] = {
		{"cwd", required_argument, NULL, 'C'},     {"env", required_argument, NULL, 'e'},
		{"timeout", required_argument, NULL, 't'}, {"no-stdin", no_argument, NULL, 'n'},
		{"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
	};
	int option, result = 0;

	while (result == 0 && (option = getopt_long(argc, argv, "+he:n", known, NULL)) != -1) {
		switch (option) {
		case 'C':
			options->command.cwd = optarg;
			break;
		case 'e':
			result = cli_option_pair(&options->command.env, optarg, err);
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
	return result;
}

/* Options may stand before and after the id. */
static int parse(int argc, char **argv, struct exec_options *options, struct inis_error *err)
{
	int result = parse_options(argc, argv, options, err);

	if (result != 0)
		return result;
	if (optind == argc)
		return inis_fail(err, INIS_BAD_REQUEST, "which session?");
	options->id = argv[optind++];
	result = parse_options(argc, argv, options, err);
	if (result != 0)
		return result;
	options->command.argv = argv + optind;
	return optind < argc ? 0 : inis_fail(err, INIS_BAD_REQUEST, "which command? Put it after --");
}

static int run(int argc, char **argv)
{
	struct exec_options options = {.command.timeout_ms = CLI_COMMAND_TIMEOUT_MS};
	struct inis_error err = INIS_ERROR_INIT;
	int code = parse(argc, argv, &options, &err);

	if (code == 'h') {
		code = cli_help(&cli_verb_exec);
	} else if (code != 0) {
		code = cli_usage(&cli_verb_exec, "%s", code < 0 ? err.message : "see the options");
	} else {
		code = exec_in(&options, &err);
		if (code < 0)
			code = cli_fail(&err);
	}
	json_decref(options.command.env);
	return code;
}

const struct cli_verb cli_verb_exec = {"exec", "run one command in a session that exists", HELP, run};
