/* SPDX-License-Identifier: Apache-2.0
 *
 * names.c - making directories and renaming.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "agent/files/failure.h"
#include "agent/files/files.h"
#include "agent/files/path.h"
#include "agent/request.h"
#include "agent/user.h"
#include "base/cleanup.h"

#define cleanup_place __attribute__((cleanup(place_close)))

static int make_directory(struct inis_str path, struct stat *st, struct inis_error *err)
{
	cleanup_place struct place p = PLACE_INIT;

	if (path_place(path, true, true, &p, err) < 0)
		return -1;
	if (p.name[0] && mkdirat(p.dir, p.name, 0755) < 0 && errno != EEXIST)
		return file_fail(err, errno, path);
	if (fstatat(p.dir, p.name, st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0)
		return file_fail(err, errno, path);
	return S_ISDIR(st->st_mode) ? 0 : file_fail(err, EEXIST, path);
}

int file_mkdir_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
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
	rc = make_directory(path, &st, err);
	guest_rights_leave();
	if (rc == 0)
		file_send_info(channel, &st);
	return rc;
}

/* rename(2) says some things about the target that would read oddly about the source. */
static int rename_failed(int error, struct inis_str path, struct inis_str dest, struct inis_error *err)
{
	int n = (int)(dest.len < 200 ? dest.len : 200);

	switch (error) {
	case EEXIST:
	case ENOTEMPTY:
		return inis_fail(err, INIS_CONFLICT, "%.*s: directory not empty", n, dest.s);
	case EISDIR:
	case ENOTDIR:
		return file_fail(err, error, dest);
	case EINVAL:
		return inis_fail(err, INIS_BAD_REQUEST, "%.*s: a directory cannot be moved into itself", n, dest.s);
	case EXDEV:
		return inis_fail(err, INIS_CONFLICT, "%.*s: cannot be renamed across file systems", n, dest.s);
	default:
		return file_fail(err, error, path);
	}
}

static int rename_place(struct inis_str path, struct inis_str dest, struct stat *st, struct inis_error *err)
{
	cleanup_place struct place from = PLACE_INIT, to = PLACE_INIT;

	/* Nothing is made for a source that is not there. */
	if (path_place(path, false, false, &from, err) < 0)
		return -1;
	if (fstatat(from.dir, from.name, st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0)
		return file_fail(err, errno, path);
	if (path_place(dest, true, false, &to, err) < 0)
		return -1;
	if (!from.name[0] || !to.name[0])
		return inis_fail(err, INIS_BAD_REQUEST, "the workspace itself cannot be renamed or replaced");
	if (renameat(from.dir, from.name, to.dir, to.name) < 0)
		return rename_failed(errno, path, dest, err);
	if (fstatat(to.dir, to.name, st, AT_SYMLINK_NOFOLLOW) < 0)
		return file_fail(err, errno, dest);
	return 0;
}

int file_rename_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	struct inis_unpack u;
	struct inis_str path, dest;
	struct stat st;
	int rc;

	inis_unpack_init(&u, data, n);
	path = inis_unpack_str(&u);
	dest = inis_unpack_str(&u);
	if (!inis_unpack_ok(&u))
		return request_malformed(err);
	guest_rights_enter();
	rc = rename_place(path, dest, &st, err);
	guest_rights_leave();
	if (rc == 0)
		file_send_info(channel, &st);
	return rc;
}
