/* SPDX-License-Identifier: Apache-2.0
 *
 * layer.c - writable layers.
 *
 * An image is a sparse copy of an empty file system made once by mkfs, without the metadata of groups that nobody has
 * used: some 120 KB are really copied, shared where the file system of the state directory can. Groups are not
 * gathered (-G 1): of gathered ones ext4 prepares all at the first allocation, milliseconds for a disk that stays
 * empty. The journal is left out: a unit does not outlive the machine's boot, so there is nothing to recover, and for
 * the same reason nothing asks the machine's disk to flush (nobarrier). The device is first read through the page
 * cache, where the copy still is, and past it once the layer is in use.
 */
#include "driver/container/layer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "base/wall.h"
#include "os/loopdev.h"
#include "os/mount.h"
#include "os/path.h"
#include "os/proc.h"

#define IMAGE     "disk"
#define SOFT_DIR  "files"
#define UPPER     "upper"
#define WORK      "work"
#define SPOOL     "spool"
#define MIN_MB    16
#define MAX_MB    (16u << 20)
#define EXT4_SHUT _IOR('X', 125, uint32_t)
#define NO_FLUSH  2u

static int make_upper_dirs(int dir, struct inis_error *err)
{
	cleanup_close int upper = inis_make_dir_at(dir, UPPER, 0755, err);
	cleanup_close int work = upper < 0 ? -1 : inis_make_dir_at(dir, WORK, 0755, err);

	return work < 0 ? -1 : 0;
}

static int mount_ext4(const char *device, struct inis_error *err)
{
	const struct inis_mount_option options[] = {INIS_OPT_TEXT("source", device), INIS_OPT_FLAG("noinit_itable"),
						    INIS_OPT_FLAG("nobarrier"), INIS_OPT_TEXT("errors", "remount-ro")};

	return inis_mount_new("ext4", options, 4, MOUNT_ATTR_NODEV | MOUNT_ATTR_NOATIME, err);
}

/* The detached mount of an image on a fresh loop device. */
static int mount_image(int image, const char *label, int *loop, struct inis_error *err)
{
	char device[INIS_LOOP_PATH_SIZE];
	cleanup_close int dev = inis_loop_attach(image, label, device, loop, err);

	return dev < 0 ? -1 : mount_ext4(device, err);
}

static int format(int dir, const char *temp, uint32_t disk_mb, struct inis_error *err)
{
	cleanup_close int image = openat(dir, temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	cleanup_close int mount = -1;
	char path[64];
	int loop;
	const char *const mkfs[] = {"mkfs.ext4",
				    "-q",
				    "-F",
				    "-b",
				    "4096",
				    "-m",
				    "0",
				    "-G",
				    "1",
				    "-O",
				    "^has_journal,^resize_inode,sparse_super2",
				    "-E",
				    "lazy_itable_init=1,nodiscard,root_owner=0:0,num_backup_sb=0",
				    path,
				    NULL};

	if (image < 0 || ftruncate(image, (off_t)disk_mb << 20) < 0)
		return inis_fail_errno(err, "make a disk image of %u MB", disk_mb);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), image);
	if (inis_run(mkfs, err) < 0)
		return -1;
	mount = mount_image(image, "inis-format", &loop, err);
	return mount < 0 ? -1 : make_upper_dirs(mount, err);
}

