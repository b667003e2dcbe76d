/* SPDX-License-Identifier: Apache-2.0
 *
 * reserve.c - space on disk that the database can fall back on.
 *
 * A file of real blocks. It goes when a write finds the disk full, and comes back
 * when there is room for it again and as much besides.
 */
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/sqlite.h"

#define RESERVE_FILE "db.reserve"
#define RESERVE_SIZE (4L * 1024 * 1024)

void store_reserve_fill(struct inis_store *s)
{
	cleanup_close int fd = openat(s->dir_fd, RESERVE_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct statvfs fs;

	if (fd < 0)
		return;
	if (fstatvfs(fd, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize >= 2 * (uint64_t)RESERVE_SIZE &&
	    posix_fallocate(fd, 0, RESERVE_SIZE) == 0)
		s->has_reserve = true;
	else
		unlinkat(s->dir_fd, RESERVE_FILE, 0);
}

bool store_reserve_release(struct inis_store *s)
{
	s->has_reserve = false;
	s->reserve_tried_at = inis_now_ms();
	return unlinkat(s->dir_fd, RESERVE_FILE, 0) == 0;
}
