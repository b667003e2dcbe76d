/* SPDX-License-Identifier: Apache-2.0
 *
 * store.c - opening, loading and closing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/migrate.h"
#include "store/row.h"

inis_ms store_history_begin(const struct inis_store *s)
{
	return inis_wall_ms() - s->history_ms;
}

/* Frees without workers; db_close() is for connections whose thread never ran. */
static void free_store(struct inis_store *s)
{
	db_close(&s->write_db);
	db_close(&s->read_db);
	seal_key_wipe(&s->master);
	close_fd(&s->dir_fd);
	free(s->keys);
	free(s->path);
	free(s);
}

void store_worker_closed(void *store)
{
	struct inis_store *s = store;
	void (*closed)(void *) = s->closed;
	void *ctx = s->closed_ctx;

	if (s->writer.active || s->reader.active)
		return;
	free_store(s);
	if (closed)
		closed(ctx);
}

/* The file is made here and not by SQLite, so that nobody else can ever read it. */
static int make_file(int dir_fd, struct inis_error *err)
{
	cleanup_close int fd = openat(dir_fd, STORE_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 || fsync(dir_fd) < 0)
		return inis_fail_errno(err, "database");
	return 0;
}

static int get_master_key(struct inis_store *s, struct db *db, struct inis_error *err)
{
	struct inis_error why = INIS_ERROR_INIT;
	int fresh;

	if (seal_key_load(s->dir_fd, &s->master, &why) == 0)
		return 0;
	if (why.code != INIS_NOT_FOUND)
		return inis_fail_copy(err, &why);
	fresh = store_is_fresh(db, err);
	if (fresh < 0)
		return -1;
	if (!fresh)
		return inis_fail(err, INIS_INTERNAL, "database: its master.key is missing");
	return seal_key_create(s->dir_fd, &s->master, err);
}

static int prepare(struct inis_store *s, struct inis_error *err)
{
	struct db db = {0};
	int status = -1;

	if (make_file(s->dir_fd, err) == 0 && db_connect(&db, s->path, err) == 0 && store_identify(&db, err) == 0 &&
	    db_set_up(&db, err) == 0 && get_master_key(s, &db, err) == 0 && store_migrate(&db, &s->master, err) == 0)
		status = store_keys_load(s, &db, err) < 0 ? -1 : store_audit_load(s, &db, err);
	db_close(&db);
	return status;
}

struct inis_store *inis_store_open(const struct inis_store_config *config, struct inis_error *err)
{
	struct inis_store *s = calloc(1, sizeof(*s));

	if (!s || asprintf(&s->path, "%s/" STORE_FILE, config->dir) < 0) {
		free(s);
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		return NULL;
	}
	s->history_ms = config->history_ms;
	s->dir_fd = open(config->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir_fd < 0) {
		inis_fail_errno(err, "%s", config->dir);
		free_store(s);
		return NULL;
	}
	if (prepare(s, err) < 0 &&
	    (!err || err->code != INIS_UNAVAILABLE || !store_reserve_release(s) || prepare(s, err) < 0)) {
		free_store(s);
		return NULL;
	}
	if (store_writer_start(s, config->loop, err) < 0 || store_reader_start(s, config->loop, err) < 0) {
		if (s->writer.active || s->reader.active)
			inis_store_close(s, NULL, NULL);
		else
			free_store(s);
		return NULL;
	}
	return s;
}

void inis_store_close(struct inis_store *s, void (*done)(void *ctx), void *ctx)
{
	s->closing = true;
	s->closed = done;
	s->closed_ctx = ctx;
	if (s->writer.active)
		worker_stop(&s->writer);
	if (s->reader.active)
		worker_stop(&s->reader);
}

/* ---- loading ---- */

static int load_row(struct inis_store *s, sqlite3_stmt *st, inis_store_each each, void *ctx, struct inis_error *err)
{
	struct inis_session_row row;
	cleanup_free char *text = NULL;
	char *secrets = NULL;
	size_t n = 0;
	int status;

	if (row_read(st, &row, &text, err) < 0)
		return -1;
	if (sqlite3_column_type(st, ROW_COLUMN_SECRETS) != SQLITE_NULL &&
	    seal_open(&s->master, row.id.s, sqlite3_column_blob(st, ROW_COLUMN_SECRETS),
		      (size_t)sqlite3_column_bytes(st, ROW_COLUMN_SECRETS), &secrets, &n, err) < 0)
		return -1;
	row.secrets = secrets;
	status = each(ctx, &row, err);
	seal_free_text(secrets, n);
	return status;
}

static int load(struct inis_store *s, struct db *db, inis_store_each each, void *ctx, struct inis_error *err)
{
	sqlite3_stmt *st = db_statement(db, ST_SESSIONS_LIVE, err);
	int status;

	if (!st)
		return -1;
	while ((status = sqlite3_step(st)) == SQLITE_ROW) {
		if (load_row(s, st, each, ctx, err) < 0)
			return -1;
	}
	return status == SQLITE_DONE ? 0 : db_fail(db, err);
}

int inis_store_sessions_load(struct inis_store *s, inis_store_each each, void *ctx, struct inis_error *err)
{
	struct db db = {0};
	int status = db_open(&db, s->path, err);

	if (status == 0)
		status = load(s, &db, each, ctx, err);
	db_close(&db);
	return status;
}
