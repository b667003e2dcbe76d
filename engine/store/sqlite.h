/* SPDX-License-Identifier: Apache-2.0
 *
 * sqlite.h - the SQLite implementation of the store, as its files share it.
 *
 * Three kinds of connections: the writer's and the reader's, each used by one
 * thread only, and a short-lived one for what blocks at start.
 */
#ifndef INIS_STORE_SQLITE_H
#define INIS_STORE_SQLITE_H

#include <sqlite3.h>

#include "store/seal.h"
#include "store/store.h"
#include "store/worker.h"

#define STORE_FILE "db"

enum statement {
	ST_BEGIN,
	ST_COMMIT,
	ST_ROLLBACK,
	ST_SESSION_PUT,
	ST_SESSION_FORGET,
	ST_SESSIONS_LIVE,
	ST_HISTORY,
	ST_HISTORY_EXTERNAL,
	ST_HISTORY_GET,
	ST_HISTORY_PRUNE,
	ST_AUDIT_PUT,
	ST_AUDIT_LIST,
	ST_AUDIT_LAST,
	ST_AUDIT_PRUNE,
	ST_KEYS_LIST,
	ST_KEYS_CLEAR,
	ST_KEYS_ADD,
	ST_CHECK_PUT,
	ST_CHECK_GET,
	ST_COUNT
};

/* A connection with the statements it has used so far. */
struct db {
	sqlite3 *handle;
	sqlite3_stmt *statements[ST_COUNT];
};

/* db_open() is both: opening, and the settings, which are the first thing that writes to the file. */
int db_connect(struct db *db, const char *path, struct inis_error *err);
int db_set_up(struct db *db, struct inis_error *err);
int db_open(struct db *db, const char *path, struct inis_error *err);
void db_close(struct db *db);
/* Runs SQL text without results. */
int db_exec(struct db *db, const char *sql, struct inis_error *err);
/* The statement, prepared and reset; NULL on error. */
sqlite3_stmt *db_statement(struct db *db, enum statement which, struct inis_error *err);
/* Steps a statement that gives no rows and resets it. */
int db_run(struct db *db, sqlite3_stmt *st, struct inis_error *err);
/* Runs one without parameters. */
int db_do(struct db *db, enum statement which, struct inis_error *err);
/* Says what went wrong on db; what the disk or memory is to blame for is `unavailable`. */
int db_fail(struct db *db, struct inis_error *err);

/* What a thread of the store does for one request. */
struct store_job {
	struct job job; /* first */
	int (*run)(struct db *db, struct store_job *job, struct inis_error *err);
	bool spare; /* the reserve is not given up for it */
};

struct key_hash {
	uint8_t bytes[32];
};

struct inis_store {
	char *path;
	int dir_fd;
	int64_t history_ms;
	struct seal_key master;
	struct key_hash *keys;
	size_t key_count;

	struct worker writer;
	struct db write_db; /* the writer thread's, likewise below */
	bool has_reserve;
	inis_ms reserve_tried_at;
	inis_ms pruned_at;
	int64_t audit_seq; /* of the last row */
	size_t audit_waiting; /* bytes of rows on their way to the writer */

	struct worker reader;
	struct db read_db; /* the reader thread's */

	bool closing;
	void (*closed)(void *ctx);
	void *closed_ctx;
};

int store_writer_start(struct inis_store *s, uv_loop_t *loop, struct inis_error *err);
int store_reader_start(struct inis_store *s, uv_loop_t *loop, struct inis_error *err);
int store_audit_load(struct inis_store *s, struct db *db, struct inis_error *err);
int store_keys_load(struct inis_store *s, struct db *db, struct inis_error *err);
/* A worker of s is gone. */
void store_worker_closed(void *store);
/* Ended sessions from before this are forgotten. */
inis_ms store_history_begin(const struct inis_store *s);

/* Space that is given up when the disk is full, so that ends of sessions can still be written. */
void store_reserve_fill(struct inis_store *s);
bool store_reserve_release(struct inis_store *s);

#endif
