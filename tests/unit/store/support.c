/* SPDX-License-Identifier: Apache-2.0
 *
 * support.c - a store in a directory of its own.
 */
#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

void box_make(struct box *box)
{
	memset(box, 0, sizeof(*box));
	snprintf(box->dir, sizeof(box->dir), "/tmp/inis-store-XXXXXX");
	if (!mkdtemp(box->dir) || uv_loop_init(&box->loop) != 0)
		abort();
}

int box_try_open(struct box *box, int64_t history_ms, struct inis_error *err)
{
	struct inis_store_config config = {.loop = &box->loop, .dir = box->dir, .history_ms = history_ms};

	box->store = inis_store_open(&config, err);
	return box->store ? 0 : -1;
}

void box_open(struct box *box)
{
	struct inis_error err = INIS_ERROR_INIT;

	if (box_try_open(box, 30 * DAY_MS, &err) < 0) {
		fprintf(stderr, "open: %s\n", err.message);
		abort();
	}
}

static void note(void *ctx)
{
	*(int *)ctx = 1;
}

void box_run_until(struct box *box, const int *flag)
{
	while (!*flag)
		uv_run(&box->loop, UV_RUN_ONCE);
}

void box_close(struct box *box)
{
	int closed = 0;

	if (!box->store)
		return;
	inis_store_close(box->store, note, &closed);
	box_run_until(box, &closed);
	box->store = NULL;
}

static void remove_files(const char *dir_path)
{
	cleanup_dir DIR *dir = opendir(dir_path);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (e->d_name[0] != '.')
			unlinkat(dirfd(dir), e->d_name, 0);
	}
}

void box_remove(struct box *box)
{
	box_close(box);
	uv_run(&box->loop, UV_RUN_DEFAULT);
	if (uv_loop_close(&box->loop) != 0)
		abort();
	remove_files(box->dir);
	rmdir(box->dir);
}

int box_set_up_closed(void **state)
{
	struct box *box = malloc(sizeof(*box));

	if (!box)
		abort();
	box_make(box);
	*state = box;
	return 0;
}

int box_set_up(void **state)
{
	box_set_up_closed(state);
	box_open(*state);
	return 0;
}

int box_tear_down(void **state)
{
	box_remove(*state);
	free(*state);
	return 0;
}

struct inis_session_row box_row(int n)
{
	struct inis_session_row row = {.created_at = 1000 + n, .doc = "{\"size\":\"small\"}"};

	snprintf(row.id.s, sizeof(row.id.s), "s%020d", n);
	snprintf(row.state, sizeof(row.state), "live");
	snprintf(row.unit, sizeof(row.unit), "u%015d", n);
	return row;
}

struct answer {
	int came;
	enum inis_code code;
};

static void on_put(void *ctx, const struct inis_error *err)
{
	struct answer *a = ctx;

	a->code = err ? err->code : INIS_OK;
	a->came = 1;
}

enum inis_code box_put(struct box *box, const struct inis_session_row *row)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct answer a = {0};

	if (inis_store_session_put(box->store, row, on_put, &a, &err) < 0)
		return err.code;
	box_run_until(box, &a.came);
	return a.code;
}

static int file_holds(int dir_fd, const char *name, const char *needle)
{
	cleanup_close int fd = openat(dir_fd, name, O_RDONLY);
	cleanup_free char *data = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size == 0)
		return 0;
	data = malloc((size_t)st.st_size);
	if (!data || read(fd, data, (size_t)st.st_size) != st.st_size)
		abort();
	return memmem(data, (size_t)st.st_size, needle, strlen(needle)) != NULL;
}

int box_files_hold(const struct box *box, const char *needle)
{
	cleanup_dir DIR *dir = opendir(box->dir);
	struct dirent *e;
	int found = 0;

	while (dir && (e = readdir(dir)))
		found |= e->d_name[0] != '.' && file_holds(dirfd(dir), e->d_name, needle);
	return found;
}
