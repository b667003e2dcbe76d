/* SPDX-License-Identifier: Apache-2.0
 *
 * env.c - `inis env`: where the server is and its key, for other programs.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/target.h"
#include "cli/verb.h"

static const char HELP[] =
	"inis env [--json] - print INIS_BASE_URL and INIS_API_KEY, starting the embedded engine if there is no other server\n\n"
	"  --json   print {\"base_url\": …, \"token\": …} instead of shell lines\n\n"
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

static int print_json(const struct cli_target *target, struct inis_error *err)
{
	json_t *object = json_pack("{s:s, s:s}", "base_url", target->base_url, "token", target->token);

	if (!object || json_dumpf(object, stdout, JSON_COMPACT) < 0) {
		json_decref(object);
		return inis_fail(err, INIS_BAD_REQUEST, "the address or the key is not UTF-8 text");
	}
	putchar('\n');
	json_decref(object);
	return 0;
}

static int run(int argc, char **argv)
{
	const char *option = argc > 1 ? argv[1] : "";
	int json = strcmp(option, "--json") == 0;
	struct inis_error err = INIS_ERROR_INIT;
	struct cli_target target = {NULL, NULL};
	int result;

	if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0)
		return cli_help(&cli_verb_env);
	if (argc > 2 || (argc == 2 && !json))
		return cli_usage(&cli_verb_env, "\"%s\" is not known", argv[argc - 1]);
	result = cli_target_find(&target, &err);
	if (result == 0 && json) {
		result = print_json(&target, &err);
	} else if (result == 0) {
		print_export("INIS_BASE_URL", target.base_url);
		print_export("INIS_API_KEY", target.token);
	}
	cli_target_free(&target);
	return result < 0 ? cli_fail(&err) : 0;
}

const struct cli_verb cli_verb_env = {"env", "print the server's address and key for other programs", HELP, run};
