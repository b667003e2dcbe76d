/* SPDX-License-Identifier: Apache-2.0
 *
 * tree.h - walking a directory tree: depth first, each directory in the order of its names' bytes.
 *
 * No link is ever followed. What cannot be read, or vanishes meanwhile, is passed over. A directory too large to hold
 * is cut, and so is a tree too deep; `cut` says so.
 */
#ifndef INIS_AGENT_SEARCH_TREE_H
#define INIS_AGENT_SEARCH_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct tree_entry {
	int dir; /* where `name` is */
	const char *name;
	const char *path; /* all of it */
	uint8_t type; /* enum inis_file_type */
	unsigned depth; /* from 1 */
};

struct tree {
	/* Whether, and with which state, to go into it: 0 = not. Only for directories the answer counts. */
	uint64_t (*visit)(struct tree *t, const struct tree_entry *e, uint64_t state);
	bool (*stop)(struct tree *t); /* asked between entries */
	struct inis_buf path; /* what precedes the names of the first directory, without a slash at its end */
	size_t held; /* bytes of names in memory */
	bool cut;
};

/* Takes dir over. */
void tree_walk(struct tree *t, int dir, uint64_t state);

#endif
