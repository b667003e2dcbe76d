/* SPDX-License-Identifier: Apache-2.0
 *
 * buf.h - a growing byte buffer with a limit and a sticky failure.
 *
 * Appends after a failure (no memory, limit reached) do nothing, so a writer
 * may append many times and look once: inis_buf_failed().
 * The buffer owns its bytes; `cleanup_buf struct inis_buf b = INIS_BUF_INIT(max)`.
 */
#ifndef INIS_BASE_BUF_H
#define INIS_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inis_buf {
	uint8_t *data;
	size_t len;
	size_t cap; /* from data on */
	size_t skip; /* room before data, of what was consumed */
	size_t max; /* bytes; 0 = no limit but memory */
	bool failed;
};

#define INIS_BUF_INIT(max_)   \
	{                     \
		.max = (max_) \
	}

void inis_buf_free(struct inis_buf *b);
#define cleanup_buf __attribute__((cleanup(inis_buf_free)))

static inline bool inis_buf_failed(const struct inis_buf *b)
{
	return b->failed;
}

/* Makes room for n more bytes; returns where to write them or NULL (then failed). */
uint8_t *inis_buf_reserve(struct inis_buf *b, size_t n);
void inis_buf_append(struct inis_buf *b, const void *data, size_t n);
void inis_buf_puts(struct inis_buf *b, const char *s);
void inis_buf_printf(struct inis_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Drops n bytes from the front (n <= len), without moving the others. */
void inis_buf_consume(struct inis_buf *b, size_t n);
/* Empties, keeps the memory, clears the failure. */
void inis_buf_reset(struct inis_buf *b);
/* NUL-terminates (the NUL is not counted in len) and gives the string, or NULL if failed. Owned by b. */
char *inis_buf_cstr(struct inis_buf *b);

#endif
