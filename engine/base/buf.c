/* SPDX-License-Identifier: Apache-2.0
 *
 * buf.c - growing byte buffer.
 */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_CAP 256

/* The room before the data becomes room behind it. */
static void rewind_data(struct inis_buf *b)
{
	b->data -= b->skip;
	b->cap += b->skip;
	b->skip = 0;
}

void inis_buf_free(struct inis_buf *b)
{
	if (b->data)
		rewind_data(b);
	free(b->data);
	b->data = NULL;
	b->len = b->cap = 0;
	b->failed = false;
}

/* Moves at most as many bytes as were consumed since the last time. */
static bool compact(struct inis_buf *b, size_t need)
{
	if (b->skip < b->len || b->skip + b->cap < need)
		return false;
	memmove(b->data - b->skip, b->data, b->len);
	rewind_data(b);
	return true;
}

static int grow(struct inis_buf *b, size_t need)
{
	size_t cap = b->skip + b->cap ? b->skip + b->cap : MIN_CAP;
	uint8_t *data;

	if (b->skip > 0 && compact(b, need))
		return 0;
	while (cap < need) {
		if (cap > SIZE_MAX / 2)
			return -1;
		cap *= 2;
	}
	data = b->skip > 0 ? malloc(cap) : realloc(b->data, cap);
	if (!data)
		return -1;
	if (b->skip > 0) {
		memcpy(data, b->data, b->len);
		free(b->data - b->skip);
		b->skip = 0;
	}
	b->data = data;
	b->cap = cap;
	return 0;
}

uint8_t *inis_buf_reserve(struct inis_buf *b, size_t n)
{
	size_t need;

	if (b->failed)
		return NULL;
	if (__builtin_add_overflow(b->len, n, &need) || (b->max && need > b->max) ||
	    (need > b->cap && grow(b, need) < 0)) {
		b->failed = true;
		return NULL;
	}
	return b->data + b->len;
}

void inis_buf_append(struct inis_buf *b, const void *data, size_t n)
{
	uint8_t *to;

	if (n == 0)
		return;
	to = inis_buf_reserve(b, n);
	if (!to)
		return;
	memcpy(to, data, n);
	b->len += n;
}

void inis_buf_puts(struct inis_buf *b, const char *s)
{
	inis_buf_append(b, s, strlen(s));
}

void inis_buf_printf(struct inis_buf *b, const char *fmt, ...)
{
	va_list ap;
	uint8_t *to;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->failed = true;
		return;
	}
	to = inis_buf_reserve(b, (size_t)n + 1);
	if (!to)
		return;
	va_start(ap, fmt);
	vsnprintf((char *)to, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

void inis_buf_consume(struct inis_buf *b, size_t n)
{
	if (n >= b->len) {
		b->len = 0;
		if (b->data)
			rewind_data(b);
		return;
	}
	b->data += n;
	b->skip += n;
	b->cap -= n;
	b->len -= n;
}

void inis_buf_reset(struct inis_buf *b)
{
	b->len = 0;
	b->failed = false;
	if (b->data)
		rewind_data(b);
}

char *inis_buf_cstr(struct inis_buf *b)
{
	uint8_t *to = inis_buf_reserve(b, 1);

	if (!to)
		return NULL;
	*to = '\0';
	return (char *)b->data;
}
