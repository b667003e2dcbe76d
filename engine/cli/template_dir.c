/* SPDX-License-Identifier: Apache-2.0
 *
 * template_dir.c - the templates of a state directory.
 */
#include "cli/template_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "os/path.h"

#define LOCK      ".lock"
#define TEMPORARY ".build-"

int template_dir_open(const char *state_dir, struct inis_error *err)
{
	cleanup_close int state = -1;

	if (mkdir(state_dir, 0711) < 0 && errno != EEXIST)
		return inis_fail_errno(err, "make %s", state_dir);
	state = inis_open_dir(state_dir, err);
	return state < 0 ? -1 : inis_make_dir_at(state, INIS_TEMPLATES_DIR, 0700, err);
}

int template_dir_lock(int templates, struct inis_error *err)
{
	cleanup_close int fd = openat(templates, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return inis_fail_errno(err, "open the lock of the templates");
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? inis_fail(err, INIS_CONFLICT, "another build or removal is going on")
					    : inis_fail_errno(err, "lock the templates");
	return take_fd(&fd);
}

static DIR *list_dir(int dir)
{
	int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = own < 0 ? NULL : fdopendir(own);

	if (!entries)
		close_fd(&own);
	return entries;
}

void template_dir_sweep(int templates)
{
	cleanup_dir DIR *entries = list_dir(templates);
	struct dirent *e;

	while (entries && (e = readdir(entries))) {
		if (strncmp(e->d_name, TEMPORARY, strlen(TEMPORARY)) == 0)
			inis_remove_tree_at(templates, e->d_name, NULL);
	}
}

static int temporary_name(char name[static 32], struct inis_error *err)
{
	char tag[9];

	if (inis_random_text(tag, sizeof(tag) - 1, err) < 0)
		return -1;
	snprintf(name, 32, TEMPORARY "%s", tag);
	return 0;
}

int template_dir_temporary(int templates, char name[static 32], struct inis_error *err)
{
	return temporary_name(name, err) < 0 ? -1 : inis_make_dir_at(templates, name, 0700, err);
}

static int newest_first(const void *a, const void *b)
{
	const struct inis_template_manifest *x = a;
	const struct inis_template_manifest *y = b;

	return (x->built_at < y->built_at) - (x->built_at > y->built_at);
}

static int append(struct template_list *list, const struct inis_template_manifest *m, struct inis_error *err)
{
	struct inis_template_manifest *more = reallocarray(list->items, list->count + 1, sizeof(*more));

	if (!more)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	list->items = more;
	list->items[list->count++] = *m;
	return 0;
}

int template_dir_list(int templates, struct template_list *list, struct inis_error *err)
{
	cleanup_dir DIR *entries = list_dir(templates);
	struct dirent *e;

	*list = (struct template_list){0};
	if (!entries)
		return inis_fail_errno(err, "list the templates");
	while ((e = readdir(entries))) {
		struct inis_template_manifest m;
		cleanup_close int dir = -1;

		if (inis_template_is_dir_name(e->d_name))
			dir = inis_template_open(templates, e->d_name, &m, NULL);
		if (dir >= 0 && append(list, &m, err) < 0)
			return -1;
	}
	if (list->count > 1)
		qsort(list->items, list->count, sizeof(*list->items), newest_first);
	return 0;
}

void template_list_free(struct template_list *list)
{
	free(list->items);
	*list = (struct template_list){0};
}

const struct inis_template_manifest *template_list_find(const struct template_list *list, const char *ref,
							struct inis_error *err)
{
	const char *at = strchr(ref, '@');
	size_t length = at ? (size_t)(at - ref) : strlen(ref);

	for (size_t i = 0; i < list->count; i++) {
		const struct inis_template_manifest *m = &list->items[i];

		if (strlen(m->name) == length && strncmp(m->name, ref, length) == 0 &&
		    (!at || strcmp(m->version, at + 1) == 0))
			return m;
	}
	inis_fail(err, INIS_NOT_FOUND, "there is no template %s; see inis template ls", ref);
	return NULL;
}

/* A unit that uses the template has its id there. */
static int check_unused(int dir, const struct inis_template_manifest *m, struct inis_error *err)
{
	cleanup_close int users = openat(dir, INIS_TEMPLATE_USERS, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	cleanup_dir DIR *entries = users < 0 ? NULL : list_dir(users);
	struct dirent *e;

	while (entries && (e = readdir(entries))) {
		if (e->d_name[0] != '.')
			return inis_fail(err, INIS_CONFLICT, "template %s@%s is used by a session (unit %s)", m->name,
					 m->version, e->d_name);
	}
	return 0;
}

int template_dir_remove(int templates, const struct inis_template_manifest *m, struct inis_error *err)
{
	char name[INIS_TEMPLATE_DIR_SIZE];
	char gone[32];
	cleanup_close int dir = -1;

	inis_template_dir_name(m, name);
	dir = inis_openat2(templates, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, 0);
	if (dir < 0)
		return inis_fail_errno(err, "open the template %s", m->name);
	/* Nobody is disturbed who would only be refused. */
	if (check_unused(dir, m, err) < 0 || temporary_name(gone, err) < 0)
		return -1;
	if (renameat(templates, name, templates, gone) < 0)
		return inis_fail_errno(err, "take the name of template %s away", m->name);
	if (check_unused(dir, m, err) < 0) {
		renameat(templates, gone, templates, name);
		return -1;
	}
	return inis_remove_tree_at(templates, gone, err);
}
