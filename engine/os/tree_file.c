/* SPDX-License-Identifier: Apache-2.0
 *
 * tree_file.c - where a tree goes, and files that appear whole.
 */
#include "os/tree_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "os/fd.h"

/* ---- temporary files ---- */

int tree_temp_name(char out[static TREE_TEMP_SIZE], struct inis_error *err)
{
	char random[13];

	if (inis_random_text(random, sizeof(random) - 1, err) < 0)
		return -1;
	snprintf(out, TREE_TEMP_SIZE, ".inis-%s", random);
	return 0;
}

int tree_temp_open(struct tree_temp *t, int dir, struct inis_error *err)
{
	if (tree_temp_name(t->name, err) < 0)
		return -1;
	t->dir = dir;
	t->fd = openat(dir, t->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return t->fd < 0 ? inis_fail_errno(err, "cannot make a file") : 0;
}

int tree_temp_write(struct tree_temp *t, const void *data, size_t n, struct inis_error *err)
{
	return inis_write_all(t->fd, data, n, err);
}

void tree_temp_drop(struct tree_temp *t)
{
	if (t->fd < 0)
		return;
	unlinkat(t->dir, t->name, 0);
	close_fd(&t->fd);
}

int tree_temp_commit(struct tree_temp *t, const char *name, mode_t mode, const struct timespec *mtime,
		     struct inis_error *err)
{
	struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_OMIT}};

	if (mtime)
		times[1] = *mtime;
	if (fchmod(t->fd, mode) < 0 || futimens(t->fd, times) < 0 || renameat(t->dir, t->name, t->dir, name) < 0) {
		inis_fail_errno(err, "cannot be put there");
		tree_temp_drop(t);
		return -1;
	}
	close_fd(&t->fd);
	return 0;
}

/* ---- places ---- */

static int make_directories(char *path, struct inis_error *err)
{
	for (char *slash = path; slash; *slash = '/') {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		if (mkdir(path, 0777) < 0 && errno != EEXIST && errno != EISDIR)
			return inis_fail_errno(err, "cannot make the directory %.200s", path);
		if (!slash)
			break;
	}
	return 0;
}

static int open_place(char *path, struct inis_tree_place *place, struct inis_error *err)
{
	if (*path && make_directories(path, err) < 0)
		return -1;
	place->dir = open(*path ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return place->dir < 0 ? inis_fail_errno(err, "cannot go into %.200s", path) : 0;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int inis_tree_place(const char *path, bool contents, struct inis_tree_place *place, struct inis_error *err)
{
	cleanup_free char *copy = strdup(path);
	size_t n = strlen(path);
	char *slash;

	*place = (struct inis_tree_place){.dir = -1, .contents = contents};
	if (!copy)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	if (n == 0 || n >= PATH_MAX)
		return inis_fail(err, INIS_BAD_REQUEST, "no usable path");
	if (contents || path[n - 1] == '/' || is_directory(path))
		return open_place(copy, place, err);
	slash = strrchr(copy, '/');
	if (strlen(slash ? slash + 1 : copy) >= sizeof(place->name))
		return inis_fail(err, INIS_BAD_REQUEST, "the name at the end of %.200s is too long", path);
	snprintf(place->name, sizeof(place->name), "%s", slash ? slash + 1 : copy);
	if (!slash)
		*copy = '\0';
	else
		slash[slash == copy] = '\0';
	return open_place(copy, place, err);
}

/* ---- one file ---- */

struct inis_tree_file {
	int dir;
	char name[INIS_TREE_NAME_MAX];
	struct tree_temp temp;
};

struct inis_tree_file *inis_tree_file_new(struct inis_tree_place *place, const char *name, struct inis_error *err)
{
	struct inis_tree_file *f = calloc(1, sizeof(*f));
	const char *chosen = place->name[0] ? place->name : name;

	if (!f) {
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		return NULL;
	}
	f->dir = take_fd(&place->dir);
	f->temp.fd = -1;
	if (!chosen[0] || strchr(chosen, '/') || strcmp(chosen, ".") == 0 || strcmp(chosen, "..") == 0 ||
	    strlen(chosen) >= sizeof(f->name)) {
		inis_fail(err, INIS_BAD_REQUEST, "the target is a directory: which name is the file to have in it?");
		inis_tree_file_free(f);
		return NULL;
	}
	strcpy(f->name, chosen);
	if (tree_temp_open(&f->temp, f->dir, err) < 0) {
		inis_tree_file_free(f);
		return NULL;
	}
	return f;
}

int inis_tree_file_write(struct inis_tree_file *f, const void *data, size_t n, struct inis_error *err)
{
	return tree_temp_write(&f->temp, data, n, err);
}

/* A file that is there keeps its mode. */
int inis_tree_file_end(struct inis_tree_file *f, struct inis_error *err)
{
	struct stat st;
	mode_t mode = 0644;

	if (fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
		mode = st.st_mode & 0777;
	return tree_temp_commit(&f->temp, f->name, mode, NULL, err);
}

void inis_tree_file_free(struct inis_tree_file *f)
{
	if (!f)
		return;
	tree_temp_drop(&f->temp);
	close_fd(&f->dir);
	free(f);
}
