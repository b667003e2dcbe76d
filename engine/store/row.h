/* SPDX-License-Identifier: Apache-2.0
 *
 * row.h - session rows between memory and statements.
 */
#ifndef INIS_STORE_ROW_H
#define INIS_STORE_ROW_H

#include "store/sqlite.h"

/*
 * Fills row from the current row of a statement over all columns; *text is one block that
 * holds its strings. Secrets are left out (NULL).
 */
int row_read(sqlite3_stmt *st, struct inis_session_row *row, char **text, struct inis_error *err);
/* A copy of row with its strings in one block *text; secrets are left out. */
int row_copy(const struct inis_session_row *from, struct inis_session_row *to, char **text, struct inis_error *err);
void row_bind(sqlite3_stmt *st, const struct inis_session_row *row, const struct inis_buf *sealed);

#define ROW_COLUMN_SECRETS 9

#endif
