/* SPDX-License-Identifier: Apache-2.0
 *
 * buf.c - growing byte buffer.
 */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_CAP 256

void inis_buf_free(struct inis_buf *b)
{
	free(b->data);
	b->data = NULL;
	b->len = b->cap = 0;
	b->failed = false;
}

static int grow(struct inis_buf *b, size_t need)
{
	size_t cap = b->cap ? b->cap : MIN_CAP;
	uint8_t *data;

	while (cap < need) {
		if (cap > SIZE_MAX / 2)
			return -1;
		cap *= 2;
	}
	data = realloc(b->data, cap);
	if (!data)
		return -1;
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
		return;
	}
	memmove(b->data, b->data + n, b->len - n);
	b->len -= n;
}

void inis_buf_reset(struct inis_buf *b)
{
	b->len = 0;
	b->failed = false;
}

char *inis_buf_cstr(struct inis_buf *b)
{
	uint8_t *to = inis_buf_reserve(b, 1);

	if (!to)
		return NULL;
	*to = '\0';
	return (char *)b->data;
}