/* The empty file system of this size, made when there is none yet. */
static int open_empty(const struct disks *d, uint32_t disk_mb, struct inis_error *err)
{
	char name[32];
	char temp[48];
	char tag[9];
	int fd;

	snprintf(name, sizeof(name), "disk-%u", disk_mb);
	fd = openat(d->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0 || errno != ENOENT)
		return fd >= 0 ? fd : inis_fail_errno(err, "open %s", name);
	if (disk_mb < MIN_MB || disk_mb > MAX_MB)
		return inis_fail_field(err, "disk_mb", "must be between %u and %u", MIN_MB, MAX_MB);
	if (inis_random_text(tag, sizeof(tag) - 1, err) < 0)
		return -1;
	snprintf(temp, sizeof(temp), ".%s.%s", name, tag);
	if (format(d->dir, temp, disk_mb, err) < 0) {
		unlinkat(d->dir, temp, 0);
		return -1;
	}
	if (renameat(d->dir, temp, d->dir, name) < 0)
		return inis_fail_errno(err, "name %s", name);
	fd = openat(d->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	return fd >= 0 ? fd : inis_fail_errno(err, "open %s", name);
}

int disks_init(struct disks *d, int templates_dir, uint32_t disk_mb, struct inis_error *soft_reason,
	       struct inis_error *err)
{
	cleanup_close int empty = -1;

	*d = (struct disks){.dir = templates_dir, .kind = INIS_DISK_HARD};
	if (disk_mb < MIN_MB || disk_mb > MAX_MB)
		return inis_fail_field(err, "disk_mb", "must be between %u and %u", MIN_MB, MAX_MB);
	empty = open_empty(d, disk_mb, soft_reason);
	if (empty < 0 || !WALL("limit.disk"))
		d->kind = INIS_DISK_SOFT;
	return 0;
}

static int make_hard(struct layer *l, const struct disks *d, int unit_dir, uint32_t disk_mb, const char *label,
		     struct inis_error *err)
{
	cleanup_close int empty = open_empty(d, disk_mb, err);
	cleanup_close int image = -1;

	if (empty < 0)
		return -1;
	image = openat(unit_dir, IMAGE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (image < 0)
		return inis_fail_errno(err, "make a disk image");
	if (inis_copy_sparse(empty, image, err) < 0)
		return -1;
	l->mount = mount_image(image, label, &l->loop, err);
	return l->mount < 0 ? -1 : 0;
}

static int make_soft(struct layer *l, int unit_dir, struct inis_error *err)
{
	cleanup_close int dir = inis_make_dir_at(unit_dir, SOFT_DIR, 0755, err);

	if (dir < 0 || make_upper_dirs(dir, err) < 0)
		return -1;
	l->mount = inis_mount_clone(dir, "", false, err);
	return l->mount < 0 ? -1 : 0;
}

int layer_make(struct layer *l, const struct disks *d, int unit_dir, uint32_t disk_mb, const char *label,
	       struct inis_error *err)
{
	int rc;

	*l = (struct layer){.kind = d->kind, .mount = -1, .loop = -1};
	rc = d->kind == INIS_DISK_HARD ? make_hard(l, d, unit_dir, disk_mb, label, err) : make_soft(l, unit_dir, err);
	if (rc < 0)
		layer_release(l);
	return rc;
}

int layer_map(const struct layer *l, int userns, struct inis_error *err)
{
	return inis_mount_attrs(l->mount, MOUNT_ATTR_NODEV, 0, userns, false, err);
}

void layer_release(struct layer *l)
{
	close_fd(&l->mount);
}

/* Its device, held so that it stays this unit's: the number of one that has ended is another's at once. */
static int hold_device(const struct layer *l, const char *label, char path[static INIS_LOOP_PATH_SIZE])
{
	snprintf(path, INIS_LOOP_PATH_SIZE, "/dev/loop%d", l->loop);
	return l->loop < 0 ? -1 : inis_loop_hold(l->loop, label);
}

int layer_reopen(struct layer *l, const char *label, struct inis_error *err)
{
	char path[INIS_LOOP_PATH_SIZE];
	cleanup_close int device = -1;

	if (l->mount >= 0)
		return 0;
	device = hold_device(l, label, path);
	if (device < 0)
		return inis_fail(err, INIS_UNAVAILABLE, "the disk of the unit is gone");
	/* The device is mounted already: this is another mount of the same file system. */
	l->mount = mount_ext4(path, err);
	return l->mount < 0 ? -1 : 0;
}

int layer_make_spool(const struct layer *l, struct inis_error *err)
{
	cleanup_close int dir = inis_make_dir_at(l->mount, SPOOL, 0700, err);

	return dir < 0 ? -1 : 0;
}

static int open_spool(int dir, const char *path, struct inis_error *err)
{
	int fd = inis_openat2(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, RESOLVE_NO_SYMLINKS);

	return fd < 0 ? inis_fail_errno(err, "open the spool directory") : fd;
}

int layer_open_spool(const struct layer *l, struct inis_error *err)
{
	return open_spool(l->mount, SPOOL, err);
}

/* The image has a device or gets one. */
static int mount_again(struct layer *l, int unit_dir, const char *label, struct inis_error *err)
{
	char path[INIS_LOOP_PATH_SIZE];
	cleanup_close int device = hold_device(l, label, path);
	cleanup_close int image = -1;

	if (device >= 0)
		return mount_ext4(path, err);
	image = openat(unit_dir, IMAGE, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	return image < 0 ? inis_fail_errno(err, "open a disk image") : mount_image(image, label, &l->loop, err);
}

int layer_recover_spool(struct layer *l, int unit_dir, const char *label, struct inis_error *err)
{
	if (l->kind == INIS_DISK_SOFT)
		return open_spool(unit_dir, SOFT_DIR "/" SPOOL, err);
	if (l->mount < 0)
		l->mount = mount_again(l, unit_dir, label, err);
	return l->mount < 0 ? -1 : layer_open_spool(l, err);
}

uint64_t layer_count(int unit_dir)
{
	return inis_tree_usage_at(unit_dir, SOFT_DIR);
}

void layer_settle(const struct layer *l)
{
	if (l->kind == INIS_DISK_HARD)
		inis_loop_direct(l->loop);
}

void layer_shut(struct layer *l)
{
	cleanup_close int dir = -1;
	uint32_t how = NO_FLUSH;

	if (l->kind != INIS_DISK_HARD || l->mount < 0)
		return;
	dir = openat(l->mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0)
		ioctl(dir, EXT4_SHUT, &how);
}

void layer_discard(int unit_dir)
{
	inis_remove_tree_at(unit_dir, IMAGE, NULL);
	inis_remove_tree_at(unit_dir, SOFT_DIR, NULL);
}

int layer_stat_image(int unit_dir, struct stat *out)
{
	return fstatat(unit_dir, IMAGE, out, AT_SYMLINK_NOFOLLOW);
}

int layer_usage(const struct layer *l, uint64_t *bytes, struct inis_error *err)
{
	struct statfs st;

	if (fstatfs(l->mount, &st) < 0)
		return inis_fail_errno(err, "usage of a disk");
	*bytes = (uint64_t)(st.f_blocks - st.f_bfree) * (uint64_t)st.f_bsize;
	return 0;
}
