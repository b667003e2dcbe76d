/* SPDX-License-Identifier: Apache-2.0
 *
 * host_base.c - the template "host": a fresh root to which a unit adds the host's /usr.
 *
 * root/ is the lower layer of a unit's /. Nothing in it comes from the host but what host_etc.c names.
 * mask/ lies over /usr and hides the one place below it where administrators keep settings of their own:
 * /usr/local/etc.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "driver/container/internal.h"
#include "os/path.h"

#define SANDBOX_ID 999

struct dir {
	const char *path;
	mode_t mode;
	uid_t owner;
};

/* Parents first. */
static const struct dir dirs[] = {
	{"boot", 0755, 0},
	{"dev", 0755, 0},
	{"etc", 0755, 0},
	{"home", 0755, 0},
	{"home/sandbox", 0755, SANDBOX_ID},
	{"media", 0755, 0},
	{"mnt", 0755, 0},
	{"opt", 0755, 0},
	{"proc", 0555, 0},
	{"root", 0700, 0},
	{"run", 0755, 0},
	{"run/inis", 0755, 0},
	{"run/lock", 01777, 0},
	{"srv", 0755, 0},
	{"sys", 0555, 0},
	{"tmp", 01777, 0},
	{"usr", 0755, 0},
	{"var", 0755, 0},
	{"var/cache", 0755, 0},
	{"var/lib", 0755, 0},
	{"var/log", 0755, 0},
	{"var/mail", 0755, 0},
	{"var/opt", 0755, 0},
	{"var/spool", 0755, 0},
	{"var/tmp", 01777, 0},
	{"workspace", 0755, SANDBOX_ID},
};

static int make_dirs(int root, struct inis_error *err)
{
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		cleanup_close int fd = inis_make_dir_at(root, dirs[i].path, dirs[i].mode, err);

		if (fd < 0)
			return -1;
		if (dirs[i].owner && (fchown(fd, dirs[i].owner, dirs[i].owner) < 0 || fchmod(fd, dirs[i].mode) < 0))
			return inis_fail_errno(err, "owner of %s", dirs[i].path);
	}
	if (symlinkat("/run", root, "var/run") < 0 || symlinkat("/run/lock", root, "var/lock") < 0)
		return inis_fail_errno(err, "links of /var");
	return 0;
}

/* /bin, /lib and the like are links into /usr; on a machine where they are not, /usr is not all of it. */
static int link_usr(int root, struct inis_error *err)
{
	static const char *const names[] = {"bin", "sbin", "lib", "lib32", "lib64", "libx32"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[16] = "/";
		char target[64];
		ssize_t n;

		stpcpy(path + 1, names[i]);
		n = readlink(path, target, sizeof(target) - 1);
		if (n < 0 && errno == ENOENT)
			continue;
		if (n < 0)
			return inis_fail(err, INIS_UNAVAILABLE, "%s is not a link into /usr on this machine", path);
		target[n] = '\0';
		if (symlinkat(target, root, names[i]) < 0)
			return inis_fail_errno(err, "link %s", path);
	}
	return 0;
}

static int make_mask(int dir, struct inis_error *err)
{
	cleanup_close int mask = inis_make_dir_at(dir, "mask", 0755, err);
	cleanup_close int local = -1;
	cleanup_close int etc = -1;

	if (mask < 0)
		return -1;
	if (access("/usr/local/etc", F_OK) < 0)
		return 0;
	local = inis_make_dir_at(mask, "local", 0755, err);
	etc = local < 0 ? -1 : inis_make_dir_at(local, "etc", 0755, err);
	if (etc < 0)
		return -1;
	if (fsetxattr(etc, "trusted.overlay.opaque", "y", 1, 0) < 0)
		return inis_fail_errno(err, "the file system of the state directory keeps no trusted attributes");
	return 0;
}

int host_base_build(int dir, struct inis_error *err)
{
	cleanup_close int root = inis_make_dir_at(dir, "root", 0755, err);
	cleanup_close int etc = -1;

	if (root < 0 || make_dirs(root, err) < 0 || link_usr(root, err) < 0)
		return -1;
	etc = inis_make_dir_at(root, "etc", 0755, err);
	if (etc < 0 || host_etc_build(etc, err) < 0)
		return -1;
	return make_mask(dir, err);
}
