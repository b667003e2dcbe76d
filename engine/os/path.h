/* SPDX-License-Identifier: Apache-2.0
 *
 * path.h - files by directory descriptor.
 *
 * Names are single components or paths below the directory; nothing here follows a
 * symbolic link out of it. Descriptors made here are close-on-exec.
 */
#ifndef INIS_OS_PATH_H
#define INIS_OS_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* openat2 with RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS plus `resolve`; sets errno, for callers with their own text. */
int inis_openat2(int dir, const char *path, uint64_t flags, mode_t mode, uint64_t resolve);

/* Opens an absolute path as a directory. */
int inis_open_dir(const char *path, struct inis_error *err);

/* Opens dir/name as a directory, making it with this mode when missing (the umask does not apply). */
int inis_make_dir_at(int dir, const char *name, mode_t mode, struct inis_error *err);

/* One write to a file that exists: cgroup and proc files. */
int inis_write_at(int dir, const char *name, const char *text, struct inis_error *err);

/* Reads a small file; buf gets a NUL. Returns the length or -1. */
ssize_t inis_read_at(int dir, const char *name, char *buf, size_t size, struct inis_error *err);

/* Creates or replaces dir/name: readers see the old or the new bytes, never a part. */
int inis_put_at(int dir, const char *name, const void *data, size_t n, mode_t mode, struct inis_error *err);

/* Creates a new file with these bytes; the umask does not apply. */
int inis_create_at(int dir, const char *name, const char *text, mode_t mode, struct inis_error *err);

/* Removes dir/name and all below, never following a link or entering another file system. Missing: success. */
int inis_remove_tree_at(int dir, const char *name, struct inis_error *err);

/* Bytes that dir/name and all below take on the disk, as far as it can be read; of one file system. */
uint64_t inis_tree_usage_at(int dir, const char *name);

/* Copies all data of a file into an empty one; holes stay holes; shares blocks where the file system can. */
int inis_copy_sparse(int from, int to, struct inis_error *err);

#endif
