/* SPDX-License-Identifier: Apache-2.0
 *
 * log.c - structured log lines, written with one write() each so that lines of several processes do not mix.
 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"

#define LINE_MAX_BYTES 8192
#define INT_SLOTS      8

static const char *const NAMES[] = {"debug", "info", "warn", "error"};
static enum inis_log_level threshold = INIS_LOG_INFO;

bool inis_log_level_parse(const char *name, enum inis_log_level *level)
{
	for (unsigned i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
		if (strcmp(NAMES[i], name) == 0) {
			*level = (enum inis_log_level)i;
			return true;
		}
	}
	return false;
}

void inis_log_set_level(enum inis_log_level level)
{
	threshold = level;
}

const char *inis_log_int(long long value)
{
	static __thread char slots[INT_SLOTS][24];
	static __thread unsigned next;
	char *slot = slots[next++ % INT_SLOTS];

	snprintf(slot, sizeof(slots[0]), "%lld", value);
	return slot;
}

static void put_text(struct inis_buf *b, const char *text)
{
	inis_buf_puts(b, "\"");
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p == '"' || *p == '\\')
			inis_buf_printf(b, "\\%c", *p);
		else if (*p < 0x20 || *p == 0x7f)
			inis_buf_printf(b, "\\u%04x", *p);
		else
			inis_buf_append(b, p, 1);
	}
	inis_buf_puts(b, "\"");
}

void inis_log(enum inis_log_level level, const char *message, ...)
{
	cleanup_buf struct inis_buf line = INIS_BUF_INIT(LINE_MAX_BYTES);
	char now[INIS_RFC3339_SIZE];
	const char *key;
	va_list ap;

	if (level < threshold)
		return;
	inis_rfc3339(inis_wall_ms(), now);
	inis_buf_printf(&line, "{\"time\":\"%s\",\"level\":\"%s\",\"message\":", now, NAMES[level]);
	put_text(&line, message);
	va_start(ap, message);
	while ((key = va_arg(ap, const char *))) {
		const char *value = va_arg(ap, const char *);

		if (!value)
			continue;
		inis_buf_puts(&line, ",");
		put_text(&line, key);
		inis_buf_puts(&line, ":");
		put_text(&line, value);
	}
	va_end(ap);
	inis_buf_puts(&line, "}\n");
	if (!inis_buf_failed(&line) && write(STDERR_FILENO, line.data, line.len) < 0)
		return;
}
