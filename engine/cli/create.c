/* SPDX-License-Identifier: Apache-2.0
 *
 * create.c - `inis create`: makes a session and prints its id.
 */
#include <stdio.h>

#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/verb.h"

static const char HELP[] =
	"inis create [OPTION]… - make a session and print its id\n\n"
	"  --name NAME        a name for people, and for SESSION of other verbs; unique among sessions that have not\n"
	"                     ended\n"
	"  --template NAME    what it starts from (default: the server's base)\n"
	"  --size SIZE        small, medium, large or xlarge\n"
	"  --env NAME=VALUE   environment of everything that runs in it; may be repeated\n"
	"  --label KEY=VALUE  for finding it again; may be repeated\n"
	"  --wait             until it can be used: the default\n"
	"  --no-wait          print the id of a session that may still be coming up\n"
	"  --timeout TIME     wait at most TIME (default 5m), then destroy it and exit with 124\n"
	"  --json             print the session object\n"
	"  --help\n\n"
	"The session lives until `inis rm` or its timers end it.\n\n"
	"Examples:\n"
	"  id=$(inis create --size medium --env STAGE=test)\n"
	"  inis exec \"$id\" -- python3 -c 'print(6 * 7)'\n"
	"  inis rm \"$id\"\n";

struct create_options {
	struct cli_session_options session;
	bool no_wait;
	json_int_t timeout_ms;
};

/* Brings the object up to date. */
static int wait_for(const struct cli_client *client, const struct cli_session *session, json_int_t timeout_ms,
		    json_t **object, struct inis_error *err)
{
	int interrupts = cli_interrupts_open(err);

	if (interrupts < 0 || cli_session_await(client, session, inis_deadline_in(timeout_ms), interrupts, err) < 0)
		return -1;
	json_decref(*object);
	*object = NULL;
	return cli_session_request(client, "GET", session, "", object, err);
}

static int create(const struct create_options *options, struct inis_error *err)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	struct cli_session session;
	json_t *body, *object = NULL;
	int rc;

	if (cli_client_open(&client, err) < 0)
		return -1;
	body = cli_session_body(&options->session, err);
	rc = body ? cli_session_create(&client, body, &session, &object, err) : -1;
	json_decref(body);
	if (rc < 0)
		return -1;
	if (!options->no_wait)
		rc = wait_for(&client, &session, options->timeout_ms, &object, err);
	if (rc < 0)
		cli_session_destroy(&client, &session, NULL);
	else if (cli_json)
		rc = cli_print_json(json_incref(object), err);
	else
		puts(session.id);
	json_decref(object);
	return rc;
}

static const struct option OPTIONS[] = {
	{"name", required_argument, NULL, 'N'},
	{"template", required_argument, NULL, 'T'},
	{"size", required_argument, NULL, 'S'},
	{"env", required_argument, NULL, 'e'},
	{"label", required_argument, NULL, 'l'},
	{"wait", no_argument, NULL, 'w'},
	{"no-wait", no_argument, NULL, 'W'},
	{"timeout", required_argument, NULL, 't'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int take_option(void *ctx, int option, struct inis_error *err)
{
	struct create_options *options = ctx;

	switch (option) {
	case 'N':
		options->session.name = optarg;
		return 0;
	case 't':
		return cli_option_duration(optarg, &options->timeout_ms, err);
	case 'w':
	case 'W':
		options->no_wait = option == 'W';
		return 0;
	default:
		return cli_session_take_option(&options->session, option, err);
	}
}

static int run(int argc, char **argv)
{
	struct create_options options = {.timeout_ms = CLI_READY_WAIT_MS};
	struct inis_error err = INIS_ERROR_INIT;
	int code = cli_parse_words(&cli_verb_create, argc, argv, take_option, &options, 0, 0, NULL);

	if (code == CLI_GO_ON)
		code = create(&options, &err) < 0 ? cli_fail(&err) : 0;
	cli_session_options_free(&options.session);
	return code;
}

const struct cli_verb cli_verb_create = {
	.name = "create",
	.summary = "make a session and print its id",
	.help = HELP,
	.run = run,
	.options = OPTIONS,
	.letters = "he:l:",
};
