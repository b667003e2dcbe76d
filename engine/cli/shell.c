/* SPDX-License-Identifier: Apache-2.0
 *
 * shell.c - `inis shell`: a login shell on our terminal, in a session that exists or in one for as long as it lasts.
 */
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/pty.h"
#include "cli/verb.h"

static const char HELP[] =
	"inis shell [OPTION]… [SESSION] - a shell on your terminal, in a session, by id or name, or in a fresh one\n\n"
	"  --cwd DIR          where it starts (default /workspace)\n"
	"  --name NAME        of a shell that goes on without us: the same again takes it over and shows it as it is\n"
	"  --help\n\n"
	"For a fresh session, which is destroyed when the shell ends:\n"
	"  --template NAME    what it starts from (default: the server's base)\n"
	"  --size SIZE        small, medium, large or xlarge\n"
	"  --env NAME=VALUE   its environment; may be repeated\n"
	"  --label KEY=VALUE  its label; may be repeated\n\n"
	"Every key goes to the shell, Ctrl-C too; `exit` or Ctrl-D leaves it. A connection that breaks hangs up\n"
	"what runs in it, but leaves a shell with a name.\n\n"
	"Exit code: the shell's own; 125 when inis failed.\n\n"
	"Examples:\n"
	"  inis shell\n"
	"  inis shell --cwd /tmp \"$id\"\n"
	"  inis shell --name main \"$id\"\n";

struct shell_options {
	struct cli_session_options session;
	struct cli_pty pty;
	const char *id; /* NULL: a fresh one */
};

static int in_fresh_session(const struct cli_client *client, struct shell_options *options, int interrupts,
			    struct inis_error *err)
{
	struct inis_error cleanup_error = INIS_ERROR_INIT;
	json_t *body = cli_session_body(&options->session, err);
	struct cli_session session;
	int code = body ? cli_session_create(client, body, &session, NULL, err) : -1;

	json_decref(body);
	if (code < 0)
		return -1;
	code = cli_session_await(client, &session, inis_deadline_in(CLI_READY_WAIT_MS), interrupts, err);
	if (code == 0)
		code = cli_pty_run(client, &session, &options->pty, interrupts, err);
	if (cli_session_destroy(client, &session, &cleanup_error) < 0)
		cli_say("session %s could not be destroyed: %s", session.id, cleanup_error.message);
	return code;
}

static int shell_in(struct shell_options *options, struct inis_error *err)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	struct cli_session session;
	int interrupts;

	interrupts = cli_interrupts_open(err);
	if (interrupts < 0 || cli_client_open(&client, err) < 0)
		return -1;
	if (!options->id)
		return in_fresh_session(&client, options, interrupts, err);
	if (cli_session_find(&client, &session, options->id, err) < 0)
		return -1;
	return cli_pty_run(&client, &session, &options->pty, interrupts, err);
}

static const struct option OPTIONS[] = {
	{"cwd", required_argument, NULL, 'C'},      {"name", required_argument, NULL, 'N'},
	{"template", required_argument, NULL, 'T'}, {"size", required_argument, NULL, 'S'},
	{"env", required_argument, NULL, 'e'},      {"label", required_argument, NULL, 'l'},
	{"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0},
};

static int take_option(void *ctx, int option, struct inis_error *err)
{
	struct shell_options *options = ctx;

	switch (option) {
	case 'C':
		options->pty.cwd = optarg;
		return 0;
	case 'N':
		options->pty.name = optarg;
		return 0;
	default:
		return cli_session_take_option(&options->session, option, err);
	}
}

static int parse(int argc, char **argv, struct shell_options *options)
{
	int code = cli_parse(&cli_verb_shell, argc, argv, take_option, options);

	if (code != CLI_GO_ON)
		return code;
	if (argc - optind > 1)
		return cli_usage(&cli_verb_shell, "one session at most; a command is run by `inis exec --tty`");
	options->id = argv[optind];
	if (!options->id && options->pty.name)
		return cli_usage(&cli_verb_shell, "--name is for a session that exists: a fresh one ends with us");
	if (options->id &&
	    (options->session.template || options->session.size || options->session.env || options->session.labels))
		return cli_usage(&cli_verb_shell, "the session exists: its options are for a fresh one only");
	return CLI_GO_ON;
}

static int run(int argc, char **argv)
{
	struct shell_options options = {.id = NULL};
	struct inis_error err = INIS_ERROR_INIT;
	int code = parse(argc, argv, &options);

	if (code == CLI_GO_ON) {
		code = shell_in(&options, &err);
		if (code < 0)
			code = cli_fail(&err);
	}
	cli_session_options_free(&options.session);
	return code;
}

const struct cli_verb cli_verb_shell = {
	.name = "shell",
	.summary = "a shell on your terminal, in a session",
	.help = HELP,
	.run = run,
	.options = OPTIONS,
	.letters = "he:l:",
	.words = (const char *const[]){"session", NULL},
	.runs_command = true,
};
