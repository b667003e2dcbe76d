/* SPDX-License-Identifier: Apache-2.0
 *
 * tree_unpack.c - a tar archive becomes a directory tree.
 *
 * DOC: How it works
 *
 * The directories from the root to the current entry are open, one descriptor each, with their path in the archive. An
 * entry belongs into one of them or nowhere: its last component, checked to be a plain name, is made in that
 * descriptor. So no path of the archive is ever resolved, and a link made by an earlier entry leads nowhere.
 * Modes and times of directories that were made here are set when they are left, since filling them changes both.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/tar.h"
#include "os/path.h"
#include "os/tree_file.h"

struct level {
	int fd;
	size_t length; /* of its path */
	bool fresh; /* made here: gets mode and time when it is left */
	mode_t mode;
	struct timespec mtime;
};

struct inis_tree_unpack {
	struct inis_tree_place place;
	struct inis_tree_report *report;
	struct tar_reader reader;
	struct level levels[INIS_TREE_DEPTH_MAX];
	unsigned depth;
	bool begun;
	char path[TAR_PATH_MAX]; /* in the archive, of the directory levels[depth - 1] */
	char root[INIS_TREE_NAME_MAX]; /* final name of a root directory that still has a temporary one, else "" */
	char root_temp[TREE_TEMP_SIZE];
	struct tree_temp file; /* of the current entry */
	char entry_path[TAR_PATH_MAX];
	const char *entry_name; /* what it is called where it is made */
	mode_t entry_mode;
	struct timespec entry_mtime;
};

static int failed(struct inis_tree_unpack *u, const char *path, const char *why)
{
	inis_tree_note(u->report, true, path, why);
	return 0;
}

/* One entry's failure is told and passed over; a full disk is the end. */
static int failed_with(struct inis_tree_unpack *u, const char *path, struct inis_error *cause, struct inis_error *err)
{
	if (cause->sys_errno == ENOSPC || cause->sys_errno == EDQUOT)
		return inis_fail_copy(err, cause);
	return failed(u, path, cause->message);
}

/* ---- directories ---- */

static void leave(struct inis_tree_unpack *u)
{
	struct level *l = &u->levels[--u->depth];
	const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, l->mtime};

	if (l->fresh && (fchmod(l->fd, l->mode) < 0 || futimens(l->fd, times) < 0))
		failed(u, u->path, strerror(errno));
	close_fd(&l->fd);
	u->path[u->depth ? u->levels[u->depth - 1].length : 0] = '\0';
}

/* Opens dir/name, made when missing. */
static int make_directory(int dir, const char *name, bool *fresh, struct inis_error *err)
{
	int fd;

	*fresh = mkdirat(dir, name, 0700) == 0;
	if (!*fresh && errno != EEXIST)
		return inis_fail_errno(err, "cannot make the directory");
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? inis_fail_errno(err, "cannot go into the directory") : fd;
}

/* A root that is not there is filled under a temporary name. */
static int open_root(struct inis_tree_unpack *u, const char *name, bool *fresh, struct inis_error *err)
{
	int dir = u->place.dir, fd;

	*fresh = false;
	if (u->place.contents) {
		fd = fcntl(dir, F_DUPFD_CLOEXEC, 3);
		return fd < 0 ? inis_fail_errno(err, "cannot use the directory") : fd;
	}
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 || errno != ENOENT)
		return fd < 0 ? inis_fail_errno(err, "cannot go into the directory") : fd;
	if (tree_temp_name(u->root_temp, err) < 0)
		return -1;
	fd = make_directory(dir, u->root_temp, fresh, err);
	if (fd >= 0)
		snprintf(u->root, sizeof(u->root), "%s", name);
	return fd;
}

static int enter(struct inis_tree_unpack *u, const struct tar_entry *e, const char *name, struct inis_error *err)
{
	struct inis_error cause = INIS_ERROR_INIT;
	struct level *l = &u->levels[u->depth];
	int fd;

	if (u->depth == INIS_TREE_DEPTH_MAX)
		return failed(u, e->path, "too many directories inside each other");
	fd = u->depth ? make_directory(l[-1].fd, name, &l->fresh, &cause) : open_root(u, name, &l->fresh, &cause);
	if (fd < 0)
		return failed_with(u, e->path, &cause, err);
	l->fd = fd;
	l->length = strlen(e->path);
	l->mode = e->mode & 0777;
	l->mtime = (struct timespec){e->mtime_s, e->mtime_ns};
	u->depth++;
	memcpy(u->path, e->path, l->length + 1);
	u->report->directories++;
	return 0;
}

/* ---- entries ---- */

static bool plain(const char *name)
{
	return *name && strlen(name) < INIS_TREE_NAME_MAX && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	       !strchr(name, '/');
}

/* Leaves directories until the entry's own is the current one; false: it is none of them, and nothing is left. */
static bool go_to_parent(struct inis_tree_unpack *u, const char *path, size_t parent)
{
	unsigned depth = u->depth;

	while (depth > 0 && u->levels[depth - 1].length > parent)
		depth--;
	if (depth == 0 || u->levels[depth - 1].length != parent || memcmp(u->path, path, parent) != 0)
		return false;
	while (u->depth > depth)
		leave(u);
	return true;
}

