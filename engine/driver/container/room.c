/* SPDX-License-Identifier: Apache-2.0
 *
 * room.c - what is written in a session finds room on the machine's disk, or is refused.
 *
 * Images are sparse, and together promise more than the disk below them has. A write that the file system of a unit
 * takes, and for which its image then gets no block, would be lost, and nobody told: ext4 hears of it long after the
 * program that wrote. So while the disk could be full before the next look at it, what it has is shared out. Each
 * file system keeps back what is free on it beyond its share, and a program meets "no space left" at once. What a
 * session has deleted is given back to the disk meanwhile.
 *
 * Some room is kept from sessions altogether: for the metadata of their file systems, which ask for blocks that no
 * share counts, and for the server's own files. Others can take that too. So on a disk that could be full soon, what
 * was written in units gets its blocks at each look, not when the kernel comes to it half a minute later; and part of
 * what is kept is a file of real blocks. It is given up bit by bit once the disk is full, since a file system of which
 * one block of metadata cannot be written is read-only for good; and as a whole by a broker that starts on a full
 * disk, since without it no session could be destroyed either.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "driver/container/internal.h"
#include "os/path.h"

#define LOOK_MS  500
#define PLENTY   ((uint64_t)4 << 30) /* not even a fast disk is filled by so much between two looks */
#define KEPT     ((uint64_t)64 << 20)
#define UNIT_MIN ((uint64_t)1 << 20) /* of a share, for a unit to be worth making */
#define TRIM_MIN ((uint64_t)32 << 20)

#define RESERVE      "reserve"
#define RESERVE_SIZE ((uint64_t)32 << 20)
#define LEFT_MIN     ((uint64_t)4 << 20) /* below this the reserve makes up for it */

/* The blocks that ext4 keeps back of itself: one in fifty, but no more than these. */
#define RESERVED_PART 50
#define RESERVED_MAX  4096

/* Bytes of the disk that anybody may have; a disk that does not say has plenty. */
static uint64_t disk_left(const struct container *c)
{
	struct statvfs fs;

	return fstatvfs(c->units_dir, &fs) < 0 ? UINT64_MAX : (uint64_t)fs.f_bavail * fs.f_frsize;
}

static bool has_share(const struct cunit *cu)
{
	return cu->layer.kind == INIS_DISK_HARD && cu->layer.loop >= 0 &&
	       (cu->state == CU_BLANK || cu->state == CU_ACTIVATING || cu->state == CU_LIVE);
}

static int open_settings(const struct cunit *cu)
{
	char path[48];

	snprintf(path, sizeof(path), "/sys/fs/ext4/loop%d", cu->layer.loop);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Bytes that were written in the unit and have no block of its file system yet, let alone of the disk. */
static uint64_t bytes_waiting(const struct cunit *cu)
{
	cleanup_close int settings = open_settings(cu);
	char text[32];

	if (settings < 0 || inis_read_at(settings, "delayed_allocation_blocks", text, sizeof(text), NULL) < 0)
		return 0;
	return strtoull(text, NULL, 10) * LAYER_BLOCK;
}

static void keep_back(const struct cunit *cu, uint64_t blocks)
{
	cleanup_close int settings = open_settings(cu);
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, blocks);
	if (settings >= 0)
		inis_write_at(settings, "reserved_clusters", text, NULL);
}

