/* SPDX-License-Identifier: Apache-2.0
 *
 * row.c - session rows between memory and statements.
 */
#include "store/row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *put(char **at, const char *s)
{
	size_t n;
	char *to = *at;

	if (!s)
		return NULL;
	n = strlen(s) + 1;
	memcpy(to, s, n);
	*at += n;
	return to;
}

static size_t size(const char *s)
{
	return s ? strlen(s) + 1 : 0;
}

int row_copy(const struct inis_session_row *from, struct inis_session_row *to, char **text, struct inis_error *err)
{
	char *at = malloc(size(from->name) + size(from->external_id) + size(from->end_reason) + size(from->doc) + 1);

	if (!at)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	*text = at;
	*to = *from;
	to->name = put(&at, from->name);
	to->external_id = put(&at, from->external_id);
	to->end_reason = put(&at, from->end_reason);
	to->doc = put(&at, from->doc);
	to->secrets = NULL;
	return 0;
}

static const char *column(sqlite3_stmt *st, int i)
{
	return (const char *)sqlite3_column_text(st, i);
}

static const char *filled(const char *s)
{
	return s ? s : "";
}

int row_read(sqlite3_stmt *st, struct inis_session_row *row, char **text, struct inis_error *err)
{
	struct inis_session_row seen = {
		.name = column(st, 3),
		.external_id = column(st, 4),
		.created_at = sqlite3_column_int64(st, 5),
		.ended_at = sqlite3_column_int64(st, 6),
		.end_reason = column(st, 7),
		.doc = filled(column(st, 8)),
	};

	if (!session_id_parse(column(st, 0), &seen.id))
		return inis_fail(err, INIS_INTERNAL, "database: a session has a malformed id");
	snprintf(seen.state, sizeof(seen.state), "%s", filled(column(st, 1)));
	snprintf(seen.unit, sizeof(seen.unit), "%s", filled(column(st, 2)));
	return row_copy(&seen, row, text, err);
}

static void bind_text(sqlite3_stmt *st, int i, const char *s)
{
	if (s)
		sqlite3_bind_text(st, i, s, -1, SQLITE_STATIC);
}

void row_bind(sqlite3_stmt *st, const struct inis_session_row *row, const struct inis_buf *sealed)
{
	bind_text(st, 1, row->id.s);
	bind_text(st, 2, row->state);
	bind_text(st, 3, row->unit);
	bind_text(st, 4, row->name);
	bind_text(st, 5, row->external_id);
	sqlite3_bind_int64(st, 6, row->created_at);
	sqlite3_bind_int64(st, 7, row->ended_at);
	bind_text(st, 8, row->end_reason);
	bind_text(st, 9, row->doc);
	if (sealed->len > 0)
		sqlite3_bind_blob(st, 10, sealed->data, (int)sealed->len, SQLITE_STATIC);
}
