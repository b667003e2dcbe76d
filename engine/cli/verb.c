/* SPDX-License-Identifier: Apache-2.0
 *
 * verb.c - what all verbs take and say in the same way.
 */
#include "cli/verb.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "cli/output.h"

const struct cli_verb *cli_current;

static int exit_code(const struct inis_error *err)
{
	if (err->sys_errno == ETIMEDOUT)
		return CLI_TIMED_OUT;
	if (cli_current && cli_current->runs_command)
		return CLI_FAILED;
	switch (err->code) {
	case INIS_NOT_FOUND:
	case INIS_SESSION_ENDED:
		return CLI_NOT_FOUND;
	case INIS_BAD_GATEWAY:
	case INIS_UNAVAILABLE:
	case INIS_SESSION_UNAVAILABLE:
	case INIS_RATE_LIMITED:
		return CLI_UNREACHABLE;
	default:
		return CLI_FAILED;
	}
}

/* The last word, whatever else fails. */
static void print_error_json(const char *message, const char *code)
{
	json_t *object = json_pack("{s:s, s:s}", "error", message, "code", code);

	if (!object)
		object = json_pack("{s:s, s:s}", "error", "failed", "code", code);
	json_dumpf(object, stderr, JSON_COMPACT);
	json_decref(object);
	fputc('\n', stderr);
}

int cli_fail(const struct inis_error *err)
{
	const char *message = err->message[0] ? err->message : "failed";

	if (cli_json)
		print_error_json(message, err->sys_errno == ETIMEDOUT ? "timeout" : inis_code_name(err->code));
	else
		fprintf(stderr, "inis: %s\n", message);
	return exit_code(err);
}

int cli_fail_late(struct inis_error *err, const char *fmt, ...)
{
	char text[sizeof(err->message)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	inis_fail(err, INIS_UNAVAILABLE, "%s", text);
	err->sys_errno = ETIMEDOUT;
	return -1;
}

int cli_usage(const struct cli_verb *verb, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (cli_json)
		print_error_json(text, "usage");
	else
		fprintf(stderr, "inis %s: %s\nSee: inis %s --help\n", verb->name, text, verb->name);
	return verb->runs_command ? CLI_FAILED : CLI_USAGE;
}

int cli_help(const struct cli_verb *verb)
{
	fputs(verb->help, stdout);
	return 0;
}

static int no_options(void *ctx, int option, struct inis_error *err)
{
	(void)ctx;
	return inis_fail(err, INIS_BAD_REQUEST, "-%c is no option of this verb", option);
}

int cli_parse(const struct cli_verb *verb, int argc, char **argv, cli_option_fn take, void *ctx)
{
	static const struct option help_only[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	struct inis_error err = INIS_ERROR_INIT;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, verb->letters ? verb->letters : "h",
				     verb->options ? verb->options : help_only, NULL)) != -1) {
		if (option == 'h')
			return cli_help(verb);
		if (option == '?')
			return cli_usage(verb, "\"%s\" is not an option, or lacks its value", argv[optind - 1]);
		if (option == 'j')
			cli_json = true;
		else if (option == 'q')
			cli_quiet = true;
		else if ((take ? take : no_options)(ctx, option, &err) < 0)
			return cli_usage(verb, "%s", err.message);
	}
	return CLI_GO_ON;
}

int cli_parse_words(const struct cli_verb *verb, int argc, char **argv, cli_option_fn take, void *ctx, int min, int max,
		    const char *missing)
{
	int code = cli_parse(verb, argc, argv, take, ctx);

	if (code != CLI_GO_ON)
		return code;
	if (argc - optind < min)
		return cli_usage(verb, "%s", missing);
	if (argc - optind > max)
		return cli_usage(verb, "\"%s\" is one argument too many", argv[optind + max]);
	return CLI_GO_ON;
}
