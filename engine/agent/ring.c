/* SPDX-License-Identifier: Apache-2.0
 *
 * ring.c - the last part of a terminal's tape.
 */
#include "agent/ring.h"

#include <stdlib.h>
#include <string.h>

#include "wire/tape.h"

#define CAP_MIN 8192

void ring_init(struct ring *r, uint16_t rows, uint16_t cols)
{
	*r = (struct ring){.rows = rows, .cols = cols};
}

void ring_free(struct ring *r)
{
	free(r->data);
	*r = (struct ring){0};
}

/* How many of n bytes at an offset lie in one piece. */
static size_t piece(const struct ring *r, uint64_t offset, size_t n)
{
	size_t until_wrap = r->cap - (size_t)(offset & (r->cap - 1));

	return n < until_wrap ? n : until_wrap;
}

static uint8_t *place(const struct ring *r, uint64_t offset)
{
	return r->data + (offset & (r->cap - 1));
}

size_t ring_read(const struct ring *r, uint64_t offset, size_t max, const uint8_t **data)
{
	size_t n = (size_t)(r->end - offset);

	if (n == 0)
		return 0;
	*data = place(r, offset);
	n = piece(r, offset, n);
	return n < max ? n : max;
}

static void copy_in(struct ring *r, const uint8_t *from, size_t n)
{
	while (n > 0) {
		size_t now = piece(r, r->end, n);

		memcpy(place(r, r->end), from, now);
		r->end += now;
		from += now;
		n -= now;
	}
}

static void copy_out(const struct ring *r, uint64_t offset, uint8_t *to, size_t n)
{
	while (n > 0) {
		size_t now = piece(r, offset, n);

		memcpy(to, place(r, offset), now);
		offset += now;
		to += now;
		n -= now;
	}
}

static bool grow(struct ring *r, size_t need)
{
	struct ring bigger = {.cap = r->cap ? r->cap : CAP_MIN / 2, .end = r->first};
	size_t kept = (size_t)(r->end - r->first);

	do
		bigger.cap *= 2;
	while (bigger.cap < kept + need && bigger.cap < RING_MAX);
	bigger.data = malloc(bigger.cap);
	if (!bigger.data)
		return false;
	for (uint64_t at = r->first; at < r->end;) {
		const uint8_t *data;
		size_t n = ring_read(r, at, kept, &data);

		copy_in(&bigger, data, n);
		at += n;
	}
	free(r->data);
	r->data = bigger.data;
	r->cap = bigger.cap;
	return true;
}

static void forget_output(struct ring *r, size_t n)
{
	while (n > 0) {
		const uint8_t *data;
		size_t now = ring_read(r, r->first, n, &data);

		modes_feed(&r->modes, data, now);
		r->first += now;
		n -= now;
	}
}

/* The oldest record; there is one. */
static void forget(struct ring *r)
{
	uint8_t head[INIS_TAPE_SIZE_LEN];
	struct inis_tape_reader reader = {0};
	struct inis_tape_item item;
	size_t used;

	copy_out(r, r->first, head, INIS_TAPE_HEAD);
	r->first += INIS_TAPE_HEAD;
	if (head[0] == INIS_TAPE_OUTPUT) {
		forget_output(r, (size_t)(head[1] | head[2] << 8));
		return;
	}
	copy_out(r, r->first, head + INIS_TAPE_HEAD, sizeof(head) - INIS_TAPE_HEAD);
	r->first += sizeof(head) - INIS_TAPE_HEAD;
	inis_tape_read(&reader, head, sizeof(head), &used, &item);
	r->rows = item.rows;
	r->cols = item.cols;
}

static bool make_room(struct ring *r, size_t need)
{
	if (r->cap - (size_t)(r->end - r->first) < need && r->cap < RING_MAX)
		grow(r, need);
	if (r->cap < need)
		return false;
	while (r->cap - (size_t)(r->end - r->first) < need)
		forget(r);
	return true;
}

void ring_output(struct ring *r, const void *data, size_t n)
{
	const uint8_t *from = data;

	while (n > 0) {
		uint8_t head[INIS_TAPE_HEAD];
		size_t now = n < INIS_TAPE_DATA_MAX ? n : INIS_TAPE_DATA_MAX;

		if (!make_room(r, sizeof(head) + now))
			return;
		inis_tape_head(head, now);
		copy_in(r, head, sizeof(head));
		copy_in(r, from, now);
		from += now;
		n -= now;
	}
}

void ring_size(struct ring *r, uint16_t rows, uint16_t cols)
{
	uint8_t record[INIS_TAPE_SIZE_LEN];

	if (!make_room(r, sizeof(record)))
		return;
	inis_tape_size(record, rows, cols);
	copy_in(r, record, sizeof(record));
}
