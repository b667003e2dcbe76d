/* SPDX-License-Identifier: Apache-2.0
 *
 * language.c - how programs of a language are run, and how their packages come into a session.
 *
 * Source and packages are hidden files of the working directory: modules that a template has there are found too.
 */
#include "api/language.h"

#include <stdlib.h>
#include <string.h>

#define PYTHON_FILE     "/workspace/.inis-program.py"
#define PYTHON_PACKAGES "/workspace/.inis-packages"
#define NODE_FILE       "/workspace/.inis-program.js"
#define BUN_FILE        "/workspace/.inis-program.ts"

const char *const LANGUAGE_NAMES[] = {"python", "node", "bun", NULL};

/* Into a directory of their own: neither rights on the system's packages are needed, nor a virtual environment. */
static const char *const PYTHON_INSTALL[] = {"python3",
					     "-m",
					     "pip",
					     "install",
					     "--no-input",
					     "--disable-pip-version-check",
					     "--no-warn-script-location",
					     "--target",
					     PYTHON_PACKAGES,
					     "--",
					     NULL};
static const char *const PYTHON_RUN[] = {"python3", PYTHON_FILE, NULL};

static const char *const NODE_INSTALL[] = {"npm",
					   "install",
					   "--no-save",
					   "--no-audit",
					   "--no-fund",
					   "--no-update-notifier",
					   "--fetch-retry-mintimeout=1000",
					   "--fetch-retry-maxtimeout=5000",
					   "--",
					   NULL};
static const char *const NODE_RUN[] = {"node", NODE_FILE, NULL};

static const char *const BUN_INSTALL[] = {"bun", "add", "--no-save", NULL};
static const char *const BUN_RUN[] = {"bun", "run", BUN_FILE, NULL};

const struct language LANGUAGES[] = {
	{PYTHON_FILE, PYTHON_RUN, PYTHON_INSTALL, "PYTHONPATH", PYTHON_PACKAGES},
	{NODE_FILE, NODE_RUN, NODE_INSTALL, NULL, NULL},
	{BUN_FILE, BUN_RUN, BUN_INSTALL, NULL, NULL},
};

int language_command(struct command *c, const char *const *words, const json_t *more, struct inis_error *err)
{
	size_t n = 0, i;
	json_t *item;

	while (words[n])
		n++;
	*c = (struct command){.argv = calloc(n + json_array_size(more), sizeof(*c->argv))};
	if (!c->argv)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	while (c->argc < n) {
		c->argv[c->argc] = (struct inis_str){words[c->argc], strlen(words[c->argc])};
		c->argc++;
	}
	json_array_foreach (more, i, item)
		c->argv[c->argc++] = (struct inis_str){json_string_value(item), json_string_length(item)};
	return 0;
}
