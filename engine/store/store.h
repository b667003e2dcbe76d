/* SPDX-License-Identifier: Apache-2.0
 *
 * store.h - what is durable.
 *
 * DOC: How it works
 *
 * A write is queued by the loop and carried out by one writer thread, which
 * commits all that has gathered in one transaction (synchronous=FULL) and then
 * calls each write's callback on the loop: only then may a client be told. Reads
 * of history run on a reader thread. Live state is never read from here but at
 * start. The same header will be implemented over another database: no SQL and
 * no file leaks through it. All times are wall-clock milliseconds.
 */
#ifndef INIS_STORE_STORE_H
#define INIS_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/id.h"

struct inis_store;

struct inis_store_config {
	uv_loop_t *loop;
	const char *dir; /* holds db and master.key; owned by us, 0700 */
	int64_t history_ms; /* ended sessions older than this are forgotten */
};

/* Opens or creates, migrates. The master key (0600) is created with the database. */
struct inis_store *inis_store_open(const struct inis_store_config *config, struct inis_error *err);
/* Finishes what is queued, then done on the loop. */
void inis_store_close(struct inis_store *s, void (*done)(void *ctx), void *ctx);

/*
 * A session as stored. `doc` is its whole description as JSON text (everything the
 * API shows and everything needed to go on, but no secret); the columns are what
 * is searched. `secrets` is plaintext here and AES-256-GCM under a fresh data key
 * wrapped by the master key on disk; NULL = none.
 */
struct inis_session_row {
	struct session_id id;
	char state[20];
	char unit[INIS_UNIT_ID_LEN + 1]; /* "" = none */
	const char *name; /* NULL = none; unique among not ended (the registry sees to it) */
	const char *external_id; /* NULL = none */
	inis_ms created_at;
	inis_ms ended_at; /* 0 = not ended */
	const char *end_reason; /* NULL = none */
	const char *doc;
	const char *secrets; /* JSON object text; zeroed by the store after use of its copy */
};

/* err is NULL on success. Called on the loop. */
typedef void (*inis_store_done)(void *ctx, const struct inis_error *err);

/* Insert or replace; copies row. After an error return (out of memory) done is not called. */
int inis_store_session_put(struct inis_store *s, const struct inis_session_row *row, inis_store_done done, void *ctx,
			   struct inis_error *err);

/* The same without haste: it may wait a moment for company, never for longer than what is put after it. */
int inis_store_session_put_later(struct inis_store *s, const struct inis_session_row *row, inis_store_done done,
				 void *ctx, struct inis_error *err);
/* As if it had never been put. When that cannot be done, the row stays. */
void inis_store_session_forget(struct inis_store *s, const struct session_id *id);

/* At start, blocking: each not ended session. Pointers in row are valid during the call. */
typedef int (*inis_store_each)(void *ctx, const struct inis_session_row *row, struct inis_error *err);
int inis_store_sessions_load(struct inis_store *s, inis_store_each each, void *ctx, struct inis_error *err);

struct inis_history_query {
	const char *external_id; /* NULL = any */
	inis_ms before_created_at; /* page: strictly after this row in the order newest first */
	char before_id[INIS_SESSION_ID_LEN + 1]; /* "" = first page */
	unsigned limit;
};
typedef void (*inis_store_rows_done)(void *ctx, const struct inis_session_row *rows, size_t count,
				     const struct inis_error *err);
/* Ended sessions, newest created first, ties by id descending; asynchronous. Rows are valid during the callback. */
int inis_store_history(struct inis_store *s, const struct inis_history_query *q, inis_store_rows_done done, void *ctx,
		       struct inis_error *err);
/* One ended session by id; count is 0 or 1. */
int inis_store_history_get(struct inis_store *s, const struct session_id *id, inis_store_rows_done done, void *ctx,
			   struct inis_error *err);

/*
 * Keys: only their SHA-256 is stored. Blocking, at start. set replaces all keys of
 * this origin (the key file); find is a constant-time look-up in memory: the number of
 * a key, below the count, or -1.
 */
int inis_store_keys_set(struct inis_store *s, const char *const *tokens, size_t count, struct inis_error *err);
size_t inis_store_key_count(const struct inis_store *s);
int inis_store_key_find(const struct inis_store *s, const char *token);

#define INIS_KEY_ID_SIZE 17
/* Names a key for good, wherever the key itself must not be: the beginning of its hash, in hexadecimal digits. */
void inis_store_key_id(const struct inis_store *s, int number, char id[static INIS_KEY_ID_SIZE]);

#endif
