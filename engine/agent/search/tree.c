/* SPDX-License-Identifier: Apache-2.0
 *
 * tree.c - walking a directory tree.
 */
#include "agent/search/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "wire/agent_proto.h"

#define DEPTH_MAX 200
#define HELD_MAX  ((size_t)64 * 1024 * 1024)

/* The names of a directory: a type byte and a name each, NUL-terminated, and where each begins. */
struct names {
	struct inis_buf text;
	struct inis_buf starts; /* const char *[] once all is read; offsets before */
};

static void names_free(struct names *n)
{
	inis_buf_free(&n->text);
	inis_buf_free(&n->starts);
}

static uint8_t type_of(int dir, const struct dirent *d)
{
	struct stat st;
	mode_t mode = DTTOIF(d->d_type);

	if (d->d_type == DT_UNKNOWN)
		mode = fstatat(dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mode : 0;
	if (S_ISREG(mode))
		return INIS_FILE_REGULAR;
	if (S_ISDIR(mode))
		return INIS_FILE_DIRECTORY;
	return S_ISLNK(mode) ? INIS_FILE_SYMLINK : INIS_FILE_OTHER;
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a + 1, *(const char *const *)b + 1);
}

/* Reads all of a directory, or what may be held of it, and sorts it. */
static void names_read(struct tree *t, DIR *dir, struct names *names)
{
	const struct dirent *d;
	uintptr_t *at;
	size_t n;

	while ((d = readdir(dir))) {
		uintptr_t start = names->text.len;
		uint8_t type;

		if (is_dots(d->d_name))
			continue;
		if (t->held + names->text.len > HELD_MAX || t->stop(t)) {
			t->cut = true;
			break;
		}
		type = type_of(dirfd(dir), d);
		inis_buf_append(&names->starts, &start, sizeof(start));
		inis_buf_append(&names->text, &type, 1);
		inis_buf_append(&names->text, d->d_name, strlen(d->d_name) + 1);
	}
	if (inis_buf_failed(&names->text) || inis_buf_failed(&names->starts)) {
		t->cut = true;
		inis_buf_reset(&names->starts);
	}
	at = (uintptr_t *)(void *)names->starts.data;
	n = names->starts.len / sizeof(*at);
	for (size_t i = 0; i < n; i++)
		at[i] += (uintptr_t)names->text.data;
	if (n > 1)
		qsort(at, n, sizeof(*at), compare);
}

static void walk(struct tree *t, int fd, uint64_t state, unsigned depth);

/* The tree's path becomes that of the entry; false when there is no memory. */
static bool push(struct tree *t, const char *name)
{
	inis_buf_append(&t->path, "/", 1);
	inis_buf_append(&t->path, name, strlen(name));
	return inis_buf_cstr(&t->path) != NULL;
}

static void enter(struct tree *t, const struct tree_entry *e, uint64_t state)
{
	int fd;

	if (e->depth >= DEPTH_MAX) {
		t->cut = true;
		return;
	}
	fd = openat(e->dir, e->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		walk(t, fd, state, e->depth + 1);
}

static void visit(struct tree *t, int dir, const char *typed_name, uint64_t state, unsigned depth)
{
	struct tree_entry e = {.dir = dir, .name = typed_name + 1, .type = (uint8_t)typed_name[0], .depth = depth};
	size_t before = t->path.len;
	uint64_t below;

	if (push(t, e.name)) {
		e.path = (const char *)t->path.data;
		below = t->visit(t, &e, state);
		if (below && e.type == INIS_FILE_DIRECTORY)
			enter(t, &e, below);
	} else {
		t->cut = true;
		t->path.failed = false;
	}
	t->path.len = before;
}

static void walk(struct tree *t, int fd, uint64_t state, unsigned depth)
{
	cleanup_dir DIR *dir = fdopendir(fd);
	__attribute__((cleanup(names_free))) struct names names = {INIS_BUF_INIT(0), INIS_BUF_INIT(0)};
	const char *const *list;
	size_t n, held;

	if (!dir) {
		close(fd);
		t->cut = true;
		return;
	}
	names_read(t, dir, &names);
	held = names.text.len;
	t->held += held;
	list = (const char *const *)(void *)names.starts.data;
	n = names.starts.len / sizeof(*list);
	for (size_t i = 0; i < n; i++) {
		if (t->stop(t)) {
			t->cut = true;
			break;
		}
		visit(t, dirfd(dir), list[i], state, depth);
	}
	t->held -= held;
}

void tree_walk(struct tree *t, int dir, uint64_t state)
{
	walk(t, dir, state, 1);
}
