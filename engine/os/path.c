/* SPDX-License-Identifier: Apache-2.0
 *
 * path.c - files by directory descriptor.
 */
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "os/fd.h"

int inis_openat2(int dir, const char *path, uint64_t flags, mode_t mode, uint64_t resolve)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC, .mode = mode, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve};
	int fd;

	/* EAGAIN: something was renamed meanwhile and the kernel could not be sure. */
	do
		fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	while (fd < 0 && (errno == EINTR || errno == EAGAIN));
	return fd;
}

int inis_open_dir(const char *path, struct inis_error *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		inis_fail_errno(err, "open directory %s", path);
	return fd;
}

int inis_make_dir_at(int dir, const char *name, mode_t mode, struct inis_error *err)
{
	bool made = mkdirat(dir, name, mode) == 0;
	cleanup_close int fd = -1;

	if (!made && errno != EEXIST)
		return inis_fail_errno(err, "make directory %s", name);
	fd = inis_openat2(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, RESOLVE_NO_SYMLINKS);
	if (fd < 0)
		return inis_fail_errno(err, "open directory %s", name);
	if (made && fchmod(fd, mode) < 0)
		return inis_fail_errno(err, "set mode of %s", name);
	return take_fd(&fd);
}

int inis_write_at(int dir, const char *name, const char *text, struct inis_error *err)
{
	cleanup_close int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return inis_fail_errno(err, "open %s", name);
	if (write(fd, text, strlen(text)) < 0)
		return inis_fail_errno(err, "write %s to %s", text, name);
	return 0;
}

ssize_t inis_read_at(int dir, const char *name, char *buf, size_t size, struct inis_error *err)
{
	cleanup_close int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return inis_fail_errno(err, "open %s", name);
	n = read(fd, buf, size - 1);
	if (n < 0)
		return inis_fail_errno(err, "read %s", name);
	buf[n] = '\0';
	return n;
}

int inis_put_at(int dir, const char *name, const void *data, size_t n, mode_t mode, struct inis_error *err)
{
	cleanup_close int fd = -1;
	char temp[300];
	char tag[9];

	if (inis_random_text(tag, sizeof(tag) - 1, err) < 0)
		return -1;
	if ((size_t)snprintf(temp, sizeof(temp), ".%s.%s", name, tag) >= sizeof(temp))
		return inis_fail(err, INIS_INTERNAL, "name too long: %s", name);
	fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return inis_fail_errno(err, "create %s", temp);
	if (inis_write_all(fd, data, n, err) < 0) {
		unlinkat(dir, temp, 0);
		return -1;
	}
	if (fchmod(fd, mode) < 0 || renameat(dir, temp, dir, name) < 0) {
		inis_fail_errno(err, "replace %s", name);
		unlinkat(dir, temp, 0);
		return -1;
	}
	return 0;
}

int inis_create_at(int dir, const char *name, const char *text, mode_t mode, struct inis_error *err)
{
	cleanup_close int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);

	if (fd < 0)
		return inis_fail_errno(err, "create %s", name);
	if (inis_write_all(fd, text, strlen(text), err) < 0)
		return -1;
	if (fchmod(fd, mode) < 0)
		return inis_fail_errno(err, "set mode of %s", name);
	return 0;
}

