/* SPDX-License-Identifier: Apache-2.0
 *
 * bases.c - what units start from: the host's /usr, or a template.
 *
 * A unit in use leaves its id as an empty file in users/ of its template. Who removes a template first takes its
 * name away and then looks there; who uses it first leaves its id and then looks whether the name is still there.
 * So one of the two always sees the other, with no daemon in between.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "driver/container/internal.h"
#include "os/path.h"

#define HOST          "host"
#define DEFAULT_NAME  "debian"
#define HOST_TAG_SIZE 16

struct base *base_new(const char *name, int dir, struct inis_error *err)
{
	cleanup_close int own = dir;
	struct base *b = calloc(1, sizeof(*b));

	if (!b) {
		inis_fail(err, INIS_UNAVAILABLE, "no memory for a template");
		return NULL;
	}
	snprintf(b->name, sizeof(b->name), "%s", name);
	b->dir = take_fd(&own);
	return b;
}

/* A new one each start, under a new name: older ones may be in use by units that run on. */
static int make_host(struct container *c, struct inis_error *err)
{
	char name[sizeof(HOST "/") + HOST_TAG_SIZE] = HOST "/";
	cleanup_close int host = inis_make_dir_at(c->templates_dir, HOST, 0700, err);
	cleanup_close int dir = -1;
	struct base *b;

	if (host < 0 || inis_random_text(name + strlen(HOST "/"), HOST_TAG_SIZE, err) < 0)
		return -1;
	dir = inis_make_dir_at(c->templates_dir, name, 0700, err);
	if (dir < 0 || host_base_build(dir, err) < 0)
		return -1;
	b = base_new(name, take_fd(&dir), err);
	if (!b)
		return -1;
	b->host = true;
	b->next = c->bases;
	c->bases = b;
	return 0;
}

/* Whether a reference names this base. */
static bool is_named(const struct base *b, const char *name, size_t length, const char *version)
{
	const char *own = b->host ? HOST : b->manifest.name;

	if (b->gone || strlen(own) != length || strncmp(own, name, length) != 0)
		return false;
	return !version || (!b->host && strcmp(b->manifest.version, version) == 0);
}

struct base *base_find(struct container *c, const char *template_name)
{
	const char *at = strchr(template_name, '@');
	size_t length = at ? (size_t)(at - template_name) : strlen(template_name);
	struct base *newest = NULL;

	if (length == 0 && !at) {
		newest = base_find(c, DEFAULT_NAME);
		return newest ? newest : base_find(c, HOST);
	}
	for (struct base *b = c->bases; b; b = b->next) {
		if (is_named(b, template_name, length, at ? at + 1 : NULL) &&
		    (!newest || b->manifest.built_at > newest->manifest.built_at))
			newest = b;
	}
	return newest;
}

static struct base *by_dir_name(struct container *c, const char *name)
{
	for (struct base *b = c->bases; b; b = b->next) {
		if (!b->gone && strcmp(b->name, name) == 0)
			return b;
	}
	return NULL;
}

static void user_path(const struct cunit *cu, char path[static 64])
{
	snprintf(path, 64, INIS_TEMPLATE_USERS "/%s", cu->u.id.s);
}

int base_hold(struct cunit *cu, struct base *b, struct inis_error *err)
{
	cleanup_close int mark = -1;
	char path[64];

	if (b->host)
		return 0;
	user_path(cu, path);
	mark = openat(b->dir, path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (mark < 0)
		return inis_fail_errno(err, "use the template %s", b->manifest.name);
	if (faccessat(cu->c->templates_dir, b->name, F_OK, AT_SYMLINK_NOFOLLOW) < 0) {
		unlinkat(b->dir, path, 0);
		return inis_fail(err, INIS_NOT_FOUND, "the template %s is being removed", b->manifest.name);
	}
	cu->holds_base = true;
	return 0;
}

void base_release(struct cunit *cu)
{
	char path[64];

	if (!cu->holds_base)
		return;
	user_path(cu, path);
	unlinkat(cu->base->dir, path, 0);
	cu->holds_base = false;
}

/* ---- after a start ---- */

static bool has_user(const struct container *c, const struct base *b, const char *unit)
{
	for (const struct cunit *cu = c->units; cu; cu = cu->next) {
		if (cu->holds_base && cu->base == b && strcmp(cu->u.id.s, unit) == 0)
			return true;
	}
	return false;
}

/* Ids of units that did not outlive a crash. */
static void sweep_users(const struct container *c, const struct base *b)
{
	cleanup_close int users = openat(b->dir, INIS_TEMPLATE_USERS, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	cleanup_dir DIR *entries = users < 0 ? NULL : fdopendir(users);
	struct dirent *e;

	if (!entries)
		return;
	users = -1;
	while ((e = readdir(entries))) {
		if (e->d_name[0] != '.' && !has_user(c, b, e->d_name))
			unlinkat(dirfd(entries), e->d_name, 0);
	}
}

static bool host_in_use(const struct container *c, const char *tag)
{
	char name[RECORD_BASE];

	snprintf(name, sizeof(name), HOST "/%.32s", tag);
	for (const struct base *b = c->bases; b; b = b->next) {
		if (strcmp(b->name, name) == 0)
			return true;
	}
	for (const struct cunit *cu = c->units; cu; cu = cu->next) {
		if (strcmp(cu->record.base, name) == 0)
			return true;
	}
	return false;
}

/* Of earlier starts, unless units that run on are on them. */
static void sweep_hosts(const struct container *c)
{
	cleanup_dir DIR *entries = NULL;
	struct dirent *e;
	int host = openat(c->templates_dir, HOST, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (host < 0 || !(entries = fdopendir(host)))
		return;
	while ((e = readdir(entries))) {
		if (e->d_name[0] != '.' && !host_in_use(c, e->d_name))
			inis_remove_tree_at(host, e->d_name, NULL);
	}
}

int bases_open(struct container *c, struct inis_error *err)
{
	if (make_host(c, err) < 0)
		return -1;
	templates_look(c);
	for (struct cunit *cu = c->units; cu; cu = cu->next) {
		cu->base = cu->state == CU_LIVE ? by_dir_name(c, cu->record.base) : NULL;
		cu->holds_base = cu->base != NULL && !cu->base->host;
	}
	for (struct base *b = c->bases; b; b = b->next) {
		if (!b->host)
			sweep_users(c, b);
	}
	sweep_hosts(c);
	return 0;
}

void bases_close(struct container *c)
{
	while (c->bases) {
		struct base *b = c->bases;

		c->bases = b->next;
		close_fd(&b->dir);
		free(b);
	}
}

/* ---- what there is ---- */

static void describe(const struct base *b, struct inis_broker_template *out)
{
	const struct inis_template_manifest *m = &b->manifest;

	*out = (struct inis_broker_template){
		.built_at = m->built_at, .size_bytes = m->size_bytes, .packages = m->packages};
	snprintf(out->name, sizeof(out->name), "%s", b->host ? HOST : m->name);
	snprintf(out->version, sizeof(out->version), "%s", m->version);
	snprintf(out->content, sizeof(out->content), "%s", m->content);
	snprintf(out->suite, sizeof(out->suite), "%s", m->suite);
}

bool base_describe(struct inis_driver *d, unsigned index, struct inis_broker_template *out)
{
	struct container *c = container_of_driver(d);
	const struct base *first = base_find(c, "");

	if (index == 0) {
		describe(first, out);
		return true;
	}
	for (const struct base *b = c->bases; b; b = b->next) {
		if (b->gone || b == first || --index > 0)
			continue;
		describe(b, out);
		return true;
	}
	return false;
}
