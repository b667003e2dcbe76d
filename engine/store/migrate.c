/* SPDX-License-Identifier: Apache-2.0
 *
 * migrate.c - checks and updates the schema.
 *
 * The file says itself whose it is (application_id) and how far it has come
 * (user_version); both are written in the transaction that changes the schema.
 */
#include "store/migrate.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

#define APPLICATION_ID 0x696e6973 /* "inis" */
#define CHECK_NAME     "master-key-check"
#define CHECK_VALUE    "inis"
#define CHECK_SIZE_MAX (256L * 1024 * 1024) /* a full check of more would make a start slow */

/* First column of the first row of a query. */
static int ask_int(struct db *db, const char *sql, int64_t *value, struct inis_error *err)
{
	sqlite3_stmt *st = NULL;
	int status = -1;

	if (sqlite3_prepare_v2(db->handle, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW) {
		*value = sqlite3_column_int64(st, 0);
		status = 0;
	} else {
		db_fail(db, err);
	}
	sqlite3_finalize(st);
	return status;
}

int store_is_fresh(struct db *db, struct inis_error *err)
{
	int64_t tables;

	if (ask_int(db, "SELECT count(*) FROM sqlite_schema", &tables, err) < 0)
		return -1;
	return tables == 0;
}

static int check_identity(struct db *db, struct inis_error *err)
{
	int fresh = store_is_fresh(db, err);
	int64_t id, version;

	if (fresh < 0 || ask_int(db, "PRAGMA application_id", &id, err) < 0 ||
	    ask_int(db, "PRAGMA user_version", &version, err) < 0)
		return -1;
	if (!fresh && id != APPLICATION_ID)
		return inis_fail(err, INIS_INTERNAL, "database: the file belongs to another program");
	if (version > store_migration_count)
		return inis_fail(err, INIS_INTERNAL,
				 "database: made by a newer version (schema %d, this one knows up to %d)", (int)version,
				 store_migration_count);
	return 0;
}

static int check_pages(struct db *db, struct inis_error *err)
{
	sqlite3_stmt *st = NULL;
	struct stat file;
	int status = 0;

	if (stat(sqlite3_db_filename(db->handle, "main"), &file) == 0 && file.st_size > CHECK_SIZE_MAX)
		return 0;
	if (sqlite3_prepare_v2(db->handle, "PRAGMA quick_check(1)", -1, &st, NULL) != SQLITE_OK ||
	    sqlite3_step(st) != SQLITE_ROW)
		status = db_fail(db, err);
	else if (strcmp((const char *)sqlite3_column_text(st, 0), "ok") != 0)
		status = inis_fail(err, INIS_INTERNAL, "database: damaged: %.200s", sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
	return status;
}

static int put_check(struct db *db, const struct seal_key *key, struct inis_error *err)
{
	cleanup_buf struct inis_buf sealed = INIS_BUF_INIT(0);
	sqlite3_stmt *st = db_statement(db, ST_CHECK_PUT, err);

	if (!st || seal_record(key, CHECK_NAME, CHECK_VALUE, strlen(CHECK_VALUE), &sealed, err) < 0)
		return -1;
	sqlite3_bind_blob(st, 1, sealed.data, (int)sealed.len, SQLITE_STATIC);
	return db_run(db, st, err);
}

static int verify_check(struct db *db, const struct seal_key *key, struct inis_error *err)
{
	sqlite3_stmt *st = db_statement(db, ST_CHECK_GET, err);
	char *text = NULL;
	size_t n = 0;
	int status;

	if (!st)
		return -1;
	if (sqlite3_step(st) != SQLITE_ROW)
		return inis_fail(err, INIS_INTERNAL, "database: damaged: the check of the master key is missing");
	status = seal_open(key, CHECK_NAME, sqlite3_column_blob(st, 0), (size_t)sqlite3_column_bytes(st, 0), &text, &n,
			   NULL);
	seal_free_text(text, n);
	sqlite3_reset(st);
	if (status < 0)
		return inis_fail(err, INIS_INTERNAL, "database: master.key is not the key of this database");
	return 0;
}

static int apply(struct db *db, int from, struct inis_error *err)
{
	char sql[96];

	for (int version = from; version < store_migration_count; version++) {
		if (db_exec(db, store_migrations[version], err) < 0)
			return -1;
	}
	snprintf(sql, sizeof(sql), "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID,
		 store_migration_count);
	return db_exec(db, sql, err);
}

int store_identify(struct db *db, struct inis_error *err)
{
	return check_identity(db, err) < 0 ? -1 : check_pages(db, err);
}

int store_migrate(struct db *db, const struct seal_key *key, struct inis_error *err)
{
	int fresh = store_is_fresh(db, err);
	int64_t version;

	if (fresh < 0 || ask_int(db, "PRAGMA user_version", &version, err) < 0)
		return -1;
	if (!fresh && verify_check(db, key, err) < 0)
		return -1;
	if (version == store_migration_count)
		return 0;
	if (db_do(db, ST_BEGIN, err) < 0)
		return -1;
	if (apply(db, (int)version, err) < 0 || (fresh && put_check(db, key, err) < 0) ||
	    db_do(db, ST_COMMIT, err) < 0) {
		db_do(db, ST_ROLLBACK, NULL);
		return -1;
	}
	return 0;
}