static bool dot_name(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

#define REMOVE_DEPTH 64 /* deeper trees are flattened first: depth must not cost descriptors or stack */

static int empty_dir(int dir, int depth, struct inis_error *err);

static int remove_entry(int dir, const char *name, int depth, struct inis_error *err)
{
	cleanup_close int sub = -1;

	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return inis_fail_errno(err, "remove %s", name);
	sub = inis_openat2(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS);
	if (sub < 0)
		return inis_fail_errno(err, "open %s to remove it", name);
	if (empty_dir(sub, depth + 1, err) < 0)
		return -1;
	if (unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return inis_fail_errno(err, "remove directory %s", name);
	return 0;
}

/* Brings the entries of dir/name up into dir under fresh names. */
static int flatten(int dir, const char *name, struct inis_error *err)
{
	cleanup_close int sub = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_dir DIR *entries = NULL;
	struct dirent *e;

	if (sub < 0)
		return errno == ENOTDIR || errno == ELOOP || errno == ENOENT ? 0
									     : inis_fail_errno(err, "open %s", name);
	entries = fdopendir(dup(sub));
	if (!entries)
		return inis_fail_errno(err, "list %s", name);
	while ((e = readdir(entries))) {
		char fresh[24] = ".inis-";

		if (dot_name(e->d_name) || unlinkat(sub, e->d_name, 0) == 0)
			continue;
		if (inis_random_text(fresh + 6, 16, err) < 0)
			return -1;
		if (renameat(sub, e->d_name, dir, fresh) < 0 && errno != ENOENT)
			return inis_fail_errno(err, "move %s", e->d_name);
	}
	if (unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOENT && errno != ENOTEMPTY)
		return inis_fail_errno(err, "remove directory %s", name);
	return 0;
}

static int empty_dir(int dir, int depth, struct inis_error *err)
{
	bool again = true;

	while (again) {
		cleanup_close int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		cleanup_dir DIR *entries = NULL;
		struct dirent *e;

		again = false;
		if (copy < 0 || !(entries = fdopendir(copy)))
			return inis_fail_errno(err, "list a directory to remove it");
		take_fd(&copy);
		while ((e = readdir(entries))) {
			if (dot_name(e->d_name))
				continue;
			if (depth < REMOVE_DEPTH) {
				if (remove_entry(dir, e->d_name, depth, err) < 0)
					return -1;
				continue;
			}
			again = true;
			if (unlinkat(dir, e->d_name, 0) < 0 && flatten(dir, e->d_name, err) < 0)
				return -1;
		}
	}
	return 0;
}

int inis_remove_tree_at(int dir, const char *name, struct inis_error *err)
{
	return remove_entry(dir, name, 0, err);
}

static uint64_t usage_below(int dir, const char *name, dev_t device, int depth)
{
	cleanup_close int sub = -1;
	cleanup_dir DIR *entries = NULL;
	struct dirent *e;
	struct stat st;
	uint64_t bytes;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_dev != device)
		return 0;
	/* A file of several names counts its part under each. */
	bytes = (uint64_t)st.st_blocks * 512 / (S_ISDIR(st.st_mode) || st.st_nlink == 0 ? 1 : st.st_nlink);
	if (!S_ISDIR(st.st_mode) || depth > REMOVE_DEPTH)
		return bytes;
	sub = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (sub < 0 || !(entries = fdopendir(dup(sub))))
		return bytes;
	while ((e = readdir(entries))) {
		if (!dot_name(e->d_name))
			bytes += usage_below(sub, e->d_name, device, depth + 1);
	}
	return bytes;
}

uint64_t inis_tree_usage_at(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? 0 : usage_below(dir, name, st.st_dev, 0);
}

/* Between file systems that cannot copy to one another. */
static ssize_t copy_by_hand(int from, int to, off_t at, size_t n)
{
	char buf[65536];
	ssize_t got = pread(from, buf, n < sizeof(buf) ? n : sizeof(buf), at);

	return got <= 0 ? got : pwrite(to, buf, (size_t)got, at);
}

static int copy_range(int from, int to, off_t at, off_t end, struct inis_error *err)
{
	while (at < end) {
		off_t in = at;
		off_t out = at;
		ssize_t n = copy_file_range(from, &in, to, &out, (size_t)(end - at), 0);

		if (n < 0 && (errno == EXDEV || errno == EOPNOTSUPP || errno == EINVAL || errno == ENOSYS))
			n = copy_by_hand(from, to, at, (size_t)(end - at));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return inis_fail_errno(err, "copy file");
		if (n == 0)
			return inis_fail(err, INIS_INTERNAL, "file became shorter while being copied");
		at += n;
	}
	return 0;
}

int inis_copy_sparse(int from, int to, struct inis_error *err)
{
	struct stat st;
	off_t at = 0;

	if (ioctl(to, FICLONE, from) == 0)
		return 0;
	if (fstat(from, &st) < 0 || ftruncate(to, st.st_size) < 0)
		return inis_fail_errno(err, "size of a copy");
	while (at < st.st_size) {
		off_t data = lseek(from, at, SEEK_DATA);
		off_t hole;

		if (data < 0 && errno == ENXIO)
			return 0;
		hole = data < 0 ? -1 : lseek(from, data, SEEK_HOLE);
		if (hole < 0)
			return inis_fail_errno(err, "find data to copy");
		if (copy_range(from, to, data, hole, err) < 0)
			return -1;
		at = hole;
	}
	return 0;
}
