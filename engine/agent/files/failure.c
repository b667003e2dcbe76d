/* SPDX-License-Identifier: Apache-2.0
 *
 * failure.c - what a failed system call on a file means to the client.
 *
 * Clients of two generations look at code or text: both are fixed here.
 */
#include "agent/files/failure.h"

#include <errno.h>
#include <string.h>

static const struct row {
	int error;
	enum inis_code code;
	const char *text;
} ROWS[] = {
	{ENOENT, INIS_NOT_FOUND, "no such file or directory"},
	{ENOTDIR, INIS_NOT_FOUND, "not a directory"},
	{EISDIR, INIS_IS_DIRECTORY, "is a directory"},
	{EACCES, INIS_PERMISSION_DENIED, "permission denied"},
	{EPERM, INIS_PERMISSION_DENIED, "permission denied"},
	{EROFS, INIS_PERMISSION_DENIED, "permission denied: read-only file system"},
	{EXDEV, INIS_INVALID_PATH, "path must be under /workspace"},
	{ELOOP, INIS_INVALID_PATH, "too many levels of symbolic links"},
	{ENAMETOOLONG, INIS_INVALID_PATH, "file name too long"},
	{EINVAL, INIS_BAD_REQUEST, "invalid argument"},
	{ENXIO, INIS_BAD_REQUEST, "not a regular file"},
	{EEXIST, INIS_CONFLICT, "file exists"},
	{EBUSY, INIS_CONFLICT, "resource busy"},
	{ETXTBSY, INIS_CONFLICT, "text file busy"},
	{ENOTEMPTY, INIS_BAD_REQUEST, "directory not empty"},
	{ENOSPC, INIS_PAYLOAD_TOO_LARGE, "no space left on device"},
	{EDQUOT, INIS_PAYLOAD_TOO_LARGE, "no space left on device: quota exceeded"},
	{EFBIG, INIS_PAYLOAD_TOO_LARGE, "file too large"},
	{EMFILE, INIS_UNAVAILABLE, "too many open files"},
	{ENFILE, INIS_UNAVAILABLE, "too many open files"},
	{ENOMEM, INIS_UNAVAILABLE, "out of memory"},
	{EAGAIN, INIS_UNAVAILABLE, "the path keeps changing"},
};

int file_fail(struct inis_error *err, int error, struct inis_str path)
{
	const struct row known_not = {error, INIS_INTERNAL, strerror(error)};
	const struct row *row = &known_not;
	int n = path.len < 200 ? (int)path.len : 200;

	for (unsigned i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
		if (ROWS[i].error == error)
			row = &ROWS[i];
	}
	inis_fail(err, row->code, "%.*s: %s", n, path.s, row->text);
	if (err)
		err->sys_errno = error;
	return -1;
}
