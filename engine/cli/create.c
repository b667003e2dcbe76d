/* SPDX-License-Identifier: Apache-2.0
 *
 * create.c - `inis create`: makes a session and prints its id.
 */
#include <getopt.h>
#include <stdio.h>

#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/session.h"
#include "cli/verb.h"

static const char HELP[] = "inis create [OPTION]… - make a session and print its id\n\n"
			   "  --name NAME        a name for people; unique among sessions that have not ended\n"
			   "  --template NAME    what it starts from (default: the server's base)\n"
			   "  --size SIZE        small, medium, large or xlarge\n"
			   "  --env NAME=VALUE   environment of everything that runs in it; may be repeated\n"
			   "  --label KEY=VALUE  for finding it again; may be repeated\n"
			   "  --help\n\n"
			   "The session lives until `inis rm` or its timers end it.\n\n"
			   "Examples:\n"
			   "  id=$(inis create --size medium --env STAGE=test)\n"
			   "  inis exec \"$id\" -- python3 -c 'print(6 * 7)'\n"
			   "  inis rm \"$id\"\n";

static int create(const struct cli_session_options *options, struct inis_error *err)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	struct cli_session session;
	json_t *body = NULL;
	int interrupts, result = -1;

	if (cli_client_open(&client, err) < 0 || (interrupts = cli_interrupts_open(err)) < 0)
		return -1;
	body = cli_session_body(options, err);
	if (body && cli_session_create(&client, body, &session, err) == 0) {
		result = cli_session_await(&client, &session, interrupts, err);
		if (result == 0)
			puts(session.id);
		else
			cli_session_destroy(&client, &session, NULL);
	}
	json_decref(body);
	return result;
}

static int run(int argc, char **argv)
{
	static const struct option known[] = {
		{"name", required_argument, NULL, 'N'},
		{"template", required_argument, NULL, 'T'},
		{"size", required_argument, NULL, 'S'},
		{"env", required_argument, NULL, 'e'},
		{"label", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	cleanup_session_options struct cli_session_options options = {0};
	struct inis_error err = INIS_ERROR_INIT;
	int option;

	while ((option = getopt_long(argc, argv, "he:l:", known, NULL)) != -1) {
		switch (option) {
		case 'N':
			options.name = optarg;
			break;
		case 'T':
			options.template = optarg;
			break;
		case 'S':
			options.size = optarg;
			break;
		case 'e':
		case 'l':
			if (cli_option_pair(option == 'e' ? &options.env : &options.labels, optarg, &err) < 0)
				return cli_usage(&cli_verb_create, "%s", err.message);
			break;
		case 'h':
			return cli_help(&cli_verb_create);
		default:
			return cli_usage(&cli_verb_create, "see the options");
		}
	}
	if (optind < argc)
		return cli_usage(&cli_verb_create, "\"%s\" is one argument too many", argv[optind]);
	return create(&options, &err) < 0 ? cli_fail(&err) : 0;
}

const struct cli_verb cli_verb_create = {"create", "make a session and print its id", HELP, run};
