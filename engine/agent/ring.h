/* SPDX-License-Identifier: Apache-2.0
 *
 * ring.h - the last part of a terminal's tape.
 *
 * Offsets count bytes of the tape (wire/tape.h) since its beginning. What is forgotten is forgotten in whole records,
 * the oldest first, but what they did to size and modes of the terminal is remembered. Pure.
 */
#ifndef INIS_AGENT_RING_H
#define INIS_AGENT_RING_H

#include "agent/modes.h"

#define RING_MAX (1024 * 1024) /* bytes of tape kept; the memory grows up to it as it is needed */

struct ring {
	uint8_t *data; /* byte at offset n: data[n % cap] */
	size_t cap; /* a power of two */
	uint64_t first; /* offset of the oldest record */
	uint64_t end;
	uint16_t rows; /* size at first */
	uint16_t cols;
	struct modes modes; /* at first */
};

void ring_init(struct ring *r, uint16_t rows, uint16_t cols);
void ring_free(struct ring *r);

/* Without memory, older records or, if there is no room at all, these bytes are lost. */
void ring_output(struct ring *r, const void *data, size_t n);
void ring_size(struct ring *r, uint16_t rows, uint16_t cols);
/* What lies at an offset between first and end, in one piece; its length, at most max. */
size_t ring_read(const struct ring *r, uint64_t offset, size_t max, const uint8_t **data);

#endif
