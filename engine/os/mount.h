/* SPDX-License-Identifier: Apache-2.0
 *
 * mount.h - mounts by descriptor.
 *
 * A detached mount lives as long as its descriptor, unless inis_mount_attach() or a receiving process puts it
 * into a mount namespace.
 */
#ifndef INIS_OS_MOUNT_H
#define INIS_OS_MOUNT_H

#include <linux/mount.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* One option of a file system: key alone is a flag, with value a string, with fd an object. */
struct inis_mount_option {
	const char *key;
	const char *value; /* NULL: no string */
	int fd; /* used when >= 0 and value is NULL */
};

#define INIS_OPT_FLAG(key_)             \
	{                               \
		.key = (key_), .fd = -1 \
	}
#define INIS_OPT_TEXT(key_, text_)                        \
	{                                                 \
		.key = (key_), .value = (text_), .fd = -1 \
	}
#define INIS_OPT_FD(key_, fd_)             \
	{                                  \
		.key = (key_), .fd = (fd_) \
	}

/* A new detached mount of this type; attrs are MOUNT_ATTR_*. */
int inis_mount_new(const char *type, const struct inis_mount_option *options, unsigned n, uint64_t attrs,
		   struct inis_error *err);

/* A detached copy of the mount at dir/path ("" = dir itself); recursive takes all mounts below. */
int inis_mount_clone(int dir, const char *path, bool recursive, struct inis_error *err);

/* Changes a detached mount; userns >= 0 also maps its ids through that user namespace. */
int inis_mount_attrs(int mount, uint64_t set, uint64_t clear, int userns, bool recursive, struct inis_error *err);

/* Changes options of the file system that is mounted, attached or not. */
int inis_mount_reconfigure(int mount, const struct inis_mount_option *options, unsigned n, struct inis_error *err);

/* Puts a detached mount at dir/path ("" = dir itself). */
int inis_mount_attach(int mount, int dir, const char *path, struct inis_error *err);

#endif
