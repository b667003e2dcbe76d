/* SPDX-License-Identifier: Apache-2.0
 *
 * mounts.h - the guest's view of the file system.
 */
#ifndef INIS_AGENT_MOUNTS_H
#define INIS_AGENT_MOUNTS_H

#include <stdint.h>

#include "base/error.h"

/* A detached mount and where it goes below the new root. */
struct given_mount {
	int fd;
	const char *target;
};

/* What needs no root yet: the kernel's own file systems, with what of /proc is not a guest's business hidden. */
int mounts_prepare(struct inis_error *err);

/*
 * Makes `root` the root directory of every process of the unit, attaches the given mounts in order and those that were
 * prepared. No path leads into the old root afterwards.
 */
int mounts_enter(int root, const struct given_mount *given, unsigned n, uint32_t shm_mb, struct inis_error *err);

/* Then the old root is let go, which waits for the kernel; before the guest runs anything. */
int mounts_leave_old_root(struct inis_error *err);

#endif
