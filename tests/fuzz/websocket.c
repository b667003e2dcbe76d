/* SPDX-License-Identifier: Apache-2.0
 *
 * websocket.c - a byte stream of frames gives the same items however it is cut, and what it gives, written again, is
 * read as the same.
 *
 * The first byte says which side reads.
 */
#include "base/websocket.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MESSAGE_MAX 4096

static const uint8_t MASK[4] = {1, 2, 3, 4};

/* Appends all items as frames of their own; the status of the offence, or 0. */
static int read_all(struct inis_buf *out, bool masked, const uint8_t *data, size_t size, size_t piece)
{
	struct ws_reader r;
	int got = 0, error;

	ws_reader_init(&r, masked, MESSAGE_MAX);
	for (size_t at = 0; at < size && got >= 0;) {
		size_t n = size - at < piece ? size - at : piece;
		struct ws_item item;
		size_t used;

		got = ws_read(&r, data + at, n, &used, &item);
		if (used > n || (got == 0 && used != n))
			abort();
		at += used;
		if (got <= 0)
			continue;
		if (item.opcode == WS_CONTINUATION || item.n > MESSAGE_MAX)
			abort();
		if (item.opcode == WS_CLOSE)
			ws_close_status(item.data, item.n);
		ws_put(out, item.opcode, masked ? MASK : NULL, item.data, item.n);
	}
	error = got < 0 ? (int)r.error : 0;
	ws_reader_free(&r);
	return error;
}

static void compare(const struct inis_buf *a, const struct inis_buf *b)
{
	if (a->len != b->len || (a->len > 0 && memcmp(a->data, b->data, a->len) != 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inis_buf whole = INIS_BUF_INIT(0), cut = INIS_BUF_INIT(0), again = INIS_BUF_INIT(0);
	bool masked = size > 0 && (data[0] & 1);

	if (size < 2)
		return 0;
	if (read_all(&whole, masked, data + 1, size - 1, size) !=
	    read_all(&cut, masked, data + 1, size - 1, 1 + data[0] % 7))
		abort();
	compare(&whole, &cut);
	if (read_all(&again, masked, whole.data, whole.len, 3) != 0)
		abort();
	compare(&whole, &again);
	inis_buf_free(&whole);
	inis_buf_free(&cut);
	inis_buf_free(&again);
	return 0;
}
