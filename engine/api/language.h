/* SPDX-License-Identifier: Apache-2.0
 *
 * language.h - how programs of a language are run, and how their packages come into a session.
 */
#ifndef INIS_API_LANGUAGE_H
#define INIS_API_LANGUAGE_H

#include <jansson.h>

#include "api/command.h"

#define LANGUAGE_PACKAGES_MAX 256 /* in one installation */

struct language {
	const char *file; /* where its source goes */
	const char *const *run; /* argv, NULL-terminated, likewise below */
	const char *const *install; /* to be followed by the packages */
	const char *path_name; /* variable that leads to the packages, or NULL: they are found without */
	const char *path;
};

extern const char *const LANGUAGE_NAMES[]; /* NULL-terminated; the index is that of LANGUAGES */
extern const struct language LANGUAGES[];

/* argv: `words` and after them the strings of `more` (NULL: none). Texts are borrowed; command_free() the command. */
int language_command(struct command *c, const char *const *words, const json_t *more, struct inis_error *err);

#endif
