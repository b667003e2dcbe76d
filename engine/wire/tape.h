/* SPDX-License-Identifier: Apache-2.0
 *
 * tape.h - what a terminal has shown, as a stream of records: its output, and its size where that changed.
 *
 * A record is u8 type, u16 length (little endian), then the payload: bytes of output, never none, or u16 rows, u16
 * columns, neither of them 0. Being in the stream, a size stands exactly before the bytes that were written for it.
 *
 * Pure.
 */
#ifndef INIS_WIRE_TAPE_H
#define INIS_WIRE_TAPE_H

#include <stddef.h>
#include <stdint.h>

#define INIS_TAPE_HEAD     3
#define INIS_TAPE_DATA_MAX 65535
#define INIS_TAPE_SIZE_LEN (INIS_TAPE_HEAD + 4) /* a whole record of a size */

enum inis_tape_type { INIS_TAPE_OUTPUT = 1, INIS_TAPE_SIZE = 2 };

/* The head of a record of output; n is 1 to INIS_TAPE_DATA_MAX. */
void inis_tape_head(uint8_t head[static INIS_TAPE_HEAD], size_t n);
/* A whole record of a size. */
void inis_tape_size(uint8_t record[static INIS_TAPE_SIZE_LEN], uint16_t rows, uint16_t cols);

struct inis_tape_item {
	enum inis_tape_type type;
	const uint8_t *data; /* output: a piece of it, in the caller's bytes */
	size_t n;
	uint16_t rows;
	uint16_t cols;
};

/* All zero at the beginning of a record. */
struct inis_tape_reader {
	uint8_t record[INIS_TAPE_SIZE_LEN]; /* the head, and a size */
	size_t have;
	size_t left; /* bytes of output that are still to come */
};

/*
 * Takes bytes in; *used says how many. 1: *item is there, and there may be more in the rest. 0: all were used. -1: this
 * is no tape; not to be called again.
 */
int inis_tape_read(struct inis_tape_reader *r, const uint8_t *data, size_t n, size_t *used,
		   struct inis_tape_item *item);

#endif
