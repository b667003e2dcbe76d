/* SPDX-License-Identifier: Apache-2.0
 *
 * verb.h - the verbs of `inis`, one file each.
 *
 * A verb takes its own arguments (argv[0] is its name) and returns the exit code of the program. Its options and words
 * are data, for the parser as for the completion of shells; its help is the manual page's text too, and a test compares
 * the two.
 */
#ifndef INIS_CLI_VERB_H
#define INIS_CLI_VERB_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * Exit codes. A verb that runs a command exits as that does, and with CLI_TIMED_OUT or CLI_FAILED for its own failures.
 */
enum cli_exit {
	CLI_INCOMPLETE = 1, /* part of what was asked for was done */
	CLI_USAGE = 2, /* the command line is wrong */
	CLI_NOT_FOUND = 3,
	CLI_UNREACHABLE = 4, /* no server, or one that cannot do it now */
	CLI_TIMED_OUT = 124,
	CLI_FAILED = 125,
};

struct cli_verb {
	const char *name;
	const char *summary;
	const char *help; /* what `inis VERB --help` prints */
	int (*run)(int argc, char **argv);
	const struct option *options; /* ended by zeros; NULL: none */
	const char *letters; /* of the short options, as getopt() takes them; NULL: "h" */
	/*
	 * What each word is, for completion, NULL-terminated; NULL: none. "session", "process", "command", "path" (here
	 * or in a session), or choices as "this|that". A last one that ends in "…" may be repeated.
	 */
	const char *const *words;
	bool runs_command;
};

extern const struct cli_verb cli_verb_run;
extern const struct cli_verb cli_verb_create;
extern const struct cli_verb cli_verb_exec;
extern const struct cli_verb cli_verb_shell;
extern const struct cli_verb cli_verb_cp;
extern const struct cli_verb cli_verb_ls;
extern const struct cli_verb cli_verb_rm;
extern const struct cli_verb cli_verb_pause;
extern const struct cli_verb cli_verb_resume;
extern const struct cli_verb cli_verb_start;
extern const struct cli_verb cli_verb_ps;
extern const struct cli_verb cli_verb_logs;
extern const struct cli_verb cli_verb_wait;
extern const struct cli_verb cli_verb_kill;
extern const struct cli_verb cli_verb_audit;
extern const struct cli_verb cli_verb_template;
extern const struct cli_verb cli_verb_up;
extern const struct cli_verb cli_verb_down;
extern const struct cli_verb cli_verb_env;
extern const struct cli_verb cli_verb_completion;

extern const struct cli_verb *const cli_verbs[]; /* in the order of the help; NULL-terminated */
const struct cli_verb *cli_verb_find(const char *name); /* NULL when there is none */
/* What may have been meant, or NULL. */
const struct cli_verb *cli_verb_like(const char *name);

/* The verb that runs; NULL before. */
extern const struct cli_verb *cli_current;

#define CLI_GO_ON (-1)

/* One option of the verb's own, its value in optarg. -1: the value is wrong. */
typedef int (*cli_option_fn)(void *ctx, int option, struct inis_error *err);

/*
 * Takes the options, and h (help), j (cli_json) and q (cli_quiet) by itself. CLI_GO_ON, with the words from optind on;
 * else the exit code to return.
 */
int cli_parse(const struct cli_verb *verb, int argc, char **argv, cli_option_fn take, void *ctx);
/* The same, then there must be min to max words; missing asks for one that lacks. */
int cli_parse_words(const struct cli_verb *verb, int argc, char **argv, cli_option_fn take, void *ctx, int min, int max,
		    const char *missing);

/* Prints "inis: <message>", or JSON, to stderr; returns the exit code for it. */
int cli_fail(const struct inis_error *err);
/* A failure of which cli_fail() makes CLI_TIMED_OUT; returns -1. */
int cli_fail_late(struct inis_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints what is wrong with the arguments and where help is; returns the exit code for it. */
int cli_usage(const struct cli_verb *verb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints the verb's help on stdout; returns 0. */
int cli_help(const struct cli_verb *verb);

#endif