static int make_link(struct inis_tree_unpack *u, int dir, const struct tar_entry *e, const char *name,
		     struct inis_error *err)
{
	const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, {e->mtime_s, e->mtime_ns}};
	struct inis_error cause = INIS_ERROR_INIT;
	char temp[TREE_TEMP_SIZE];

	if (tree_temp_name(temp, err) < 0)
		return -1;
	if (symlinkat(e->target, dir, temp) == 0) {
		utimensat(dir, temp, times, AT_SYMLINK_NOFOLLOW);
		if (renameat(dir, temp, dir, name) == 0) {
			u->report->links++;
			return 0;
		}
	}
	inis_fail_errno(&cause, "cannot be put there");
	unlinkat(dir, temp, 0);
	return failed_with(u, e->path, &cause, err);
}

static int begin_file(struct inis_tree_unpack *u, int dir, const struct tar_entry *e, const char *name,
		      struct inis_error *err)
{
	struct inis_error cause = INIS_ERROR_INIT;

	u->entry_mode = e->mode & 0777;
	u->entry_mtime = (struct timespec){e->mtime_s, e->mtime_ns};
	strcpy(u->entry_path, e->path);
	u->entry_name = name == u->place.name ? name : u->entry_path + (name - e->path);
	return tree_temp_open(&u->file, dir, &cause) < 0 ? failed_with(u, e->path, &cause, err) : 0;
}

static int make(struct inis_tree_unpack *u, int dir, const struct tar_entry *e, const char *name,
		struct inis_error *err)
{
	switch (e->type) {
	case TAR_DIR:
		return enter(u, e, name, err);
	case TAR_LINK:
		return make_link(u, dir, e, name, err);
	case TAR_FILE:
		return begin_file(u, dir, e, name, err);
	default:
		inis_tree_note(u->report, false, e->path, "left out: neither a file, a directory nor a symbolic link");
		return 0;
	}
}

static int on_root(struct inis_tree_unpack *u, const struct tar_entry *e, struct inis_error *err)
{
	if (!plain(e->path))
		return inis_fail(err, INIS_BAD_REQUEST, "the archive does not begin with one root");
	if (u->place.contents && e->type != TAR_DIR)
		return inis_fail(err, INIS_BAD_REQUEST, "not a directory: it has no contents to copy");
	u->begun = true;
	return make(u, u->place.dir, e, u->place.name[0] ? u->place.name : e->path, err);
}

static int on_entry(void *ctx, const struct tar_entry *e, struct inis_error *err)
{
	struct inis_tree_unpack *u = ctx;
	const char *slash = strrchr(e->path, '/');

	if (!u->begun)
		return on_root(u, e, err);
	if (!slash || !plain(slash + 1) || !go_to_parent(u, e->path, (size_t)(slash - e->path)))
		return failed(u, e->path, "its directory is not in the archive, or could not be made");
	return make(u, u->levels[u->depth - 1].fd, e, slash + 1, err);
}

static int on_data(void *ctx, const uint8_t *data, size_t n, struct inis_error *err)
{
	struct inis_tree_unpack *u = ctx;
	struct inis_error cause = INIS_ERROR_INIT;

	if (u->file.fd < 0 || tree_temp_write(&u->file, data, n, &cause) == 0)
		return 0;
	tree_temp_drop(&u->file);
	return failed_with(u, u->entry_path, &cause, err);
}

static int on_entry_end(void *ctx, struct inis_error *err)
{
	struct inis_tree_unpack *u = ctx;
	struct inis_error cause = INIS_ERROR_INIT;
	struct stat st;

	if (u->file.fd < 0)
		return 0;
	if (fstat(u->file.fd, &st) < 0)
		st.st_size = 0;
	if (tree_temp_commit(&u->file, u->entry_name, u->entry_mode, &u->entry_mtime, &cause) < 0)
		return failed_with(u, u->entry_path, &cause, err);
	u->report->files++;
	u->report->bytes += (uint64_t)st.st_size;
	return 0;
}

/* ---- the whole ---- */

struct inis_tree_unpack *inis_tree_unpack_new(struct inis_tree_place *place, struct inis_tree_report *report,
					      struct inis_error *err)
{
	static const struct tar_handler handler = {.entry = on_entry, .data = on_data, .entry_end = on_entry_end};
	struct inis_tree_unpack *u = calloc(1, sizeof(*u));

	if (!u) {
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		return NULL;
	}
	u->place = *place;
	place->dir = -1;
	u->report = report;
	u->file = (struct tree_temp)TREE_TEMP_INIT;
	tar_reader_init(&u->reader, &handler, u);
	return u;
}

int inis_tree_unpack_feed(struct inis_tree_unpack *u, const void *data, size_t n, struct inis_error *err)
{
	return tar_read(&u->reader, data, n, err);
}

int inis_tree_unpack_end(struct inis_tree_unpack *u, struct inis_error *err)
{
	if (!u->begun || !tar_read_all(&u->reader))
		return inis_fail(err, INIS_UNAVAILABLE, "not all of the archive came");
	while (u->depth > 0)
		leave(u);
	if (!u->root[0])
		return 0;
	if (renameat(u->place.dir, u->root_temp, u->place.dir, u->root) < 0)
		return inis_fail_errno(err, "%.200s cannot be put there", u->root);
	u->root[0] = '\0';
	return 0;
}

void inis_tree_unpack_free(struct inis_tree_unpack *u)
{
	if (!u)
		return;
	tree_temp_drop(&u->file);
	while (u->depth > 0)
		close_fd(&u->levels[--u->depth].fd);
	if (u->root[0])
		inis_remove_tree_at(u->place.dir, u->root_temp, NULL);
	close_fd(&u->place.dir);
	tar_reader_free(&u->reader);
	free(u);
}
