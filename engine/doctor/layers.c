/* SPDX-License-Identifier: Apache-2.0
 *
 * layers.c - what a session's file system is made of: an id-mapped base, a disk with a size, an overlay of both.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "doctor/doctor.h"
#include "driver/container/layer.h"
#include "os/mount.h"
#include "os/path.h"
#include "os/priv.h"

#define PROBE_DISK_MB 16

struct layers {
	const struct doctor_subject *s;
	struct disks disks;
	bool overlay_too;
	int scratch; /* opened in the mount namespace of the probe: only mounts of its own can be copied */
};

static int id_mapped_base(const struct layers *l, int userns, struct inis_error *err)
{
	cleanup_close int dir = inis_make_dir_at(l->scratch, "base", 0755, err);
	cleanup_close int mount = dir < 0 ? -1 : inis_mount_clone(dir, "", false, err);

	if (mount < 0 || inis_mount_attrs(mount, MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY, 0, userns, false, err) < 0)
		return -1;
	return take_fd(&mount);
}

/* An overlay mounted with the wrong ids is there, and cannot be written. */
static int write_as_guest(int root, uint32_t uid_base, struct inis_error *err)
{
	int rc;

	if (inis_fsid_enter(uid_base, err) < 0)
		return -1;
	rc = mkdirat(root, "made", 0755);
	if (rc < 0)
		inis_fail_errno(err, "write to an overlay");
	inis_fsid_restore();
	return rc;
}

/* Over the base, with the ids of a session, and writable. */
static int make_overlay(const struct layers *l, int base, int userns, struct inis_error *err)
{
	cleanup_close int unit = inis_make_dir_at(l->scratch, "unit", 0700, err);
	cleanup_close int root = -1;
	struct layer layer;

	if (unit < 0 || layer_make(&layer, &l->disks, unit, PROBE_DISK_MB, "inis-doctor", err) < 0 ||
	    layer_map(&layer, userns, err) < 0)
		return -1;
	root = overlay_mount(&base, 1, &layer, l->s->uid_base, MOUNT_ATTR_NODEV, err);
	layer_release(&layer);
	return root < 0 ? -1 : write_as_guest(root, l->s->uid_base, err);
}

/* How this kernel takes layers is found out the way the driver does it. */
static int probe_overlay(const struct layers *l, struct inis_error *err)
{
	cleanup_close int upper = inis_make_dir_at(l->scratch, "mask", 0755, err);
	cleanup_close int lower = upper < 0 ? -1 : inis_make_dir_at(l->scratch, "root", 0755, err);

	if (lower < 0)
		return -1;
	if (mkdir(RUN_DIR, 0755) < 0 && errno != EEXIST)
		return inis_fail_errno(err, "make " RUN_DIR);
	return overlay_probe(l->scratch, "mask", "root", l->s->uid_base, err);
}

/* Only ever in a child, which ends with it. */
static int open_scratch(struct layers *l, struct inis_error *err)
{
	l->scratch = l->disks.dir = inis_open_dir(l->s->scratch, err);
	return l->scratch < 0 ? -1 : 0;
}

static int try_layers(void *ctx, struct inis_error *err)
{
	struct layers *l = ctx;
	cleanup_close int userns = -1;
	cleanup_close int base = -1;

	if (doctor_own_mounts(err) < 0 || open_scratch(l, err) < 0)
		return -1;
	userns = doctor_userns(l->s->uid_base, err);
	base = userns < 0 ? -1 : id_mapped_base(l, userns, err);
	if (base < 0 || !l->overlay_too)
		return base < 0 ? -1 : 0;
	return probe_overlay(l, err) < 0 ? -1 : make_overlay(l, base, userns, err);
}

static int try_disk(void *ctx, struct inis_error *err)
{
	struct layers *l = ctx;
	struct inis_error soft = INIS_ERROR_INIT;

	if (open_scratch(l, err) < 0 || disks_init(&l->disks, l->scratch, PROBE_DISK_MB, &soft, err) < 0)
		return -1;
	return l->disks.kind == INIS_DISK_SOFT ? inis_fail_copy(err, &soft) : 0;
}

void doctor_check_layers(struct doctor_report *r, const struct doctor_subject *s)
{
	struct layers l = {.s = s, .disks.kind = INIS_DISK_HARD};
	struct doctor_check *disk;

	doctor_try(r, s, "idmapped_mount", DOCTOR_STEP_IDMAP, try_layers, &l, "one base serves every range of ids");
	disk = doctor_try(r, s, "disk_limit", DOCTOR_STEP_DISK, try_disk, &l, "ext4 on a loop device: a hard limit");
	if (disk->status == DOCTOR_BLOCKED) {
		disk->status = DOCTOR_DEGRADED;
		l.disks.kind = INIS_DISK_SOFT;
	}
	l.overlay_too = true;
	if (!doctor_blocked(r))
		doctor_try(r, s, "overlay", DOCTOR_STEP_OVERLAY, try_layers, &l, "a writable layer over the base");
}
