/* SPDX-License-Identifier: Apache-2.0
 *
 * start.c - `inis start`: a named process in the background of a session.
 */
#include <stdio.h>

#include "cli/options.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/verb.h"

static const char HELP[] =
	"inis start [OPTION]… SESSION NAME -- CMD [ARG]… - start a process in the background, under a name\n\n"
	"  --cwd DIR          where it runs (default /workspace)\n"
	"  --env NAME=VALUE   added to the session's environment; may be repeated\n"
	"  --timeout TIME     stop it after TIME (default: never)\n"
	"  --keep-alive       the session does not count as idle while it runs\n"
	"  --json             print the process object\n"
	"  --help\n\n"
	"It runs on when this program ends. `inis logs` shows its output, `inis wait` waits for its end, `inis ps`\n"
	"lists it, `inis kill` ends it. The name of one that has exited may be used again.\n\n"
	"A program that does not exist makes a process that has exited with 127; its log says why.\n\n"
	"Examples:\n"
	"  inis start \"$id\" web -- python3 -m http.server 8000\n"
	"  inis logs -f \"$id\" web\n";

struct start_options {
	const char *session, *name, *cwd;
	json_t *env;
	json_int_t timeout_ms;
	bool keep_alive;
	char *const *argv;
};

static json_t *request_body(const struct start_options *o, struct inis_error *err)
{
	json_t *body = json_pack("{s:s, s:[], s:s*, s:O*, s:b}", "name", o->name, "command", "cwd", o->cwd, "env",
				 o->env, "keep_alive", o->keep_alive);
	json_t *argv = json_object_get(body, "command");
	int rc = body ? 0 : -1;

	if (rc == 0 && o->timeout_ms)
		rc = json_object_set_new(body, "timeout_ms", json_integer(o->timeout_ms));
	for (char *const *arg = o->argv; rc == 0 && *arg; arg++)
		rc = json_array_append_new(argv, json_string(*arg));
	if (rc == 0)
		return body;
	json_decref(body);
	inis_fail(err, INIS_BAD_REQUEST, "the command is not UTF-8 text");
	return NULL;
}

static int check_extensions(const struct cli_client *client, const struct start_options *o, struct inis_error *err)
{
	if (o->env && cli_client_require(client, "process.env", err) < 0)
		return -1;
	return o->timeout_ms ? cli_client_require(client, "process.timeout", err) : 0;
}

static int start(const struct start_options *o, struct inis_error *err)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	struct cli_session session;
	json_t *body, *process = NULL;
	char path[128];
	int rc;

	if (cli_process_name(o->name, err) < 0 || cli_client_open(&client, err) < 0 ||
	    cli_session_find(&client, &session, o->session, err) < 0 || check_extensions(&client, o, err) < 0)
		return -1;
	body = request_body(o, err);
	snprintf(path, sizeof(path), "/v1/sessions/%s/processes", session.id);
	rc = body ? cli_request(&client, "POST", path, body, &process, err) : -1;
	json_decref(body);
	if (rc == 0 && cli_json)
		rc = cli_print_json(json_incref(process), err);
	json_decref(process);
	return rc;
}

static const struct option OPTIONS[] = {
	{"cwd", required_argument, NULL, 'C'},
	{"env", required_argument, NULL, 'e'},
	{"timeout", required_argument, NULL, 't'},
	{"keep-alive", no_argument, NULL, 'k'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int take_option(void *ctx, int option, struct inis_error *err)
{
	struct start_options *o = ctx;

	switch (option) {
	case 'C':
		o->cwd = optarg;
		return 0;
	case 'e':
		return cli_option_pair(&o->env, optarg, err);
	case 't':
		return cli_option_duration(optarg, &o->timeout_ms, err);
	default:
		o->keep_alive = true;
		return 0;
	}
}

/* Options may stand before and after each word. */
static int parse(int argc, char **argv, struct start_options *o)
{
	const struct {
		const char **word;
		const char *missing;
	} wanted[] = {{&o->session, "which session?"}, {&o->name, "which name is it to have?"}};
	int code;

	for (size_t i = 0; i < 2; i++) {
		code = cli_parse_words(&cli_verb_start, argc, argv, take_option, o, 1, argc, wanted[i].missing);
		if (code != CLI_GO_ON)
			return code;
		*wanted[i].word = argv[optind++];
	}
	code = cli_parse_words(&cli_verb_start, argc, argv, take_option, o, 1, argc, "which command? Put it after --");
	o->argv = argv + optind;
	return code;
}

static int run(int argc, char **argv)
{
	struct start_options o = {.name = NULL};
	struct inis_error err = INIS_ERROR_INIT;
	int code = parse(argc, argv, &o);

	if (code == CLI_GO_ON)
		code = start(&o, &err) < 0 ? cli_fail(&err) : 0;
	json_decref(o.env);
	return code;
}

const struct cli_verb cli_verb_start = {
	.name = "start",
	.summary = "start a process in the background of a session",
	.help = HELP,
	.run = run,
	.options = OPTIONS,
	.letters = "+he:",
	.words = (const char *const[]){"session", "name", "command", NULL},
};
