/* SPDX-License-Identifier: Apache-2.0
 *
 * reader.c - the reader thread: questions about what is stored.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/row.h"

#define ROWS_MAX 1000

struct read_job {
	struct store_job job; /* first */
	const struct inis_store *store;
	struct inis_history_query query;
	char *external_id;
	bool one; /* by id: query.before_id */
	struct inis_session_row *rows;
	char **texts;
	size_t count;
	inis_store_rows_done done;
	void *ctx;
};

static void free_job(struct read_job *r)
{
	for (size_t i = 0; r->texts && i < r->count; i++)
		free(r->texts[i]);
	free(r->texts);
	free(r->rows);
	free(r->external_id);
	free(r);
}

static sqlite3_stmt *prepare(struct db *db, const struct read_job *r, struct inis_error *err)
{
	const struct inis_history_query *q = &r->query;
	bool first_page = q->before_id[0] == '\0';
	sqlite3_stmt *st = db_statement(db,
					r->one           ? ST_HISTORY_GET
					: r->external_id ? ST_HISTORY_EXTERNAL
							 : ST_HISTORY,
					err);

	if (!st)
		return NULL;
	sqlite3_bind_int64(st, 1, store_history_begin(r->store));
	if (r->one) {
		sqlite3_bind_text(st, 2, q->before_id, -1, SQLITE_STATIC);
		return st;
	}
	sqlite3_bind_int64(st, 2, first_page ? INT64_MAX : q->before_created_at);
	sqlite3_bind_text(st, 3, q->before_id, -1, SQLITE_STATIC);
	sqlite3_bind_int64(st, 4, q->limit);
	if (r->external_id)
		sqlite3_bind_text(st, 5, r->external_id, -1, SQLITE_STATIC);
	return st;
}

static int read_rows(struct db *db, struct store_job *job, struct inis_error *err)
{
	struct read_job *r = (struct read_job *)job;
	sqlite3_stmt *st = prepare(db, r, err);
	int status;

	if (!st)
		return -1;
	while ((status = sqlite3_step(st)) == SQLITE_ROW && r->count < r->query.limit) {
		if (row_read(st, &r->rows[r->count], &r->texts[r->count], err) < 0)
			break;
		r->count++;
	}
	if (status != SQLITE_ROW && status != SQLITE_DONE)
		db_fail(db, err);
	sqlite3_reset(st);
	return err->code == INIS_OK ? 0 : -1;
}

static void run(void *ctx, struct job *batch)
{
	struct inis_store *s = ctx;

	for (struct job *j = batch; j; j = j->next) {
		struct store_job *job = (struct store_job *)j;

		job->run(&s->read_db, job, &j->err);
	}
}

static void last(void *ctx)
{
	struct inis_store *s = ctx;

	db_close(&s->read_db);
}

static void finish(struct job *job)
{
	struct read_job *r = (struct read_job *)job;
	bool ok = job->err.code == INIS_OK;

	r->done(r->ctx, ok ? r->rows : NULL, ok ? r->count : 0, ok ? NULL : &job->err);
	free_job(r);
}

int store_reader_start(struct inis_store *s, uv_loop_t *loop, struct inis_error *err)
{
	if (db_open(&s->read_db, s->path, err) < 0 || db_exec(&s->read_db, "PRAGMA query_only = 1", err) < 0)
		return -1;
	s->reader = (struct worker){.ctx = s, .run = run, .last = last, .closed = store_worker_closed};
	return worker_start(&s->reader, loop, err);
}

static int ask(struct inis_store *s, struct read_job *r, struct inis_error *err)
{
	if (!r)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	r->job.job.finish = finish;
	r->job.run = read_rows;
	r->store = s;
	r->rows = calloc(r->query.limit, sizeof(*r->rows));
	r->texts = calloc(r->query.limit, sizeof(*r->texts));
	if (r->query.external_id)
		r->external_id = strdup(r->query.external_id);
	if (!r->rows || !r->texts || (r->query.external_id && !r->external_id) || s->closing) {
		free_job(r);
		return inis_fail(err, INIS_UNAVAILABLE, s->closing ? "the store is closing" : "out of memory");
	}
	worker_add(&s->reader, &r->job.job);
	return 0;
}

int inis_store_history(struct inis_store *s, const struct inis_history_query *q, inis_store_rows_done done, void *ctx,
		       struct inis_error *err)
{
	struct read_job *r = calloc(1, sizeof(*r));

	if (r) {
		r->query = *q;
		if (r->query.limit == 0 || r->query.limit > ROWS_MAX)
			r->query.limit = ROWS_MAX;
		r->done = done;
		r->ctx = ctx;
	}
	return ask(s, r, err);
}

int inis_store_history_get(struct inis_store *s, const struct session_id *id, inis_store_rows_done done, void *ctx,
			   struct inis_error *err)
{
	struct read_job *r = calloc(1, sizeof(*r));

	if (r) {
		snprintf(r->query.before_id, sizeof(r->query.before_id), "%s", id->s);
		r->query.limit = 1;
		r->one = true;
		r->done = done;
		r->ctx = ctx;
	}
	return ask(s, r, err);
}
