/* SPDX-License-Identifier: Apache-2.0
 *
 * tree_file.h - between the files of tree.h: a file that has no name yet.
 */
#ifndef INIS_OS_TREE_FILE_H
#define INIS_OS_TREE_FILE_H

#include <sys/types.h>
#include <time.h>

#include "os/tree.h"

#define TREE_TEMP_SIZE 24

struct tree_temp {
	int dir; /* borrowed */
	int fd;
	char name[TREE_TEMP_SIZE];
};

#define TREE_TEMP_INIT              \
	{                           \
		.dir = -1, .fd = -1 \
	}

/* A name that nobody else uses. */
int tree_temp_name(char out[static TREE_TEMP_SIZE], struct inis_error *err);
int tree_temp_open(struct tree_temp *t, int dir, struct inis_error *err);
int tree_temp_write(struct tree_temp *t, const void *data, size_t n, struct inis_error *err);
/* It gets its name, mode and, unless mtime is NULL, time. The temporary one is gone in any case. */
int tree_temp_commit(struct tree_temp *t, const char *name, mode_t mode, const struct timespec *mtime,
		     struct inis_error *err);
void tree_temp_drop(struct tree_temp *t);

#endif
