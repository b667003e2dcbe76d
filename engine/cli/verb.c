/* SPDX-License-Identifier: Apache-2.0
 *
 * verb.c - what all verbs say in the same way.
 */
#include "cli/verb.h"

#include <stdarg.h>
#include <stdio.h>

int cli_fail(const struct inis_error *err)
{
	fprintf(stderr, "inis: %s\n", err->message[0] ? err->message : "failed");
	return CLI_FAILED;
}

int cli_usage(const struct cli_verb *verb, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "inis %s: ", verb->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nSee: inis %s --help\n", verb->name);
	return CLI_FAILED;
}

int cli_help(const struct cli_verb *verb)
{
	fputs(verb->help, stdout);
	return 0;
}
