/* SPDX-License-Identifier: Apache-2.0
 *
 * tape.c - the records of a terminal's tape.
 */
#include "wire/tape.h"

static void put_u16(uint8_t *to, uint16_t v)
{
	to[0] = (uint8_t)v;
	to[1] = (uint8_t)(v >> 8);
}

static uint16_t get_u16(const uint8_t *from)
{
	return (uint16_t)(from[0] | from[1] << 8);
}

void inis_tape_head(uint8_t head[static INIS_TAPE_HEAD], size_t n)
{
	head[0] = INIS_TAPE_OUTPUT;
	put_u16(head + 1, (uint16_t)n);
}

void inis_tape_size(uint8_t record[static INIS_TAPE_SIZE_LEN], uint16_t rows, uint16_t cols)
{
	record[0] = INIS_TAPE_SIZE;
	put_u16(record + 1, INIS_TAPE_SIZE_LEN - INIS_TAPE_HEAD);
	put_u16(record + 3, rows);
	put_u16(record + 5, cols);
}

/* The head is whole: -1 when it is none. */
static int on_head(struct inis_tape_reader *r)
{
	uint16_t length = get_u16(r->record + 1);

	if (r->record[0] == INIS_TAPE_SIZE)
		return length == INIS_TAPE_SIZE_LEN - INIS_TAPE_HEAD ? 0 : -1;
	if (r->record[0] != INIS_TAPE_OUTPUT || length == 0)
		return -1;
	r->left = length;
	r->have = 0;
	return 0;
}

static int on_size(struct inis_tape_reader *r, struct inis_tape_item *item)
{
	*item = (struct inis_tape_item){
		.type = INIS_TAPE_SIZE, .rows = get_u16(r->record + 3), .cols = get_u16(r->record + 5)};
	r->have = 0;
	return item->rows > 0 && item->cols > 0 ? 1 : -1;
}

int inis_tape_read(struct inis_tape_reader *r, const uint8_t *data, size_t n, size_t *used, struct inis_tape_item *item)
{
	size_t at = 0;

	while (r->left == 0 && at < n) {
		r->record[r->have++] = data[at++];
		if (r->have == INIS_TAPE_HEAD && on_head(r) < 0)
			return -1;
		if (r->have == INIS_TAPE_SIZE_LEN) {
			*used = at;
			return on_size(r, item);
		}
	}
	*used = n;
	if (at == n)
		return 0;
	*item = (struct inis_tape_item){.type = INIS_TAPE_OUTPUT, .data = data + at, .n = n - at};
	if (item->n > r->left)
		item->n = r->left;
	r->left -= item->n;
	*used = at + item->n;
	return 1;
}
