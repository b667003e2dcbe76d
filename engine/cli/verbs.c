/* SPDX-License-Identifier: Apache-2.0
 *
 * verbs.c - the table of verbs.
 */
#include <string.h>

#include "cli/verb.h"

const struct cli_verb *const cli_verbs[] = {
	&cli_verb_run,
	&cli_verb_create,
	&cli_verb_exec,
	&cli_verb_shell,
	&cli_verb_cp,
	&cli_verb_ls,
	&cli_verb_rm,
	&cli_verb_pause,
	&cli_verb_resume,

	&cli_verb_start,
	&cli_verb_ps,
	&cli_verb_logs,
	&cli_verb_wait,
	&cli_verb_kill,
	&cli_verb_audit,

	&cli_verb_template,

	&cli_verb_up,
	&cli_verb_down,
	&cli_verb_env,
	&cli_verb_completion,

	NULL,
};

#define NAME_MAX_LENGTH 32
#define LIKE_DISTANCE   2

const struct cli_verb *cli_verb_find(const char *name)
{
	for (const struct cli_verb *const *verb = cli_verbs; *verb; verb++)
		if (strcmp((*verb)->name, name) == 0)
			return *verb;
	return NULL;
}

static size_t least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Letters to insert, remove or replace to make one the other. Both shorter than NAME_MAX_LENGTH. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NAME_MAX_LENGTH + 1], n = strlen(b);

	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < n; j++) {
			size_t replaced = diagonal + (a[i] != b[j]);

			diagonal = row[j + 1];
			row[j + 1] = least(row[j] + 1, diagonal + 1, replaced);
		}
	}
	return row[n];
}

const struct cli_verb *cli_verb_like(const char *name)
{
	const struct cli_verb *best = NULL;
	size_t best_distance = LIKE_DISTANCE + 1;

	if (strlen(name) < 2 || strlen(name) >= NAME_MAX_LENGTH)
		return NULL;
	for (const struct cli_verb *const *verb = cli_verbs; *verb; verb++) {
		size_t d = distance(name, (*verb)->name);

		/* Half of the letters must be right. */
		if (d < best_distance && 2 * d <= strlen((*verb)->name)) {
			best = *verb;
			best_distance = d;
		}
	}
	return best;
}
