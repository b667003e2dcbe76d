/* SPDX-License-Identifier: Apache-2.0
 *
 * info.c - what a file is: FILE_INFO and the request for it.
 */
#include <errno.h>
#include <fcntl.h>

#include "agent/files/failure.h"
#include "agent/files/files.h"
#include "agent/files/path.h"
#include "agent/link.h"
#include "agent/request.h"
#include "agent/user.h"

static enum inis_file_type type_of(mode_t mode)
{
	if (S_ISREG(mode))
		return INIS_FILE_REGULAR;
	if (S_ISDIR(mode))
		return INIS_FILE_DIRECTORY;
	return S_ISLNK(mode) ? INIS_FILE_SYMLINK : INIS_FILE_OTHER;
}

void file_send_info(uint32_t channel, const struct stat *st)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_file_info m = {
		.type = (uint8_t)type_of(st->st_mode),
		.mode = st->st_mode & 0777,
		.size = (uint64_t)st->st_size,
		.mtime_ms = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000,
	};

	inis_file_info_pack(&b, &m);
	link_send_buf(channel, INIS_F_FILE_INFO, &b);
}

static int stat_place(struct inis_str path, struct stat *st, struct inis_error *err)
{
	__attribute__((cleanup(place_close))) struct place p = PLACE_INIT;

	if (path_place(path, false, false, &p, err) < 0)
		return -1;
	if (fstatat(p.dir, p.name, st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0)
		return file_fail(err, errno, path);
	return 0;
}

int file_stat_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	struct inis_unpack u;
	struct inis_str path;
	struct stat st;
	int rc;

	inis_unpack_init(&u, data, n);
	path = inis_unpack_str(&u);
	if (!inis_unpack_ok(&u))
		return request_malformed(err);
	guest_rights_enter();
	rc = stat_place(path, &st, err);
	guest_rights_leave();
	if (rc == 0)
		file_send_info(channel, &st);
	return rc;
}
