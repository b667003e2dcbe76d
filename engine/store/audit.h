/* SPDX-License-Identifier: Apache-2.0
 *
 * audit.h - the log of commands: one row each, written when it begins and again when it ends.
 *
 * Nobody waits for a row. Rows gather for a moment and are written together; what a crash of the process can lose is
 * that moment. When the disk does not keep up, rows are dropped and that is logged. Rows go when they are as old as
 * the history of sessions reaches back, so that none outlives its session's.
 */
#ifndef INIS_STORE_AUDIT_H
#define INIS_STORE_AUDIT_H

#include "store/store.h"

struct inis_audit_row {
	int64_t seq; /* from inis_store_audit_next(); rows of a session are in this order */
	struct session_id session;
	inis_ms at;
	inis_ms ended_at; /* 0 = not known */
	const char *doc; /* JSON object text: all the rest */
};

/* The number of a new row. */
int64_t inis_store_audit_next(struct inis_store *s);
/* Insert or replace; copies row. */
void inis_store_audit_put(struct inis_store *s, const struct inis_audit_row *row);

typedef void (*inis_store_audit_done)(void *ctx, const struct inis_audit_row *rows, size_t count,
				      const struct inis_error *err);
/*
 * Rows of a session with a smaller seq than before, the latest first, at most limit (1 to 1000); everything put
 * before is among them. Asynchronous; rows are valid during the callback. After an error return done is not called.
 */
int inis_store_audit_list(struct inis_store *s, const struct session_id *session, int64_t before, unsigned limit,
			  inis_store_audit_done done, void *ctx, struct inis_error *err);

#endif
