/* SPDX-License-Identifier: Apache-2.0
 *
 * tape.c - the records of a terminal's tape: cut anywhere they mean the same, and they encode to the same bytes.
 */
#include "wire/tape.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read, written down again: sizes as records, output as bytes. */
static int read_all(const uint8_t *data, size_t size, size_t step, struct inis_buf *out)
{
	struct inis_tape_reader r = {0};
	size_t at = 0;

	while (at < size) {
		size_t n = size - at < step ? size - at : step, used = 0;
		struct inis_tape_item item;
		int got = inis_tape_read(&r, data + at, n, &used, &item);

		if (got < 0)
			return -1;
		if (used > n || (got == 0 && used != n) || used == 0)
			abort();
		at += used;
		if (got > 0 && item.type == INIS_TAPE_SIZE) {
			uint8_t record[INIS_TAPE_SIZE_LEN];

			inis_tape_size(record, item.rows, item.cols);
			inis_buf_append(out, record, sizeof(record));
		} else if (got > 0) {
			if (item.n == 0 || item.data < data || item.data + item.n > data + size)
				abort();
			inis_buf_append(out, item.data, item.n);
		}
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inis_buf whole = INIS_BUF_INIT(0), cut = INIS_BUF_INIT(0);
	int sound;

	if (size < 1)
		return 0;
	sound = read_all(data + 1, size - 1, size, &whole);
	if (read_all(data + 1, size - 1, 1 + (size_t)data[0], &cut) != sound)
		abort();
	if (sound == 0 && (whole.len != cut.len || (whole.len && memcmp(whole.data, cut.data, whole.len) != 0)))
		abort();
	inis_buf_free(&whole);
	inis_buf_free(&cut);
	return 0;
}
