/* SPDX-License-Identifier: Apache-2.0
 *
 * glob.h - shell patterns: of one name, and of paths.
 *
 * In a name `*` is any text, `?` one character, `[…]` one of a set (`[!…]` none of it, ranges), `\` takes the meaning
 * from the next character. A leading dot is nothing special. In a path, a component `**` is any number of
 * directories, none included; at the end it is everything below.
 *
 * A path pattern is matched one component at a time: the state is the set of pattern components that may come next,
 * so no pattern makes it slow. Pure.
 */
#ifndef INIS_AGENT_SEARCH_GLOB_H
#define INIS_AGENT_SEARCH_GLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define GLOB_COMPONENTS_MAX 62

/* NULL when the pattern of a name is well-formed, else what is wrong with it. */
const char *glob_check(const char *pattern);
bool glob_match(const char *pattern, const char *name);

struct glob_path {
	char *text; /* owned; components end in NUL */
	const char *components[GLOB_COMPONENTS_MAX];
	unsigned n;
};

/* A relative pattern; empty components and "." are dropped. */
int glob_path_init(struct glob_path *g, const char *pattern, struct inis_error *err);
void glob_path_free(struct glob_path *g);

/* The state before any component. */
uint64_t glob_path_begin(const struct glob_path *g);
/* After one more component; 0: neither this path nor one below matches. */
uint64_t glob_path_step(const struct glob_path *g, uint64_t state, const char *name);
/* Whether the path that led here matches. */
bool glob_path_accepts(const struct glob_path *g, uint64_t state);
/* What of the state can still lead to a match below; 0: nothing. */
uint64_t glob_path_below(const struct glob_path *g, uint64_t state);

#endif
