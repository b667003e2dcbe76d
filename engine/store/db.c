/* SPDX-License-Identifier: Apache-2.0
 *
 * db.c - a SQLite connection and its named statements.
 */
#include <string.h>

#include "store/sqlite.h"

#define BUSY_MS 10000

#define COLUMNS "id, state, unit, name, external_id, created_at, ended_at, end_reason, doc, secrets"

static const char *const SQL[ST_COUNT] = {
	[ST_BEGIN] = "BEGIN IMMEDIATE",
	[ST_COMMIT] = "COMMIT",
	[ST_ROLLBACK] = "ROLLBACK",
	[ST_SESSION_PUT] = "REPLACE INTO session (" COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[ST_SESSION_FORGET] = "DELETE FROM session WHERE id = ?",
	[ST_SESSIONS_LIVE] = "SELECT " COLUMNS " FROM session WHERE ended_at = 0 ORDER BY created_at, id",
	[ST_HISTORY] = "SELECT " COLUMNS " FROM session WHERE ended_at > 0 AND ended_at >= ?1"
		       " AND (created_at, id) < (?2, ?3) ORDER BY created_at DESC, id DESC LIMIT ?4",
	[ST_HISTORY_EXTERNAL] = "SELECT " COLUMNS " FROM session WHERE ended_at > 0 AND ended_at >= ?1"
				" AND (created_at, id) < (?2, ?3) AND external_id = ?5"
				" ORDER BY created_at DESC, id DESC LIMIT ?4",
	[ST_HISTORY_GET] = "SELECT " COLUMNS " FROM session WHERE ended_at > 0 AND ended_at >= ?1 AND id = ?2",
	[ST_HISTORY_PRUNE] = "DELETE FROM session WHERE id IN"
			     " (SELECT id FROM session WHERE ended_at > 0 AND ended_at < ?1 LIMIT ?2)",
	[ST_AUDIT_PUT] = "REPLACE INTO audit (seq, session, at, ended_at, doc) VALUES (?, ?, ?, ?, ?)",
	[ST_AUDIT_LIST] = "SELECT seq, at, ended_at, doc FROM audit"
			  " WHERE session = ?1 AND seq < ?2 AND at >= ?3 ORDER BY seq DESC LIMIT ?4",
	[ST_AUDIT_LAST] = "SELECT coalesce(max(seq), 0) FROM audit",
	[ST_AUDIT_PRUNE] = "DELETE FROM audit WHERE seq IN (SELECT seq FROM audit WHERE at < ?1 LIMIT ?2)",
	[ST_KEYS_LIST] = "SELECT sha256 FROM api_key",
	[ST_KEYS_CLEAR] = "DELETE FROM api_key WHERE origin = 'file'",
	[ST_KEYS_ADD] = "INSERT OR IGNORE INTO api_key (sha256, origin) VALUES (?, 'file')",
	[ST_CHECK_PUT] = "INSERT INTO master_key_check (one, sealed) VALUES (1, ?)",
	[ST_CHECK_GET] = "SELECT sealed FROM master_key_check",
};

static bool outside_cause(int code)
{
	switch (code & 0xff) {
	case SQLITE_FULL:
	case SQLITE_IOERR:
	case SQLITE_NOMEM:
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
		return true;
	default:
		return false;
	}
}

int db_fail(struct db *db, struct inis_error *err)
{
	int code = db->handle ? sqlite3_extended_errcode(db->handle) : SQLITE_NOMEM;

	return inis_fail(err, outside_cause(code) ? INIS_UNAVAILABLE : INIS_INTERNAL, "database: %s (%d)",
			 db->handle ? sqlite3_errmsg(db->handle) : "out of memory", code);
}

int db_exec(struct db *db, const char *sql, struct inis_error *err)
{
	if (sqlite3_exec(db->handle, sql, NULL, NULL, NULL) != SQLITE_OK)
		return db_fail(db, err);
	return 0;
}

int db_connect(struct db *db, const char *path, struct inis_error *err)
{
	if (sqlite3_open_v2(path, &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return db_fail(db, err);
	sqlite3_extended_result_codes(db->handle, 1);
	sqlite3_busy_timeout(db->handle, BUSY_MS);
	return 0;
}

int db_set_up(struct db *db, struct inis_error *err)
{
	/* The cache, in KiB: the pages written to lie together at the ends, and the kernel has the others. */
	static const char settings[] = "PRAGMA cache_size = -512;"
				       "PRAGMA journal_mode = WAL;"
				       "PRAGMA synchronous = FULL;"
				       "PRAGMA journal_size_limit = 16777216;"
				       "PRAGMA trusted_schema = OFF;";

	return db_exec(db, settings, err);
}

int db_open(struct db *db, const char *path, struct inis_error *err)
{
	return db_connect(db, path, err) < 0 ? -1 : db_set_up(db, err);
}

void db_close(struct db *db)
{
	for (int i = 0; i < ST_COUNT; i++)
		sqlite3_finalize(db->statements[i]);
	sqlite3_close(db->handle);
	memset(db, 0, sizeof(*db));
}

sqlite3_stmt *db_statement(struct db *db, enum statement which, struct inis_error *err)
{
	sqlite3_stmt **st = &db->statements[which];

	if (!*st && sqlite3_prepare_v3(db->handle, SQL[which], -1, SQLITE_PREPARE_PERSISTENT, st, NULL) != SQLITE_OK) {
		db_fail(db, err);
		return NULL;
	}
	sqlite3_reset(*st);
	sqlite3_clear_bindings(*st);
	return *st;
}

int db_run(struct db *db, sqlite3_stmt *st, struct inis_error *err)
{
	int status = sqlite3_step(st) == SQLITE_DONE ? 0 : db_fail(db, err);

	sqlite3_reset(st);
	return status;
}

int db_do(struct db *db, enum statement which, struct inis_error *err)
{
	sqlite3_stmt *st = db_statement(db, which, err);

	return st ? db_run(db, st, err) : -1;
}
