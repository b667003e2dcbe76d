/* SPDX-License-Identifier: Apache-2.0
 *
 * rootfs.c - what a unit is given to live in: its /, and its /usr where the base has none.
 *
 * They are made ahead, in the pool, so that a create has nothing to read from a disk. What differs from session to
 * session, its names, is written into files that exist already.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/wall.h"
#include "driver/container/internal.h"
#include "os/fd.h"
#include "os/mount.h"
#include "os/path.h"

/* A detached mount that nobody needs any more. */
struct parting {
	struct inis_job job;
	int mount;
};

static void work_part(struct inis_job *job)
{
	close_fd(&field_owner(job, struct parting, job)->mount);
}

static void parted(struct inis_job *job)
{
	free(field_owner(job, struct parting, job));
}

/* The kernel waits before it lets a mount go (an RCU grace period); the unit that is being made does not. */
static void part_with(struct cunit *cu, int *mount)
{
	struct parting *p = *mount < 0 ? NULL : malloc(sizeof(*p));

	if (!p) {
		close_fd(mount);
		return;
	}
	*p = (struct parting){.job = {.work = work_part, .done = parted}, .mount = take_fd(mount)};
	inis_worker_submit(&cu->c->sweeper, &p->job);
}

/* A detached copy of a directory with ids mapped into the unit; `where` names it for people. */
static int mapped(int dir, const char *path, const char *where, int userns, struct inis_error *err)
{
	cleanup_close int mount = inis_mount_clone(dir, path, false, err);

	if (mount < 0)
		return -1;
	if (inis_mount_attrs(mount, MOUNT_ATTR_RDONLY, 0, userns, false, NULL) < 0)
		return inis_fail_errno(err, "the file system of %s cannot be mounted with mapped ids", where);
	return take_fd(&mount);
}

/*
 * /usr belongs to the host, and the guest's root owns it as far as ids go. So it is an overlay without a writable
 * layer: unlike the flag of a bind mount, that cannot be undone from inside.
 */
static int make_usr(struct cunit *cu, int userns, struct inis_error *err)
{
	int mask = mapped(cu->base->dir, "mask", cu->c->config.state_dir, userns, err);
	int host = mask < 0 ? -1 : mapped(AT_FDCWD, "/usr", "/usr", userns, err);
	const int lowers[2] = {mask, host};

	if (host >= 0)
		cu->usr = overlay_mount(lowers, 2, NULL, cu->u.uid_base, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV, err);
	part_with(cu, &mask);
	part_with(cu, &host);
	return cu->usr < 0 ? -1 : 0;
}

/* Files and directories that each unit gets its own of, made while nothing is mapped: root's are the guest's root's. */
static int make_own_files(const struct layer *l, struct inis_error *err)
{
	cleanup_close int etc = inis_make_dir_at(l->mount, "upper/etc", 0755, err);
	cleanup_close int run = etc < 0 ? -1 : inis_make_dir_at(l->mount, "upper/run", 0755, err);
	cleanup_close int own = run < 0 ? -1 : inis_make_dir_at(run, "inis", 0755, err);

	if (own < 0 || inis_create_at(etc, "hostname", "", 0644, err) < 0 ||
	    inis_create_at(etc, "hosts", "", 0644, err) < 0)
		return -1;
	return layer_make_spool(l, err);
}

static int make_root(struct cunit *cu, int userns, struct inis_error *err)
{
	int base = mapped(cu->base->dir, "root", cu->c->config.state_dir, userns, err);

	if (base >= 0)
		cu->root = overlay_mount(&base, 1, &cu->layer, cu->u.uid_base,
					 WALL("root.nodev") ? MOUNT_ATTR_NODEV : 0, err);
	part_with(cu, &base);
	return cu->root < 0 ? -1 : 0;
}

int cunit_make_layer(struct cunit *cu, uint32_t disk_mb, struct inis_error *err)
{
	char label[LAYER_LABEL_SIZE];

	cunit_loop_label(cu, label);
	if (layer_make(&cu->layer, &cu->c->disks, cu->dir, disk_mb, label, err) < 0)
		return -1;
	if (make_own_files(&cu->layer, err) == 0)
		return 0;
	layer_release(&cu->layer);
	return -1;
}

int cunit_make_rootfs(struct cunit *cu, uint32_t disk_mb, int userns, struct inis_error *err)
{
	if (cu->layer.mount < 0 && cunit_make_layer(cu, disk_mb, err) < 0)
		return -1;
	if (layer_map(&cu->layer, userns, err) < 0)
		return -1;
	if (make_root(cu, userns, err) < 0)
		return -1;
	return cu->base->host ? make_usr(cu, userns, err) : 0;
}

void cunit_drop_rootfs(struct cunit *cu)
{
	close_fd(&cu->root);
	close_fd(&cu->usr);
	layer_release(&cu->layer);
	layer_discard(cu->dir);
}

static int write_file(int root, const char *path, const char *text, struct inis_error *err)
{
	cleanup_close int fd = openat(root, path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return inis_fail_errno(err, "open %s", path);
	return inis_write_all(fd, text, strlen(text), err);
}

int cunit_write_names(int root, const char *hostname, struct inis_error *err)
{
	char text[256];

	snprintf(text, sizeof(text), "%s\n", hostname);
	if (write_file(root, "etc/hostname", text, err) < 0)
		return -1;
	snprintf(text, sizeof(text), "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n127.0.1.1 %s\n",
		 hostname);
	return write_file(root, "etc/hosts", text, err);
}
