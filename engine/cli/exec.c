/* SPDX-License-Identifier: Apache-2.0
 *
 * exec.c - `inis exec`: one command in a session that exists.
 */
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/pty.h"
#include "cli/verb.h"

static const char HELP[] =
	"inis exec [OPTION]… SESSION -- CMD [ARG]… - run one command in a session, given by id or name\n\n"
	"  --cwd DIR          where it runs (default /workspace)\n"
	"  --env NAME=VALUE   added to the session's environment; may be repeated\n"
	"  --timeout TIME     stop it after TIME: 90, 90s, 5m, 1500ms (default and most: 1h)\n"
	"  -t, --tty          on a terminal, joined to yours: for editors, debuggers and other programs that want one\n"
	"  --name NAME        with --tty: it goes on without us; the same again, or `inis shell --name`, takes it over\n"
	"  -n, --no-stdin     give the command an empty stdin and do not read ours\n"
	"  --json             print {\"event\": \"stdout\", \"data\": …} and so on, one object a line, at last \"exit\"\n"
	"  --help\n\n"
	"stdin, stdout, stderr and the exit code are those of `inis run`. Ctrl-C ends the command; the session stays.\n"
	"With --tty stdout and stderr are one stream, every key goes to the command, and there is no --timeout.\n\n"
	"Examples:\n"
	"  inis exec \"$id\" -- ls -la\n"
	"  inis exec --tty \"$id\" -- vim notes.md\n"
	"  inis exec \"$id\" --cwd /tmp --env LANG=C -- sh -c 'sort > sorted' < words\n";

struct exec_options {
	const char *session;
	const char *name; /* of the terminal, or NULL */
	struct cli_command command;
	bool tty;
	bool limited; /* --timeout was given */
};

static int exec_on_terminal(const struct cli_client *client, const struct cli_session *session,
			    const struct exec_options *options, int interrupts, struct inis_error *err)
{
	const struct cli_pty pty = {.name = options->name,
				    .argv = options->command.argv,
				    .cwd = options->command.cwd,
				    .env = options->command.env,
				    .no_stdin = options->command.no_stdin};

	return cli_pty_run(client, session, &pty, interrupts, err);
}

static int exec_in(struct exec_options *options, struct inis_error *err)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	struct cli_session session;
	int interrupts = cli_interrupts_open(err);

	if (interrupts < 0 || cli_client_open(&client, err) < 0 ||
	    cli_session_find(&client, &session, options->session, err) < 0)
		return -1;
	if (options->tty)
		return exec_on_terminal(&client, &session, options, interrupts, err);
	return cli_command_run(&client, &session, &options->command, interrupts, err);
}

static const struct option OPTIONS[] = {
	{"cwd", required_argument, NULL, 'C'},
	{"env", required_argument, NULL, 'e'},
	{"timeout", required_argument, NULL, 'L'},
	{"name", required_argument, NULL, 'N'},
	{"tty", no_argument, NULL, 't'},
	{"no-stdin", no_argument, NULL, 'n'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int take_option(void *ctx, int option, struct inis_error *err)
{
	struct exec_options *options = ctx;

	switch (option) {
	case 'C':
		options->command.cwd = optarg;
		return 0;
	case 'e':
		return cli_option_pair(&options->command.env, optarg, err);
	case 'L':
		options->limited = true;
		return cli_option_duration(optarg, &options->command.timeout_ms, err);
	case 'N':
		options->name = optarg;
		return 0;
	case 't':
		options->tty = true;
		return 0;
	default:
		options->command.no_stdin = true;
		return 0;
	}
}

/* Options may stand before and after the session. */
static int parse(int argc, char **argv, struct exec_options *options)
{
	int code = cli_parse_words(&cli_verb_exec, argc, argv, take_option, options, 1, argc, "which session?");

	if (code != CLI_GO_ON)
		return code;
	options->session = argv[optind++];
	code = cli_parse_words(&cli_verb_exec, argc, argv, take_option, options, 1, argc,
			       "which command? Put it after --");
	if (code != CLI_GO_ON)
		return code;
	options->command.argv = argv + optind;
	if (options->tty && options->limited)
		return cli_usage(&cli_verb_exec, "a command on a terminal has no --timeout");
	if (options->name && !options->tty)
		return cli_usage(&cli_verb_exec, "--name is for a command on a terminal: --tty");
	if (options->tty && cli_json)
		return cli_usage(&cli_verb_exec, "a command on a terminal has no --json");
	return CLI_GO_ON;
}

static int run(int argc, char **argv)
{
	struct exec_options options = {.command.timeout_ms = CLI_COMMAND_TIMEOUT_MS};
	struct inis_error err = INIS_ERROR_INIT;
	int code = parse(argc, argv, &options);

	if (code == CLI_GO_ON) {
		code = exec_in(&options, &err);
		if (code < 0)
			code = cli_fail(&err);
	}
	json_decref(options.command.env);
	return code;
}

const struct cli_verb cli_verb_exec = {
	.name = "exec",
	.summary = "run one command in a session that exists",
	.help = HELP,
	.run = run,
	.options = OPTIONS,
	.letters = "+he:nt",
	.words = (const char *const[]){"session", "command", NULL},
	.runs_command = true,
};
