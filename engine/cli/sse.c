/* SPDX-License-Identifier: Apache-2.0
 *
 * sse.c - reads server-sent events as they arrive.
 */
#include "cli/sse.h"

#include <stdio.h>
#include <string.h>

void cli_sse_free(struct cli_sse *sse)
{
	inis_buf_free(&sse->line);
}

/* The value of a line `name: value`, or NULL when the line is another. */
static const char *field(const char *line, size_t length, const char *name, size_t *value_length)
{
	size_t skip = strlen(name);

	if (length <= skip || memcmp(line, name, skip) != 0 || line[skip] != ':')
		return NULL;
	skip++;
	if (skip < length && line[skip] == ' ')
		skip++;
	*value_length = length - skip;
	return line + skip;
}

static int take_line(struct cli_sse *sse, const char *line, size_t length)
{
	const char *value;
	size_t value_length;

	if (length > 0 && line[length - 1] == '\r')
		length--;
	value = field(line, length, "event", &value_length);
	if (value) {
		snprintf(sse->event, sizeof(sse->event), "%.*s", (int)value_length, value);
		return 0;
	}
	value = field(line, length, "id", &value_length);
	if (value) {
		snprintf(sse->id, sizeof(sse->id), "%.*s", (int)value_length, value);
		return 0;
	}
	value = field(line, length, "data", &value_length);
	return value ? sse->handler(sse->user, sse->event, value, value_length) : 0;
}

int cli_sse_feed(struct cli_sse *sse, const char *data, size_t length)
{
	while (length > 0) {
		const char *newline = memchr(data, '\n', length);
		size_t part = newline ? (size_t)(newline - data) : length;

		inis_buf_append(&sse->line, data, part);
		if (inis_buf_failed(&sse->line))
			return -1;
		if (newline) {
			if (take_line(sse, (const char *)sse->line.data, sse->line.len) < 0)
				return -1;
			inis_buf_reset(&sse->line);
			part++;
		}
		data += part;
		length -= part;
	}
	return 0;
}
