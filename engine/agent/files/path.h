/* SPDX-License-Identifier: Apache-2.0
 *
 * path.h - the paths of file requests: everything stays below the workspace.
 *
 * A path is absolute below the workspace or relative to it. Symbolic links inside are followed as long as they stay
 * inside, absolute ones included; each open is checked by the kernel (openat2), so that a link that changes meanwhile
 * leads to an error, never out.
 *
 * All functions act with whatever rights the caller has at the moment.
 */
#ifndef INIS_AGENT_FILES_PATH_H
#define INIS_AGENT_FILES_PATH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/pack.h"

#define FILE_PATH_MAX 4096

/* A name in a directory; the name is not a link when it was resolved with follow. */
struct place {
	int dir; /* owned; -1: none */
	char name[256]; /* "" stands for the workspace itself */
};

#define PLACE_INIT        \
	{                 \
		.dir = -1 \
	}
void place_close(struct place *p);

/* Where the workspace is: another directory in tests. */
extern const char *files_root;

/* The path relative to the workspace ("." for itself), NUL-terminated. Fails with invalid_path. */
int path_parse(struct inis_str path, char out[static FILE_PATH_MAX], struct inis_error *err);

/* Opens what is there, following links; flags are O_*. */
int path_open(struct inis_str path, uint64_t flags, struct inis_error *err);

/*
 * The directory that holds the last component. make_parents: makes missing directories. follow: a link as the last
 * component is resolved, also one whose target is missing.
 */
int path_place(struct inis_str path, bool make_parents, bool follow, struct place *p, struct inis_error *err);

#endif
