/* SPDX-License-Identifier: Apache-2.0
 *
 * env.c - `inis env`: where the server is and its key, for other programs.
 */
#include <jansson.h>
#include <stdio.h>

#include "cli/output.h"
#include "cli/target.h"
#include "cli/verb.h"

static const char HELP[] =
	"inis env [--json] - print INIS_BASE_URL and INIS_API_KEY, starting the embedded engine if there is no other server\n\n"
	"  --json   print {\"base_url\": …, \"token\": …} instead of shell lines\n"
	"  --help\n\n"
	"The embedded engine ends by itself when it has had no session and no request for some minutes.\n"
	"The output holds a key: do not print it into a log.\n\n"
	"Examples:\n"
	"  eval \"$(inis env)\"        # any inis client started from this shell uses this server\n"
	"  curl -H \"Authorization: Bearer $INIS_API_KEY\" \"$INIS_BASE_URL/v1/sessions\"\n";

/* In single quotes, so that a shell takes it as it is. */
static void print_export(const char *name, const char *value)
{
	printf("export %s='", name);
	for (; *value; value++)
		if (*value == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*value);
	puts("'");
}

static const struct option OPTIONS[] = {
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int run(int argc, char **argv)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct cli_target target = {NULL, NULL};
	int code = cli_parse_words(&cli_verb_env, argc, argv, NULL, NULL, 0, 0, NULL);
	int rc;

	if (code != CLI_GO_ON)
		return code;
	rc = cli_target_find(&target, &err);
	if (rc == 0 && cli_json) {
		rc = cli_print_json_line(json_pack("{s:s, s:s}", "base_url", target.base_url, "token", target.token),
					 &err);
	} else if (rc == 0) {
		print_export("INIS_BASE_URL", target.base_url);
		print_export("INIS_API_KEY", target.token);
	}
	cli_target_free(&target);
	return rc < 0 ? cli_fail(&err) : 0;
}

const struct cli_verb cli_verb_env = {
	.name = "env",
	.summary = "print the server's address and key for other programs",
	.help = HELP,
	.run = run,
	.options = OPTIONS,
};
