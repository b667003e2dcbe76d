/* SPDX-License-Identifier: Apache-2.0
 *
 * tree_digest.h - one SHA-256 for a whole directory tree.
 *
 * The tree is walked in the order of its names' bytes; every entry adds its path, type, mode, owners and, for
 * links, its target and for devices, its numbers. Two kinds of digest differ in the rest:
 *
 *   CONTENT  a regular file adds its bytes and capabilities; no times, so that equal trees are equal
 *   INDEX    a regular file adds size and time of change of its content: quick, and reads no file
 */
#ifndef INIS_TEMPLATE_TREE_DIGEST_H
#define INIS_TEMPLATE_TREE_DIGEST_H

#include <stdint.h>

#include "base/error.h"

#define INIS_DIGEST_SIZE 65 /* hexadecimal digits and NUL */

enum inis_tree_digest_kind { INIS_TREE_CONTENT, INIS_TREE_INDEX };

struct inis_tree_digest {
	char hex[INIS_DIGEST_SIZE];
	uint64_t entries;
	uint64_t bytes; /* of regular files */
};

/* Never follows a link; a tree that changes meanwhile gives an error or a digest of neither state. */
int inis_tree_digest(int dir, enum inis_tree_digest_kind kind, struct inis_tree_digest *out, struct inis_error *err);

#endif
