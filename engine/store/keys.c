/* SPDX-License-Identifier: Apache-2.0
 *
 * keys.c - API keys: SHA-256 on disk and in memory, nothing else.
 */
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/sqlite.h"

static void hash(const char *token, struct key_hash *out)
{
	SHA256((const unsigned char *)token, strlen(token), out->bytes);
}

static int append(struct inis_store *s, const void *bytes, struct inis_error *err)
{
	struct key_hash *grown = realloc(s->keys, (s->key_count + 1) * sizeof(*grown));

	if (!grown)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	s->keys = grown;
	memcpy(grown[s->key_count++].bytes, bytes, sizeof(grown->bytes));
	return 0;
}

int store_keys_load(struct inis_store *s, struct db *db, struct inis_error *err)
{
	sqlite3_stmt *st = db_statement(db, ST_KEYS_LIST, err);
	int status;

	if (!st)
		return -1;
	s->key_count = 0;
	while ((status = sqlite3_step(st)) == SQLITE_ROW) {
		if (sqlite3_column_bytes(st, 0) == sizeof(struct key_hash) &&
		    append(s, sqlite3_column_blob(st, 0), err) < 0)
			break;
	}
	if (status != SQLITE_ROW && status != SQLITE_DONE)
		db_fail(db, err);
	sqlite3_reset(st);
	return status == SQLITE_DONE ? 0 : -1;
}

static int replace(struct db *db, const char *const *tokens, size_t count, struct inis_error *err)
{
	if (db_do(db, ST_BEGIN, err) < 0 || db_do(db, ST_KEYS_CLEAR, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		sqlite3_stmt *st = db_statement(db, ST_KEYS_ADD, err);
		struct key_hash h;

		if (!st)
			return -1;
		hash(tokens[i], &h);
		sqlite3_bind_blob(st, 1, h.bytes, sizeof(h.bytes), SQLITE_TRANSIENT);
		if (db_run(db, st, err) < 0)
			return -1;
	}
	return db_do(db, ST_COMMIT, err);
}

int inis_store_keys_set(struct inis_store *s, const char *const *tokens, size_t count, struct inis_error *err)
{
	struct db db = {0};
	int status = db_open(&db, s->path, err);

	if (status == 0)
		status = replace(&db, tokens, count, err);
	if (status == 0)
		status = store_keys_load(s, &db, err);
	db_close(&db);
	return status;
}

size_t inis_store_key_count(const struct inis_store *s)
{
	return s->key_count;
}

int inis_store_key_find(const struct inis_store *s, const char *token)
{
	struct key_hash h;
	int found = -1;

	if (!token)
		return -1;
	hash(token, &h);
	/* All of them, whichever it is. */
	for (size_t i = 0; i < s->key_count; i++) {
		if (CRYPTO_memcmp(h.bytes, s->keys[i].bytes, sizeof(h.bytes)) == 0)
			found = (int)i;
	}
	return found;
}

void inis_store_key_id(const struct inis_store *s, int number, char id[static INIS_KEY_ID_SIZE])
{
	for (size_t i = 0; i < (INIS_KEY_ID_SIZE - 1) / 2; i++)
		snprintf(id + 2 * i, 3, "%02x", s->keys[number].bytes[i]);
}
