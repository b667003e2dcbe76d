/* SPDX-License-Identifier: Apache-2.0
 *
 * pause.c - `inis pause` and `inis resume`.
 */
#include "cli/output.h"
#include "cli/session.h"
#include "cli/verb.h"

static const char PAUSE_HELP[] =
	"inis pause SESSION… - freeze sessions where they are\n\n"
	"  --json   print the session objects as one JSON array\n"
	"  --help\n\n"
	"Processes, memory and open connections stay; no processor time is used. The next operation on a session\n"
	"wakes it, as `inis resume` does.\n\n"
	"Examples:\n"
	"  inis pause \"$id\"\n"
	"  inis ls --state paused\n";

static const char RESUME_HELP[] = "inis resume SESSION… - wake sessions that are paused\n\n"
				  "  --json   print the session objects as one JSON array\n"
				  "  --help\n\n"
				  "What was running goes on where it was. One that is not paused is left as it is.\n\n"
				  "Examples:\n"
				  "  inis resume \"$id\"\n";

static const struct option OPTIONS[] = {
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* Every session is tried; the exit code is that of the first failure. */
static int ask_each(const char *what, int count, char **words)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	struct inis_error err = INIS_ERROR_INIT;
	json_t *all = json_array();
	struct cli_session session;
	int code = cli_client_open(&client, &err) < 0 ? cli_fail(&err) : 0;

	for (int i = 0; client.target.base_url && i < count; i++) {
		json_t *object = NULL;

		if (cli_session_find(&client, &session, words[i], &err) < 0 ||
		    cli_session_request(&client, "POST", &session, what, &object, &err) < 0) {
			int failed = cli_fail(&err);

			code = code ? code : failed;
		}
		if (object)
			json_array_append_new(all, object);
	}
	if (cli_json && client.target.base_url && cli_print_json(json_incref(all), &err) < 0)
		code = cli_fail(&err);
	json_decref(all);
	return code;
}

static int run(const struct cli_verb *verb, const char *what, int argc, char **argv)
{
	int code = cli_parse_words(verb, argc, argv, NULL, NULL, 1, argc, "which session?");

	return code == CLI_GO_ON ? ask_each(what, argc - optind, argv + optind) : code;
}

static int run_pause(int argc, char **argv)
{
	return run(&cli_verb_pause, "/pause", argc, argv);
}

static int run_resume(int argc, char **argv)
{
	return run(&cli_verb_resume, "/resume", argc, argv);
}

const struct cli_verb cli_verb_pause = {
	.name = "pause",
	.summary = "freeze sessions where they are",
	.help = PAUSE_HELP,
	.run = run_pause,
	.options = OPTIONS,
	.words = (const char *const[]){"session…", NULL},
};

const struct cli_verb cli_verb_resume = {
	.name = "resume",
	.summary = "wake sessions that are paused",
	.help = RESUME_HELP,
	.run = run_resume,
	.options = OPTIONS,
	.words = (const char *const[]){"session…", NULL},
};
