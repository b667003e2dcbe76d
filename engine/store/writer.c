/* SPDX-License-Identifier: Apache-2.0
 *
 * writer.c - the writer thread: everything that has gathered in one transaction.
 *
 * When a transaction fails, its writes are tried one by one, so that each gets
 * its own answer. When the disk is full, the reserve is given up for one more try.
 */
#include <stdlib.h>
#include <string.h>

#include "base/metrics.h"
#include "store/row.h"

#define PRUNE_EVERY_MS   (10 * 60 * 1000)
#define PRUNE_BATCH      500
#define PRUNE_PAUSE_MS   50
#define RESERVE_RETRY_MS 10000

struct put_job {
	struct store_job job; /* first */
	struct inis_session_row row;
	char *text;
	struct inis_buf sealed;
	inis_store_done done;
	void *ctx;
};

static int put(struct db *db, struct store_job *job, struct inis_error *err)
{
	const struct put_job *p = (const struct put_job *)job;
	sqlite3_stmt *st = db_statement(db, ST_SESSION_PUT, err);

	if (!st)
		return -1;
	row_bind(st, &p->row, &p->sealed);
	return db_run(db, st, err);
}

static int forget(struct db *db, struct store_job *job, struct inis_error *err)
{
	const struct put_job *p = (const struct put_job *)job;
	sqlite3_stmt *st = db_statement(db, ST_SESSION_FORGET, err);

	if (!st)
		return -1;
	sqlite3_bind_text(st, 1, p->row.id.s, -1, SQLITE_STATIC);
	return db_run(db, st, err);
}

/* One transaction over the jobs from first up to end. */
static int transact(struct db *db, struct job *first, const struct job *end, struct inis_error *err)
{
	if (db_do(db, ST_BEGIN, err) < 0)
		return -1;
	for (struct job *j = first; j != end; j = j->next) {
		struct store_job *job = (struct store_job *)j;

		if (job->run(db, job, err) < 0)
			goto undo;
	}
	if (db_do(db, ST_COMMIT, err) == 0)
		return 0;
undo:
	if (!sqlite3_get_autocommit(db->handle))
		db_do(db, ST_ROLLBACK, NULL);
	return -1;
}

static bool worth_the_reserve(const struct job *batch)
{
	for (const struct job *j = batch; j; j = j->next) {
		if (!((const struct store_job *)j)->spare)
			return true;
	}
	return false;
}

static void run_batch(void *ctx, struct job *batch)
{
	struct inis_store *s = ctx;
	struct inis_error err = INIS_ERROR_INIT;

	if (transact(&s->write_db, batch, NULL, &err) == 0)
		return;
	if (err.code == INIS_UNAVAILABLE && worth_the_reserve(batch) && store_reserve_release(s) &&
	    transact(&s->write_db, batch, NULL, &err) == 0)
		return;
	for (struct job *j = batch; j; j = j->next) {
		if (transact(&s->write_db, j, j->next, &j->err) < 0)
			inis_count(&inis_metrics.store_failures);
	}
}

static void run(void *ctx, struct job *batch)
{
	int64_t begun = inis_now_us();

	run_batch(ctx, batch);
	inis_observe(&inis_metrics.store_commits, inis_now_us() - begun);
	for (const struct job *j = batch; j; j = j->next)
		inis_count(&inis_metrics.store_written);
}

/* Forgets some of what is too old; returns how many rows went. */
static int prune(struct inis_store *s, enum statement which)
{
	sqlite3_stmt *st = db_statement(&s->write_db, which, NULL);

	if (!st)
		return 0;
	sqlite3_bind_int64(st, 1, store_history_begin(s));
	sqlite3_bind_int(st, 2, PRUNE_BATCH);
	return db_run(&s->write_db, st, NULL) < 0 ? 0 : sqlite3_changes(s->write_db.handle);
}

static uint64_t keep_house(void *ctx)
{
	struct inis_store *s = ctx;
	inis_ms now = inis_now_ms();

	if (!s->has_reserve && (s->reserve_tried_at == 0 || now - s->reserve_tried_at >= RESERVE_RETRY_MS)) {
		s->reserve_tried_at = now;
		store_reserve_fill(s);
	}
	if (s->pruned_at == 0 || now - s->pruned_at >= PRUNE_EVERY_MS) {
		if (prune(s, ST_HISTORY_PRUNE) == PRUNE_BATCH || prune(s, ST_AUDIT_PRUNE) == PRUNE_BATCH)
			return PRUNE_PAUSE_MS;
		s->pruned_at = now;
	}
	return s->has_reserve ? PRUNE_EVERY_MS : RESERVE_RETRY_MS;
}

static void last(void *ctx)
{
	struct inis_store *s = ctx;

	db_close(&s->write_db);
}

static void finish(struct job *job)
{
	struct put_job *p = (struct put_job *)job;

	if (p->done)
		p->done(p->ctx, job->err.code == INIS_OK ? NULL : &job->err);
	inis_buf_free(&p->sealed);
	free(p->text);
	free(p);
}

int store_writer_start(struct inis_store *s, uv_loop_t *loop, struct inis_error *err)
{
	if (db_open(&s->write_db, s->path, err) < 0)
		return -1;
	s->writer =
		(struct worker){.ctx = s, .run = run, .idle = keep_house, .last = last, .closed = store_worker_closed};
	return worker_start(&s->writer, loop, err);
}

static struct put_job *new_job(struct inis_store *s, int (*work)(struct db *, struct store_job *, struct inis_error *),
			       struct inis_error *err)
{
	struct put_job *p = s->closing ? NULL : calloc(1, sizeof(*p));

	if (!p) {
		inis_fail(err, INIS_UNAVAILABLE, s->closing ? "the store is closing" : "out of memory");
		return NULL;
	}
	p->job.job.finish = finish;
	p->job.run = work;
	return p;
}

static struct put_job *new_put(struct inis_store *s, const struct inis_session_row *row, inis_store_done done,
			       void *ctx, struct inis_error *err)
{
	struct put_job *p = new_job(s, put, err);

	if (!p)
		return NULL;
	p->done = done;
	p->ctx = ctx;
	if (row_copy(row, &p->row, &p->text, err) < 0 ||
	    (row->secrets &&
	     seal_record(&s->master, row->id.s, row->secrets, strlen(row->secrets), &p->sealed, err) < 0)) {
		inis_buf_free(&p->sealed);
		free(p->text);
		free(p);
		return NULL;
	}
	inis_count(&inis_metrics.store_queued);
	return p;
}

int inis_store_session_put(struct inis_store *s, const struct inis_session_row *row, inis_store_done done, void *ctx,
			   struct inis_error *err)
{
	struct put_job *p = new_put(s, row, done, ctx, err);

	if (!p)
		return -1;
	worker_add(&s->writer, &p->job.job);
	return 0;
}

int inis_store_session_put_later(struct inis_store *s, const struct inis_session_row *row, inis_store_done done,
				 void *ctx, struct inis_error *err)
{
	struct put_job *p = new_put(s, row, done, ctx, err);

	if (!p)
		return -1;
	worker_add_later(&s->writer, &p->job.job);
	return 0;
}

void inis_store_session_forget(struct inis_store *s, const struct session_id *id)
{
	struct put_job *p = new_job(s, forget, NULL);

	if (!p)
		return;
	p->row.id = *id;
	inis_count(&inis_metrics.store_queued);
	worker_add(&s->writer, &p->job.job);
}
