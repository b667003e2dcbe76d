/* SPDX-License-Identifier: Apache-2.0
 *
 * audit.c - the log of commands.
 *
 * A list first waits for the writer to have written what was put before; then the reader thread reads.
 */
#include "store/audit.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/metrics.h"
#include "store/sqlite.h"

#define ROWS_MAX    1000
#define WAITING_MAX ((size_t)16 * 1024 * 1024) /* bytes of rows that are not written yet */

/* ---- writing ---- */

struct put {
	struct store_job job; /* first */
	struct inis_store *store;
	struct inis_audit_row row;
	size_t size;
	char doc[];
};

static int write_row(struct db *db, struct store_job *job, struct inis_error *err)
{
	const struct inis_audit_row *row = &((const struct put *)job)->row;
	sqlite3_stmt *st = db_statement(db, ST_AUDIT_PUT, err);

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, row->seq);
	sqlite3_bind_text(st, 2, row->session.s, -1, SQLITE_STATIC);
	sqlite3_bind_int64(st, 3, row->at);
	sqlite3_bind_int64(st, 4, row->ended_at);
	sqlite3_bind_text(st, 5, row->doc, -1, SQLITE_STATIC);
	return db_run(db, st, err);
}

static void on_written(struct job *job)
{
	struct put *p = (struct put *)job;

	if (job->err.code)
		inis_log(INIS_LOG_ERROR, "audit row not written", "session", p->row.session.s, "error",
			 job->err.message, NULL);
	p->store->audit_waiting -= p->size;
	free(p);
}

int64_t inis_store_audit_next(struct inis_store *s)
{
	return ++s->audit_seq;
}

void inis_store_audit_put(struct inis_store *s, const struct inis_audit_row *row)
{
	size_t n = strlen(row->doc) + 1;
	size_t size = sizeof(struct put) + n;
	struct put *p = s->closing || s->audit_waiting + size > WAITING_MAX ? NULL : malloc(size);

	if (!p) {
		inis_log(INIS_LOG_ERROR, "audit row dropped", "session", row->session.s, NULL);
		return;
	}
	*p = (struct put){.job = {.job = {.finish = on_written}, .run = write_row, .spare = true},
			  .store = s,
			  .row = *row,
			  .size = size};
	memcpy(p->doc, row->doc, n);
	p->row.doc = p->doc;
	s->audit_waiting += size;
	inis_count(&inis_metrics.store_queued);
	worker_add_later(&s->writer, &p->job.job);
}

/* ---- reading ---- */

struct list {
	struct store_job job; /* first */
	struct inis_store *store;
	struct session_id session;
	int64_t before;
	unsigned limit;
	struct inis_audit_row *rows;
	size_t count;
	inis_store_audit_done done;
	void *ctx;
};

static void free_list(struct list *l)
{
	for (size_t i = 0; i < l->count; i++)
		free((char *)(uintptr_t)l->rows[i].doc);
	free(l->rows);
	free(l);
}

static int read_row(sqlite3_stmt *st, struct list *l, struct inis_error *err)
{
	const char *doc = (const char *)sqlite3_column_text(st, 3);
	struct inis_audit_row *row = &l->rows[l->count];

	*row = (struct inis_audit_row){.seq = sqlite3_column_int64(st, 0),
				       .session = l->session,
				       .at = sqlite3_column_int64(st, 1),
				       .ended_at = sqlite3_column_int64(st, 2),
				       .doc = doc ? strdup(doc) : NULL};
	if (!row->doc)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	l->count++;
	return 0;
}

static int read_rows(struct db *db, struct store_job *job, struct inis_error *err)
{
	struct list *l = (struct list *)job;
	sqlite3_stmt *st = db_statement(db, ST_AUDIT_LIST, err);
	int status;

	if (!st)
		return -1;
	sqlite3_bind_text(st, 1, l->session.s, -1, SQLITE_STATIC);
	sqlite3_bind_int64(st, 2, l->before);
	sqlite3_bind_int64(st, 3, store_history_begin(l->store));
	sqlite3_bind_int64(st, 4, l->limit);
	while ((status = sqlite3_step(st)) == SQLITE_ROW && l->count < l->limit) {
		if (read_row(st, l, err) < 0)
			break;
	}
	if (status != SQLITE_ROW && status != SQLITE_DONE)
		db_fail(db, err);
	sqlite3_reset(st);
	return err->code == INIS_OK ? 0 : -1;
}

static void on_read(struct job *job)
{
	struct list *l = (struct list *)job;

	if (job->err.code)
		l->done(l->ctx, NULL, 0, &job->err);
	else
		l->done(l->ctx, l->rows, l->count, NULL);
	free_list(l);
}

static int write_nothing(struct db *db, struct store_job *job, struct inis_error *err)
{
	(void)db;
	(void)job;
	(void)err;
	return 0;
}

/* The writer has come by: what was put before is there, or has failed. */
static void on_flushed(struct job *job)
{
	static const struct inis_error closing = {.code = INIS_UNAVAILABLE, .message = "the store is closing"};
	struct list *l = (struct list *)job;

	if (l->store->closing) {
		l->done(l->ctx, NULL, 0, &closing);
		free_list(l);
		return;
	}
	l->job = (struct store_job){.job = {.finish = on_read}, .run = read_rows};
	worker_add(&l->store->reader, &l->job.job);
}

int inis_store_audit_list(struct inis_store *s, const struct session_id *session, int64_t before, unsigned limit,
			  inis_store_audit_done done, void *ctx, struct inis_error *err)
{
	struct list *l = s->closing ? NULL : calloc(1, sizeof(*l));

	if (limit > ROWS_MAX)
		limit = ROWS_MAX;
	if (l)
		*l = (struct list){.job = {.job = {.finish = on_flushed}, .run = write_nothing, .spare = true},
				   .store = s,
				   .session = *session,
				   .before = before,
				   .limit = limit,
				   .rows = calloc(limit, sizeof(*l->rows)),
				   .done = done,
				   .ctx = ctx};
	if (!l || !l->rows) {
		free(l);
		return inis_fail(err, INIS_UNAVAILABLE, s->closing ? "the store is closing" : "out of memory");
	}
	inis_count(&inis_metrics.store_queued);
	worker_add(&s->writer, &l->job.job);
	return 0;
}

/* ---- starting ---- */

int store_audit_load(struct inis_store *s, struct db *db, struct inis_error *err)
{
	sqlite3_stmt *st = db_statement(db, ST_AUDIT_LAST, err);

	if (!st)
		return -1;
	if (sqlite3_step(st) != SQLITE_ROW)
		return db_fail(db, err);
	s->audit_seq = sqlite3_column_int64(st, 0);
	sqlite3_reset(st);
	return 0;
}
