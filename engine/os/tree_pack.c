/* SPDX-License-Identifier: Apache-2.0
 *
 * tree_pack.c - a directory tree becomes a tar archive.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/tar.h"
#include "os/tree.h"

#define PIECE ((size_t)256 * 1024)

struct pack {
	const struct inis_tree_pack *how;
	struct inis_tree_report *report;
	struct inis_buf out; /* not yet written */
	char path[TAR_PATH_MAX]; /* of the entry, in the archive */
	size_t length;
};

void inis_tree_note(struct inis_tree_report *report, bool failed, const char *path, const char *why)
{
	char text[TAR_PATH_MAX + 256];

	snprintf(text, sizeof(text), "%s: %s", path, why);
	*(failed ? &report->failed : &report->left_out) += 1;
	if (report->note)
		report->note(report->ctx, failed, text);
}

static int failed(struct pack *p, const char *why)
{
	inis_tree_note(p->report, true, p->path, why);
	return 0;
}

static int flush(struct pack *p, bool all)
{
	int rc;

	if (inis_buf_failed(&p->out))
		return -1;
	if (!all && p->out.len < PIECE)
		return 0;
	rc = p->how->write(p->how->ctx, p->out.data, p->out.len);
	inis_buf_reset(&p->out);
	return rc;
}

static int put_entry(struct pack *p, const struct stat *st, enum tar_type type, const char *target)
{
	const struct tar_entry e = {.type = type,
				    .mode = st->st_mode & 0777,
				    .size = type == TAR_FILE ? (uint64_t)st->st_size : 0,
				    .mtime_s = st->st_mtim.tv_sec,
				    .mtime_ns = (uint32_t)st->st_mtim.tv_nsec,
				    .path = p->path,
				    .target = target};

	tar_put_entry(&p->out, &e);
	return flush(p, false);
}

/* What was announced is written, whatever becomes of the file meanwhile. */
static int put_content(struct pack *p, int fd, uint64_t size)
{
	const char *trouble = NULL;

	for (uint64_t left = size; left > 0;) {
		size_t want = left < PIECE ? (size_t)left : PIECE;
		uint8_t *to = inis_buf_reserve(&p->out, want);
		ssize_t got = !to ? -1 : trouble ? 0 : read(fd, to, want);

		if (!to)
			return -1;
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			trouble = trouble ? trouble : got < 0 ? strerror(errno) : "became shorter while it was read";
			memset(to, 0, want);
			got = (ssize_t)want;
		}
		p->out.len += (size_t)got;
		left -= (uint64_t)got;
		if (flush(p, false) < 0)
			return -1;
	}
	tar_put_padding(&p->out, size);
	p->report->bytes += size;
	return trouble ? failed(p, trouble) : 0;
}

static int pack_file(struct pack *p, int fd, const struct stat *st)
{
	p->report->files++;
	return put_entry(p, st, TAR_FILE, NULL) < 0 ? -1 : put_content(p, fd, (uint64_t)st->st_size);
}

static int pack_link(struct pack *p, int dir, const char *name, const struct stat *st)
{
	char target[TAR_PATH_MAX];
	ssize_t n = readlinkat(dir, name, target, sizeof(target));

	if (n < 0 || (size_t)n == sizeof(target))
		return failed(p, n < 0 ? strerror(errno) : "the link's target is too long");
	target[n] = '\0';
	p->report->links++;
	return put_entry(p, st, TAR_LINK, target);
}

static const char *special(mode_t mode)
{
	return S_ISSOCK(mode) ? "left out: a socket" : S_ISFIFO(mode) ? "left out: a named pipe" : "left out: a device";
}

static int pack_directory(struct pack *p, int fd, const struct stat *st, unsigned depth);

/* What fd is; takes it over. */
static int pack_open(struct pack *p, int fd, unsigned depth)
{
	cleanup_close int owned = fd;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return failed(p, strerror(errno));
	if (S_ISREG(st.st_mode))
		return pack_file(p, fd, &st);
	if (S_ISDIR(st.st_mode))
		return pack_directory(p, take_fd(&owned), &st, depth);
	inis_tree_note(p->report, false, p->path, special(st.st_mode));
	return 0;
}

static int pack_name(struct pack *p, int dir, const char *name, unsigned depth)
{
	struct stat st;
	int fd;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return failed(p, strerror(errno));
	if (S_ISLNK(st.st_mode))
		return pack_link(p, dir, name, &st);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		inis_tree_note(p->report, false, p->path, special(st.st_mode));
		return 0;
	}
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? failed(p, strerror(errno)) : pack_open(p, fd, depth);
}

static bool excluded(const struct pack *p, const char *name)
{
	for (const char *const *pattern = p->how->exclude; pattern && *pattern; pattern++)
		if (fnmatch(*pattern, name, 0) == 0)
			return true;
	return false;
}

/* One name of a directory, whose path is the first `length` bytes of p->path. */
static int pack_child(struct pack *p, int dir, const char *name, unsigned depth)
{
	size_t length = p->length, n = strlen(name);
	int rc;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return 0;
	if (length + n + 3 > sizeof(p->path))
		return failed(p, "a path below it is too long");
	p->length += (size_t)snprintf(p->path + length, sizeof(p->path) - length, "/%s", name);
	if (excluded(p, name)) {
		inis_tree_note(p->report, false, p->path, "left out: excluded");
		rc = 0;
	} else {
		rc = pack_name(p, dir, name, depth);
	}
	p->path[p->length = length] = '\0';
	return rc;
}

static int pack_directory(struct pack *p, int fd, const struct stat *st, unsigned depth)
{
	cleanup_dir DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int rc;

	if (!dir) {
		close(fd);
		return failed(p, strerror(errno));
	}
	if (depth > INIS_TREE_DEPTH_MAX)
		return failed(p, "too many directories inside each other");
	p->report->directories++;
	rc = put_entry(p, st, TAR_DIR, NULL);
	while (rc == 0) {
		errno = 0;
		entry = readdir(dir);
		if (!entry)
			return errno ? failed(p, strerror(errno)) : 0;
		rc = pack_child(p, dirfd(dir), entry->d_name, depth + 1);
	}
	return rc;
}

/* The last component without slashes behind it; "_" where that names nothing. */
static void root_name(struct pack *p, const char *path)
{
	size_t end = strlen(path), begin;

	while (end > 0 && path[end - 1] == '/')
		end--;
	for (begin = end; begin > 0 && path[begin - 1] != '/';)
		begin--;
	p->length = (size_t)snprintf(p->path, sizeof(p->path), "%.*s", (int)(end - begin), path + begin);
	if (p->length == 0 || strcmp(p->path, ".") == 0 || strcmp(p->path, "..") == 0)
		p->length = (size_t)snprintf(p->path, sizeof(p->path), "_");
}

int inis_tree_pack(const struct inis_tree_pack *how, const char *path, struct inis_tree_report *report,
		   struct inis_error *err)
{
	struct pack p = {.how = how, .report = report, .out = INIS_BUF_INIT(0)};
	struct stat st;
	int fd, rc;

	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return inis_fail_errno(err, "%.200s", path);
	if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		close(fd);
		return inis_fail(err, INIS_BAD_REQUEST, "%.200s is neither a file nor a directory", path);
	}
	root_name(&p, path);
	rc = pack_open(&p, fd, 1);
	tar_put_end(&p.out);
	if (rc == 0)
		rc = flush(&p, true);
	if (rc < 0)
		inis_fail(err, INIS_UNAVAILABLE,
			  inis_buf_failed(&p.out) ? "out of memory" : "the archive is not taken");
	inis_buf_free(&p.out);
	return rc;
}
