/* SPDX-License-Identifier: Apache-2.0
 *
 * template_dir.h - the templates of a state directory, as the command line sees them.
 */
#ifndef INIS_CLI_TEMPLATE_DIR_H
#define INIS_CLI_TEMPLATE_DIR_H

#include "base/error.h"
#include "template/manifest.h"

/* Opens it; made when missing. The state directory itself is made like the server makes it. */
int template_dir_open(const char *state_dir, struct inis_error *err);

/* Keeps other builds and removals out as long as the descriptor is open. conflict when there is one. */
int template_dir_lock(int templates, struct inis_error *err);

/* Removes what interrupted builds and removals left; under the lock. */
void template_dir_sweep(int templates);

/* A fresh directory that nobody takes for a template. */
int template_dir_temporary(int templates, char name[static 32], struct inis_error *err);

struct template_list {
	struct inis_template_manifest *items; /* newest first */
	size_t count;
};

/* Free with template_list_free(). What cannot be read is left out. */
int template_dir_list(int templates, struct template_list *list, struct inis_error *err);
void template_list_free(struct template_list *list);

/* Of a list, by NAME (the newest) or NAME@VERSION; not_found. */
const struct inis_template_manifest *template_list_find(const struct template_list *list, const char *ref,
							struct inis_error *err);

/* Removes it unless a session uses it; under the lock. */
int template_dir_remove(int templates, const struct inis_template_manifest *m, struct inis_error *err);

#endif
