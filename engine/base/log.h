/* SPDX-License-Identifier: Apache-2.0
 *
 * log.h - structured log lines: one JSON object a line on standard error.
 *
 *   inis_log(INIS_LOG_INFO, "session ended", "session", id, "reason", why, NULL);
 *
 * Fields are pairs of strings, ended by NULL; a pair with a NULL value is left
 * out. Never log secrets, tokens, bodies, environments or commands.
 */
#ifndef INIS_BASE_LOG_H
#define INIS_BASE_LOG_H

#include <stdbool.h>

enum inis_log_level { INIS_LOG_DEBUG, INIS_LOG_INFO, INIS_LOG_WARN, INIS_LOG_ERROR };

/* "debug", "info", "warn" or "error"; false for anything else. */
bool inis_log_level_parse(const char *name, enum inis_log_level *level);
/* Lines below this level are dropped. INFO until set. */
void inis_log_set_level(enum inis_log_level level);

void inis_log(enum inis_log_level level, const char *message, ...) __attribute__((sentinel));

/* A number as text for one field: static storage, good until the ninth call after. */
const char *inis_log_int(long long value);

#endif
