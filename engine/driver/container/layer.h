/* SPDX-License-Identifier: Apache-2.0
 *
 * layer.h - the writable layer of a unit, and overlays over it.
 *
 * What is stored has guest ids (root is 0), whatever range the unit has: all mounts of it are id-mapped. A hard
 * layer is an ext4 image on a loop device, so that the kernel enforces its size. A soft one, where loop devices or
 * ext4 cannot be had, is a plain directory. Beside the writable layer's own directories lies that of the spools: on
 * the unit's disk, and no path inside leads to it.
 */
#ifndef INIS_DRIVER_CONTAINER_LAYER_H
#define INIS_DRIVER_CONTAINER_LAYER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"
#include "wire/broker_proto.h"

#define RUN_DIR "/run/inis" /* in a mount namespace whose /run nobody shares; overlays of older kernels need it */

#define LAYER_LABEL_SIZE 64
#define LAYER_BLOCK      4096u /* of a hard layer's file system */

/* Empty file systems, one for each size in use, kept as templates/disk-<mb>. */
struct disks {
	int dir; /* templates; the caller's */
	enum inis_disk_kind kind;
};

struct layer {
	enum inis_disk_kind kind;
	int mount; /* detached: holds upper/ and work/; -1 when let go */
	int loop; /* number, -1 when soft */
};

/* Finds out which kind can be had and makes the empty file system of this size. Says why when it is soft. */
int disks_init(struct disks *d, int templates_dir, uint32_t disk_mb, struct inis_error *soft_reason,
	       struct inis_error *err);

/* Makes the layer's files in unit_dir and mounts it. */
int layer_make(struct layer *l, const struct disks *d, int unit_dir, uint32_t disk_mb, const char *label,
	       struct inis_error *err);
/* Its ids become those of the user namespace; once, before anything is on it. */
int layer_map(const struct layer *l, int userns, struct inis_error *err);
/* Once the layer is in use for long; takes as long as the disk. */
void layer_settle(const struct layer *l);
/* Lets the mount go; a unit that uses the layer keeps it. */
void layer_release(struct layer *l);
/* Opens the mount of a hard layer again, for an adopted unit whose loop number is known; `label` is the device's. */
int layer_reopen(struct layer *l, const char *label, struct inis_error *err);
/* Makes the spool directory, before ids are mapped. */
int layer_make_spool(const struct layer *l, struct inis_error *err);
/* Opens it, of an open mount. */
int layer_open_spool(const struct layer *l, struct inis_error *err);
/*
 * Likewise when all users of the layer are dead, and perhaps the broker that made it: what is not mounted any more is
 * mounted again, if need be from the image in unit_dir. Not after layer_shut().
 */
int layer_recover_spool(struct layer *l, int unit_dir, const char *label, struct inis_error *err);
/* Throws away what the kernel has not written yet, so that unmounting does not write it. Only when all users are dead. */
void layer_shut(struct layer *l);
/* Removes the files of a layer nobody uses. */
void layer_discard(int unit_dir);
/* What the image of a hard layer takes of the disk below; sets errno. */
int layer_stat_image(int unit_dir, struct stat *out);
/* Bytes of a hard layer in use, of an open mount. */
int layer_usage(const struct layer *l, uint64_t *bytes, struct inis_error *err);

/* Between these no layer is attached anywhere: a mount namespace cloned meanwhile keeps none of them alive. */
void overlay_hold(void);
void overlay_release(void);

/* Whether layers are given by path, as older kernels want it, or by descriptor. */
void overlay_use_paths(bool paths);

/* Finds out how this kernel takes layers, with two directories below dir; fails when it has no overlays. */
int overlay_probe(int dir, const char *upper, const char *lower, uint32_t uid_base, struct inis_error *err);

/* Bytes of a soft layer in use, by walking it. */
uint64_t layer_count(int unit_dir);

/*
 * An overlay of `lowers` (directories or detached mounts, topmost first) and, with layer, its writable directory,
 * as seen by the owner of uid range `uid_base`. Without layer it can never be written, whatever flags it gets.
 */
int overlay_mount(const int *lowers, unsigned n, const struct layer *layer, uint32_t uid_base, uint64_t attrs,
		  struct inis_error *err);

#endif
