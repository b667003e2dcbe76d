/* SPDX-License-Identifier: Apache-2.0
 *
 * kept.c - files of ended sessions: read, and removed in time.
 *
 * How much there is on the disk is counted as sessions are added, and anew whenever all are looked at: at start, from
 * time to time for their age, and when the count is too high.
 */
#include "store/kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/worker.h"

#define LOOK_EVERY_MS (10 * 60 * 1000)

struct inis_kept {
	struct worker worker;
	int dir;
	int64_t keep_ms;
	uint64_t max_bytes;
	bool closing;
	void (*closed)(void *ctx);
	void *closed_ctx;
	/* the thread's */
	uint64_t bytes;
	inis_ms look_at;
};

enum request_kind { ADDED, FILES, READ };

struct request {
	struct job job; /* first */
	enum request_kind kind;
	struct session_id id;
	char name[INIS_KEPT_NAME_MAX + 1];
	uint64_t offset;
	size_t max;
	union {
		inis_kept_files_done files;
		inis_kept_read_done read;
	} done;
	void *ctx;
	void *result; /* files, or bytes */
	size_t count;
};

static DIR *open_list(int dir, const char *name)
{
	cleanup_close int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);

	if (list)
		take_fd(&fd);
	return list;
}

static bool dot_name(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* ---- removing ---- */

static void empty(int dir, const char *name)
{
	cleanup_dir DIR *list = open_list(dir, name);
	struct dirent *e;

	while (list && (e = readdir(list))) {
		if (!dot_name(e->d_name))
			unlinkat(dirfd(list), e->d_name, 0);
	}
}

/* Under another name first, so that nobody finds the half of it. */
static void remove_session(int dir, const char *name)
{
	char temp[NAME_MAX + 2];

	snprintf(temp, sizeof(temp), "%s%s", name[0] == '.' ? "" : ".", name);
	renameat(dir, name, dir, temp);
	empty(dir, temp);
	if (unlinkat(dir, temp, AT_REMOVEDIR) < 0)
		unlinkat(dir, temp, 0);
}

static uint64_t size_of(int dir, const char *name)
{
	cleanup_dir DIR *list = open_list(dir, name);
	uint64_t bytes = 0;
	struct dirent *e;
	struct stat st;

	while (list && (e = readdir(list))) {
		if (fstatat(dirfd(list), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && strcmp(e->d_name, "..") != 0)
			bytes += (uint64_t)st.st_blocks * 512;
	}
	return bytes;
}

struct found {
	struct session_id id;
	inis_ms ended;
	uint64_t bytes;
};

struct found_list {
	struct found *items;
	size_t count, cap;
};

static bool remember(struct found_list *l, const struct found *f)
{
	if (l->count == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 64;
		struct found *more = realloc(l->items, cap * sizeof(*more));

		if (!more)
			return false;
		l->items = more;
		l->cap = cap;
	}
	l->items[l->count++] = *f;
	return true;
}

/* What is too old, and what is no session's, goes at once. */
static void look_at(struct inis_kept *k, const char *name, struct found_list *l)
{
	struct found f;
	struct stat st;

	if (!session_id_parse(name, &f.id) || fstatat(k->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISDIR(st.st_mode)) {
		remove_session(k->dir, name);
		return;
	}
	f.ended = (inis_ms)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
	if (f.ended + k->keep_ms <= inis_wall_ms()) {
		remove_session(k->dir, name);
		return;
	}
	f.bytes = size_of(k->dir, name);
	k->bytes += f.bytes;
	/* Without memory it stays until the next look. */
	if (l)
		remember(l, &f);
}

static int older_first(const void *a, const void *b)
{
	const struct found *x = a;
	const struct found *y = b;

	return (x->ended > y->ended) - (x->ended < y->ended);
}

/* All of it, counted anew; what stays goes into the list, which may be NULL. */
static void look_at_each(struct inis_kept *k, struct found_list *l)
{
	cleanup_dir DIR *list = open_list(k->dir, ".");
	struct dirent *e;

	k->bytes = 0;
	while (list && (e = readdir(list))) {
		if (!dot_name(e->d_name))
			look_at(k, e->d_name, l);
	}
}

static void remove_oldest(struct inis_kept *k)
{
	struct found_list found = {NULL, 0, 0};

	look_at_each(k, &found);
	if (found.items)
		qsort(found.items, found.count, sizeof(*found.items), older_first);
	for (size_t i = 0; i < found.count && k->bytes > k->max_bytes; i++) {
		remove_session(k->dir, found.items[i].id.s);
		k->bytes -= found.items[i].bytes;
	}
	free(found.items);
}

static void look_at_all(struct inis_kept *k)
{
	if (k->bytes <= k->max_bytes)
		look_at_each(k, NULL);
	if (k->bytes > k->max_bytes)
		remove_oldest(k);
	k->look_at = inis_now_ms() + LOOK_EVERY_MS;
}

/* ---- requests, on the thread ---- */

static void list_files(struct inis_kept *k, struct request *r)
{
	cleanup_dir DIR *list = open_list(k->dir, r->id.s);
	struct inis_kept_file *files = list ? calloc(INIS_KEPT_FILES_MAX, sizeof(*files)) : NULL;
	struct dirent *e;
	struct stat st;

	if (list && !files)
		inis_fail(&r->job.err, INIS_UNAVAILABLE, "out of memory");
	r->result = files;
	while (files && r->count < INIS_KEPT_FILES_MAX && (e = readdir(list))) {
		struct inis_kept_file *f = &files[r->count];

		if (strlen(e->d_name) > INIS_KEPT_NAME_MAX ||
		    fstatat(dirfd(list), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		memcpy(f->name, e->d_name, strlen(e->d_name) + 1);
		f->size = (uint64_t)st.st_size;
		r->count++;
	}
}

static void read_file(struct inis_kept *k, struct request *r)
{
	cleanup_close int dir = openat(k->dir, r->id.s, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_close int fd =
		dir < 0 ? -1 : openat(dir, r->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return;
	r->result = malloc(r->max);
	if (!r->result) {
		inis_fail(&r->job.err, INIS_UNAVAILABLE, "out of memory");
		return;
	}
	while (r->count < r->max) {
		ssize_t n =
			pread(fd, (uint8_t *)r->result + r->count, r->max - r->count, (off_t)(r->offset + r->count));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		r->count += (size_t)n;
	}
}

static void run(void *ctx, struct job *batch)
{
	struct inis_kept *k = ctx;

	for (struct job *j = batch; j; j = j->next) {
		struct request *r = (struct request *)j;

		if (r->kind == ADDED)
			k->bytes += size_of(k->dir, r->id.s);
		else if (r->kind == FILES)
			list_files(k, r);
		else
			read_file(k, r);
	}
}

static uint64_t idle(void *ctx)
{
	struct inis_kept *k = ctx;

	if (k->bytes > k->max_bytes || inis_now_ms() >= k->look_at)
		look_at_all(k);
	return LOOK_EVERY_MS;
}

/* ---- requests, on the loop ---- */

static void finish(struct job *job)
{
	struct request *r = (struct request *)job;
	const struct inis_error *err = job->err.code == INIS_OK ? NULL : &job->err;

	if (r->kind == FILES)
		r->done.files(r->ctx, r->result, err ? 0 : r->count, err);
	else if (r->kind == READ)
		r->done.read(r->ctx, r->result, err ? 0 : r->count, err);
	free(r->result);
	free(r);
}

static struct request *request_new(const struct inis_kept *k, enum request_kind kind, const struct session_id *id,
				   void *ctx, struct inis_error *err)
{
	struct request *r = k->closing ? NULL : calloc(1, sizeof(*r));

	if (!r) {
		inis_fail(err, INIS_UNAVAILABLE, k->closing ? "the server is stopping" : "out of memory");
		return NULL;
	}
	r->job.finish = finish;
	r->kind = kind;
	r->id = *id;
	r->ctx = ctx;
	return r;
}

void inis_kept_added(struct inis_kept *k, const struct session_id *id)
{
	struct request *r = request_new(k, ADDED, id, NULL, NULL);

	/* Without memory it is counted at the next look. */
	if (r)
		worker_add(&k->worker, &r->job);
}

int inis_kept_files(struct inis_kept *k, const struct session_id *id, inis_kept_files_done done, void *ctx,
		    struct inis_error *err)
{
	struct request *r = request_new(k, FILES, id, ctx, err);

	if (!r)
		return -1;
	r->done.files = done;
	worker_add(&k->worker, &r->job);
	return 0;
}

int inis_kept_read(struct inis_kept *k, const struct session_id *id, const char *name, uint64_t offset, size_t max,
		   inis_kept_read_done done, void *ctx, struct inis_error *err)
{
	struct request *r = request_new(k, READ, id, ctx, err);

	if (!r)
		return -1;
	snprintf(r->name, sizeof(r->name), "%s", name);
	r->offset = offset;
	r->max = max;
	r->done.read = done;
	worker_add(&k->worker, &r->job);
	return 0;
}

/* ---- beginning and end ---- */

static void on_closed(void *ctx)
{
	struct inis_kept *k = ctx;
	void (*closed)(void *closed_ctx) = k->closed;
	void *closed_ctx = k->closed_ctx;

	close_fd(&k->dir);
	free(k);
	if (closed)
		closed(closed_ctx);
}

struct inis_kept *inis_kept_open(const struct inis_kept_config *config, struct inis_error *err)
{
	struct inis_kept *k = calloc(1, sizeof(*k));

	if (!k) {
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		return NULL;
	}
	*k = (struct inis_kept){.keep_ms = config->keep_ms, .max_bytes = config->max_bytes};
	k->worker = (struct worker){.ctx = k, .run = run, .idle = idle, .closed = on_closed};
	k->dir = open(config->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (k->dir < 0) {
		inis_fail_errno(err, "open %s", config->dir);
		free(k);
		return NULL;
	}
	if (worker_start(&k->worker, config->loop, err) == 0)
		return k;
	if (k->worker.active)
		worker_stop(&k->worker);
	else
		on_closed(k);
	return NULL;
}

void inis_kept_close(struct inis_kept *k, void (*done)(void *ctx), void *ctx)
{
	k->closing = true;
	k->closed = done;
	k->closed_ctx = ctx;
	worker_stop(&k->worker);
}
