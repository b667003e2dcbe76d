/* SPDX-License-Identifier: Apache-2.0
 *
 * verb.h - the verbs of `inis`, one file each.
 *
 * A verb parses its own arguments (argv[0] is its name) and returns the exit
 * code of the program. Failures of inis itself are CLI_FAILED, so that a
 * script can tell them from the exit code of a command it ran.
 */
#ifndef INIS_CLI_VERB_H
#define INIS_CLI_VERB_H

#include "base/error.h"

#define CLI_FAILED 125

struct cli_verb {
	const char *name;
	const char *summary;
	const char *help; /* what `inis VERB --help` prints */
	int (*run)(int argc, char **argv);
};

extern const struct cli_verb cli_verb_run;
extern const struct cli_verb cli_verb_create;
extern const struct cli_verb cli_verb_exec;
extern const struct cli_verb cli_verb_shell;
extern const struct cli_verb cli_verb_ls;
extern const struct cli_verb cli_verb_rm;
extern const struct cli_verb cli_verb_env;
extern const struct cli_verb cli_verb_template;

/* Prints "inis: <message>" to stderr; returns CLI_FAILED. */
int cli_fail(const struct inis_error *err);

/* Prints what is wrong with the arguments and where help is; returns CLI_FAILED. */
int cli_usage(const struct cli_verb *verb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints the verb's help on stdout; returns 0. */
int cli_help(const struct cli_verb *verb);

#endif