/* What was written has its blocks afterwards; those of files that were deleted the image no longer keeps. */
static void work_square(struct inis_job *job)
{
	const struct cunit *cu = field_owner(job, struct cunit, job);
	cleanup_close int dir = openat(cu->layer.mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct fstrim_range all = {.len = UINT64_MAX};
	struct stat image;
	struct statfs fs;

	if (dir < 0 || syncfs(dir) < 0 || fstatfs(dir, &fs) < 0 || layer_stat_image(cu->dir, &image) < 0)
		return;
	if ((uint64_t)image.st_blocks * 512 >= (fs.f_blocks - fs.f_bfree) * LAYER_BLOCK + TRIM_MIN)
		ioctl(dir, FITRIM, &all);
}

/* From here on the unit may write this much, and no more. */
static void give_share(struct cunit *cu, uint64_t share)
{
	struct statfs fs;
	uint64_t blocks = share / LAYER_BLOCK;
	uint64_t reserved;

	if (cunit_open_layer(cu, NULL) < 0 || fstatfs(cu->layer.mount, &fs) < 0)
		return;
	reserved = fs.f_blocks / RESERVED_PART < RESERVED_MAX ? fs.f_blocks / RESERVED_PART : RESERVED_MAX;
	if (fs.f_bfree > blocks && fs.f_bfree - blocks > reserved)
		reserved = fs.f_bfree - blocks;
	keep_back(cu, reserved);
	if (share != UINT64_MAX)
		cunit_sweep(cu, work_square);
}

static void share_out(struct container *c, uint64_t share)
{
	for (struct cunit *cu = c->units; cu; cu = cu->next) {
		if (has_share(cu))
			give_share(cu, share);
	}
}

/* What the disk has left for sessions, and how many there are to have it. */
static uint64_t count_room(const struct container *c, unsigned *units)
{
	uint64_t left = disk_left(c);
	uint64_t taken = KEPT;

	*units = 0;
	for (const struct cunit *cu = c->units; cu; cu = cu->next) {
		if (!has_share(cu))
			continue;
		taken += bytes_waiting(cu);
		++*units;
	}
	return left > taken ? left - taken : 0;
}

void room_give_reserve(struct container *c)
{
	unlinkat(c->templates_dir, RESERVE, 0);
	c->room.reserve = 0;
}

static void take_reserve(struct container *c)
{
	cleanup_close int fd = openat(c->templates_dir, RESERVE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd >= 0 && posix_fallocate(fd, 0, (off_t)RESERVE_SIZE) == 0)
		c->room.reserve = RESERVE_SIZE;
	else
		room_give_reserve(c);
}

/* The disk has room again for what cannot be refused. */
static void spend_reserve(struct container *c, uint64_t bytes)
{
	cleanup_close int fd = openat(c->templates_dir, RESERVE, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	c->room.reserve -= bytes < c->room.reserve ? bytes : c->room.reserve;
	if (fd < 0 || ftruncate(fd, (off_t)c->room.reserve) < 0)
		room_give_reserve(c);
}

void room_look(struct container *c)
{
	bool was_short = c->room.is_short;
	uint64_t left = disk_left(c);
	unsigned units;

	inis_timer_start(c->config.events, &c->room.timer, LOOK_MS);
	c->room.is_short = left < PLENTY;
	if (left < LEFT_MIN && c->room.reserve > 0)
		spend_reserve(c, LEFT_MIN - left);
	c->room.left = UINT64_MAX;
	if (c->room.is_short) {
		c->room.left = count_room(c, &units);
		share_out(c, units ? c->room.left / units : 0);
	} else if (was_short) {
		share_out(c, UINT64_MAX);
	}
	if (c->room.reserve < RESERVE_SIZE && c->room.left > RESERVE_SIZE)
		take_reserve(c);
}

static void on_timer(struct inis_timer *t)
{
	room_look(field_owner(t, struct container, room.timer));
}

void room_watch(struct container *c)
{
	c->room.timer.fire = on_timer;
	/* Units that were adopted may still keep back what an earlier broker told them. */
	c->room.is_short = true;
	room_look(c);
}

void room_unwatch(struct container *c)
{
	inis_timer_stop(c->config.events, &c->room.timer);
}

int room_check(const struct container *c, struct inis_error *err)
{
	if (!c->room.is_short || c->room.left >= UNIT_MIN)
		return 0;
	errno = ENOSPC;
	return inis_fail_errno(err, "no room for sessions on the server's disk");
}
