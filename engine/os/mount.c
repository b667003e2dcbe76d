/* SPDX-License-Identifier: Apache-2.0
 *
 * mount.c - mounts by descriptor.
 */
#include "os/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

/* glibc's <sys/mount.h> and <linux/mount.h> exclude each other before glibc 2.37; hence plain system calls. */
static int set_option(int fs, const struct inis_mount_option *o)
{
	if (o->value)
		return (int)syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, o->key, o->value, 0);
	if (o->fd >= 0)
		return (int)syscall(SYS_fsconfig, fs, FSCONFIG_SET_FD, o->key, NULL, o->fd);
	return (int)syscall(SYS_fsconfig, fs, FSCONFIG_SET_FLAG, o->key, NULL, 0);
}

/* What the file system itself says about the failure, as far as it says anything. */
static int fail_with_reason(int fs, const char *what, const char *type, struct inis_error *err)
{
	int saved = errno;
	char reason[160];
	ssize_t n = read(fs, reason, sizeof(reason) - 1);

	errno = saved;
	if (n <= 0)
		return inis_fail_errno(err, "mount %s (%s)", type, what);
	reason[n] = '\0';
	reason[strcspn(reason, "\n")] = '\0';
	return inis_fail_errno(err, "mount %s (%s: %s)", type, what, reason);
}

int inis_mount_new(const char *type, const struct inis_mount_option *options, unsigned n, uint64_t attrs,
		   struct inis_error *err)
{
	cleanup_close int fs = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
	int mount;

	if (fs < 0)
		return inis_fail_errno(err, "file system type %s", type);
	for (unsigned i = 0; i < n; i++) {
		if (set_option(fs, &options[i]) < 0)
			return fail_with_reason(fs, options[i].key, type, err);
	}
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return fail_with_reason(fs, "create", type, err);
	mount = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attrs);
	if (mount < 0)
		return fail_with_reason(fs, "mount", type, err);
	return mount;
}

int inis_mount_clone(int dir, const char *path, bool recursive, struct inis_error *err)
{
	unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0);
	int fd = (int)syscall(SYS_open_tree, dir, path, flags);

	if (fd < 0)
		inis_fail_errno(err, "clone mount of %s", path);
	return fd;
}

int inis_mount_attrs(int mount, uint64_t set, uint64_t clear, int userns, bool recursive, struct inis_error *err)
{
	struct mount_attr attr = {.attr_set = set, .attr_clr = clear};

	if (userns >= 0) {
		attr.attr_set |= MOUNT_ATTR_IDMAP;
		attr.userns_fd = (uint64_t)userns;
	}
	if (syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0), &attr, sizeof(attr)) <
	    0)
		return inis_fail_errno(err, userns >= 0 ? "map ids of a mount" : "change a mount");
	return 0;
}

int inis_mount_reconfigure(int mount, const struct inis_mount_option *options, unsigned n, struct inis_error *err)
{
	cleanup_close int fs = (int)syscall(SYS_fspick, mount, "", FSPICK_CLOEXEC | FSPICK_EMPTY_PATH);

	if (fs < 0)
		return inis_fail_errno(err, "change a file system");
	for (unsigned i = 0; i < n; i++) {
		if (set_option(fs, &options[i]) < 0)
			return fail_with_reason(fs, options[i].key, "change", err);
	}
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) < 0)
		return fail_with_reason(fs, "reconfigure", "change", err);
	return 0;
}

int inis_mount_attach(int mount, int dir, const char *path, struct inis_error *err)
{
	unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | (path[0] == '\0' ? MOVE_MOUNT_T_EMPTY_PATH : 0);

	if (syscall(SYS_move_mount, mount, "", dir, path, flags) < 0)
		return inis_fail_errno(err, "attach mount at %s", path);
	return 0;
}
