/* SPDX-License-Identifier: Apache-2.0
 *
 * shell.c - `inis shell`: a login shell on our terminal, in a session that exists or in one for as long as it lasts.
 */
#include <getopt.h>
#include <stdio.h>

#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/pty.h"
#include "cli/verb.h"

static const char HELP[] =
	"inis shell [OPTION]… [ID] - a shell on your terminal, in session ID or in a fresh one\n\n"
	"  --cwd DIR          where it starts (default /workspace)\n"
	"  --help\n\n"
	"For a fresh session, which is destroyed when the shell ends:\n"
	"  --template NAME    what it starts from (default: the server's base)\n"
	"  --size SIZE        small, medium, large or xlarge\n"
	"  --env NAME=VALUE   its environment; may be repeated\n"
	"  --label KEY=VALUE  its label; may be repeated\n\n"
	"Every key goes to the shell, Ctrl-C too; `exit` or Ctrl-D leaves it. A connection that breaks hangs up\n"
	"what runs in it.\n\n"
	"Exit code: the shell's own; 125 when inis failed.\n\n"
	"Examples:\n"
	"  inis shell\n"
	"  inis shell --cwd /tmp \"$id\"\n";

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
	int code = body ? cli_session_create(client, body, &session, err) : -1;

	json_decref(body);
	if (code < 0)
		return -1;
	code = cli_session_await(client, &session, interrupts, err);
	if (code == 0)
		code = cli_pty_run(client, &session, &options->pty, interrupts, err);
	if (cli_session_destroy(client, &session, &cleanup_error) < 0)
		fprintf(stderr, "inis: session %s could not be destroyed: %s\n", session.id, cleanup_error.message);
	return code;
}

static int shell_in(struct shell_options *options, struct inis_error *err)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	struct cli_session session;
	int interrupts;

	if (options->id && cli_session_id(&session, options->id, err) < 0)
		return -1;
	interrupts = cli_interrupts_open(err);
	if (interrupts < 0 || cli_client_open(&client, err) < 0)
		return -1;
	if (!options->id)
		return in_fresh_session(&client, options, interrupts, err);
	return cli_pty_run(&client, &session, &options->pty, interrupts, err);
}

static int take_option(int option, struct shell_options *options, struct inis_error *err)
{
	switch (option) {
	case 'C':
		options->pty.cwd = optarg;
		return 0;
	case 'T':
		options->session.template = optarg;
		return 0;
	case 'S':
		options->session.size = optarg;
		return 0;
	case 'e':
		return cli_option_pair(&options->session.env, optarg, err);
	case 'l':
		return cli_option_pair(&options->session.labels, optarg, err);
	default:
		return option;
	}
}

/* 0, the letter of an option that ends parsing, or -1. */
static int parse(int argc, char **argv, struct shell_options *options, struct inis_error *err)
{
	static const struct option known[] = {
		{"cwd", required_argument, NULL, 'C'},
		{"template", required_argument, NULL, 'T'},
		{"size", required_argument, NULL, 'S'},
		{"env", required_argument, NULL, 'e'},
		{"label", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, result = 0;

	while (result == 0 && (option = getopt_long(argc, argv, "he:l:", known, NULL)) != -1)
		result = take_option(option, options, err);
	if (result != 0)
		return result;
	if (argc - optind > 1)
		return inis_fail(err, INIS_BAD_REQUEST, "one session at most; a command is run by `inis exec --tty`");
	options->id = argv[optind];
	if (options->id &&
	    (options->session.template || options->session.size || options->session.env || options->session.labels))
		return inis_fail(err, INIS_BAD_REQUEST, "the session exists: its options are for a fresh one only");
	return 0;
}

static int run(int argc, char **argv)
{
	struct shell_options options = {.id = NULL};
	struct inis_error err = INIS_ERROR_INIT;
	int code = parse(argc, argv, &options, &err);

	if (code == 'h') {
		code = cli_help(&cli_verb_shell);
	} else if (code != 0) {
		code = cli_usage(&cli_verb_shell, "%s", code < 0 ? err.message : "see the options");
	} else {
		code = shell_in(&options, &err);
		if (code < 0)
			code = cli_fail(&err);
	}
	cli_session_options_free(&options.session);
	return code;
}

const struct cli_verb cli_verb_shell = {"shell", "a shell on your terminal, in a session", HELP, run};
