/* SPDX-License-Identifier: Apache-2.0
 *
 * remove.c - removing files and trees.
 *
 * A tree is removed in slices between other work, with one open directory however deep it is. Going down is
 * openat without following links. Going up is "..", and only into the very directory that was left before: one that
 * was moved meanwhile ends the removal, so that it never acts outside the tree.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/channel.h"
#include "agent/files/failure.h"
#include "agent/files/files.h"
#include "agent/files/path.h"
#include "agent/link.h"
#include "agent/request.h"
#include "agent/user.h"
#include "base/cleanup.h"

#define SLICE     256 /* steps between other work */
#define DEPTH_MAX 100000
#define OPEN_DIR  (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

struct level {
	dev_t dev;
	ino_t ino;
};

struct remover {
	struct channel channel;
	struct agent_work work;
	struct place place; /* of the tree */
	int dir; /* where it is at work */
	struct inis_buf above; /* struct level of each directory between the tree's top and dir */
	char *path; /* as asked for, for messages */
	size_t at; /* in dents */
	size_t len;
	char dents[4096] __attribute__((aligned(8)));
};

static void remover_free(struct remover *r)
{
	channel_close(&r->channel);
	agent_work_stop(&r->work);
	place_close(&r->place);
	close_fd(&r->dir);
	inis_buf_free(&r->above);
	free(r->path);
	free(r);
}

static void enter(struct remover *r, int dir)
{
	close_fd(&r->dir);
	r->dir = dir;
	r->at = r->len = 0;
}

/* 0 or an errno, likewise below. */
static int descend(struct remover *r, const char *name)
{
	struct stat st;
	struct level level;
	int child;

	if (r->above.len >= DEPTH_MAX * sizeof(level))
		return ENAMETOOLONG;
	if (fstat(r->dir, &st) < 0)
		return errno;
	child = openat(r->dir, name, OPEN_DIR);
	if (child < 0)
		return errno == ENOENT ? 0 : errno;
	level = (struct level){st.st_dev, st.st_ino};
	inis_buf_append(&r->above, &level, sizeof(level));
	if (r->above.failed) {
		close(child);
		return ENOMEM;
	}
	enter(r, child);
	return 0;
}

static int ascend(struct remover *r)
{
	struct stat st;
	struct level level;
	cleanup_close int parent = openat(r->dir, "..", OPEN_DIR);

	if (parent < 0 || fstat(parent, &st) < 0)
		return errno;
	r->above.len -= sizeof(level);
	memcpy(&level, r->above.data + r->above.len, sizeof(level));
	if (level.dev != st.st_dev || level.ino != st.st_ino)
		return EBUSY;
	enter(r, take_fd(&parent));
	return 0;
}

static int remove_entry(struct remover *r, const struct dirent64 *d)
{
	if (d->d_type != DT_DIR) {
		if (unlinkat(r->dir, d->d_name, 0) == 0 || errno == ENOENT)
			return 0;
		if (errno != EISDIR)
			return errno;
	}
	if (unlinkat(r->dir, d->d_name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return errno;
	return descend(r, d->d_name);
}

/* All of dir was seen: up, or done. *done when the tree is gone. */
static int leave(struct remover *r, bool *done)
{
	if (r->above.len > 0)
		return ascend(r);
	*done = unlinkat(r->place.dir, r->place.name, AT_REMOVEDIR) == 0 || errno == ENOENT;
	if (*done)
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return errno;
	/* Somebody put something in meanwhile. */
	return lseek(r->dir, 0, SEEK_SET) < 0 ? errno : 0;
}

static int step(struct remover *r, bool *done)
{
	const struct dirent64 *d;

	if (r->at >= r->len) {
		ssize_t n = getdents64(r->dir, r->dents, sizeof(r->dents));

		if (n < 0)
			return errno;
		r->at = 0;
		r->len = (size_t)n;
		if (n == 0)
			return leave(r, done);
	}
	d = (const void *)(r->dents + r->at);
	r->at += d->d_reclen;
	if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
		return 0;
	return remove_entry(r, d);
}

static bool run(struct agent_work *w)
{
	struct remover *r = container_of(w, struct remover, work);
	struct inis_error err = INIS_ERROR_INIT;
	bool done = false;
	int error = 0;

	guest_rights_enter();
	for (int i = 0; i < SLICE && !done && error == 0; i++)
		error = step(r, &done);
	guest_rights_leave();
	if (error == 0 && !done)
		return true;
	if (error) {
		file_fail(&err, error, (struct inis_str){r->path, strlen(r->path)});
		link_send_error(r->channel.id, &err);
	} else {
		link_send_end(r->channel.id, 0);
	}
	remover_free(r);
	return false;
}

static int remover_frame(struct channel *ch, const struct inis_frame *f, struct inis_error *err)
{
	(void)ch;
	(void)f;
	return request_malformed(err);
}

static bool remover_pump(struct channel *ch)
{
	(void)ch;
	return false;
}

static void remover_gone(struct channel *ch, enum channel_end how)
{
	(void)how;
	remover_free(container_of(ch, struct remover, channel));
}

static const struct channel_ops remover_ops = {remover_frame, remover_pump, remover_gone};

/* Opens the tree's top; takes the place over. */
static int start_tree(uint32_t channel, struct inis_str path, struct place *p, struct inis_error *err)
{
	struct remover *r = calloc(1, sizeof(*r));

	if (!r)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	channel_init(&r->channel);
	list_init(&r->work.node);
	r->work.run = run;
	r->place = *p;
	p->dir = -1;
	r->path = inis_str_dup(path);
	r->dir = r->path ? openat(r->place.dir, r->place.name, OPEN_DIR) : -1;
	if (r->dir < 0) {
		file_fail(err, r->path ? errno : ENOMEM, path);
		remover_free(r);
		return -1;
	}
	if (channel_open(&r->channel, channel, &remover_ops, err) < 0) {
		remover_free(r);
		return -1;
	}
	agent_work_start(&r->work);
	return 0;
}

/* 1: removed; 0: a tree that goes on as work. */
static int remove_place(uint32_t channel, struct inis_str path, bool recursive, struct inis_error *err)
{
	__attribute__((cleanup(place_close))) struct place p = PLACE_INIT;

	if (path_place(path, false, false, &p, err) < 0)
		return -1;
	if (!p.name[0])
		return inis_fail(err, INIS_BAD_REQUEST, "the workspace itself cannot be removed");
	if (unlinkat(p.dir, p.name, 0) == 0)
		return 1;
	if (errno != EISDIR)
		return file_fail(err, errno, path);
	if (unlinkat(p.dir, p.name, AT_REMOVEDIR) == 0)
		return 1;
	if (errno == EEXIST)
		errno = ENOTEMPTY;
	if (errno != ENOTEMPTY || !recursive)
		return file_fail(err, errno, path);
	return start_tree(channel, path, &p, err);
}

int file_remove_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	struct inis_unpack u;
	struct inis_str path;
	bool recursive;
	int rc;

	inis_unpack_init(&u, data, n);
	path = inis_unpack_str(&u);
	recursive = inis_unpack_u8(&u);
	if (!inis_unpack_ok(&u))
		return request_malformed(err);
	guest_rights_enter();
	rc = remove_place(channel, path, recursive, err);
	guest_rights_leave();
	if (rc > 0)
		link_send_end(channel, 0);
	return rc < 0 ? -1 : 0;
}
