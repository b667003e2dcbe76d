/* SPDX-License-Identifier: Apache-2.0
 *
 * exec.c - `inis exec`: one command in a session that exists.
 */
#include <getopt.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/pty.h"
#include "cli/verb.h"

static const char HELP[] =
	"inis exec [OPTION]… ID -- CMD [ARG]… - run one command in a session\n\n"
	"  --cwd DIR          where it runs (default /workspace)\n"
	"  --env NAME=VALUE   added to the session's environment; may be repeated\n"
	"  --timeout TIME     stop it after TIME: 90, 90s, 5m, 1500ms (default and most: 1h)\n"
	"  -t, --tty          on a terminal, joined to yours: for editors, debuggers and other programs that want one\n"
	"  -n, --no-stdin     give the command an empty stdin and do not read ours\n"
	"  --help\n\n"
	"stdin, stdout, stderr and the exit code are those of `inis run`. Ctrl-C ends the command; the session stays.\n"
	"With --tty stdout and stderr are one stream, every key goes to the command, and there is no --timeout.\n\n"
	"Examples:\n"
	"  inis exec \"$id\" -- ls -la\n"
	"  inis exec --tty \"$id\" -- vim notes.md\n"
	"  inis exec \"$id\" --cwd /tmp --env LANG=C -- sh -c 'sort > sorted' < words\n";

struct exec_options {
	const char *id;
	struct cli_command command;
	bool no_stdin;
	bool tty;
	bool limited; /* --timeout was given */
};

static int exec_on_terminal(const struct cli_client *client, const struct cli_session *session,
			    const struct exec_options *options, int interrupts, struct inis_error *err)
{
	const struct cli_pty pty = {.argv = options->command.argv,
				    .cwd = options->command.cwd,
				    .env = options->command.env,
				    .no_stdin = options->no_stdin};

	return cli_pty_run(client, session, &pty, interrupts, err);
}

static int exec_in(struct exec_options *options, struct inis_error *err)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	cleanup_buf struct inis_buf input = INIS_BUF_INIT(0);
	struct cli_session session;
	int interrupts;

	if (cli_session_id(&session, options->id, err) < 0)
		return -1;
	interrupts = cli_interrupts_open(err);
	if (interrupts < 0 || (!options->no_stdin && !options->tty && cli_input_read(&input, interrupts, err) < 0))
		return -1;
	if (cli_client_open(&client, err) < 0)
		return -1;
	if (options->tty)
		return exec_on_terminal(&client, &session, options, interrupts, err);
	return cli_command_run(&client, &session, &options->command, &input, interrupts, err);
}

/* Options up to the next word that is none: 0, the letter of an option that ends parsing, or -1. */
static int parse_options(int argc, char **argv, struct exec_options *options, struct inis_error *err)
{
	static const struct option known[] = {
		{"cwd", required_argument, NULL, 'C'},
		{"env", required_argument, NULL, 'e'},
		{"timeout", required_argument, NULL, 'L'},
		{"no-stdin", no_argument, NULL, 'n'},
		{"tty", no_argument, NULL, 't'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, result = 0;

	while (result == 0 && (option = getopt_long(argc, argv, "+he:nt", known, NULL)) != -1) {
		switch (option) {
		case 'C':
			options->command.cwd = optarg;
			break;
		case 'e':
			result = cli_option_pair(&options->command.env, optarg, err);
			break;
		case 'L':
			options->limited = true;
			result = cli_option_duration(optarg, &options->command.timeout_ms, err);
			break;
		case 't':
			options->tty = true;
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
	if (options->tty && options->limited)
		return inis_fail(err, INIS_BAD_REQUEST, "a command on a terminal has no --timeout");
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
