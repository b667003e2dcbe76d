/* SPDX-License-Identifier: Apache-2.0
 *
 * websocket.c - frames of RFC 6455, read and written.
 */
#include "base/websocket.h"

#include <string.h>

#define FIN      0x80
#define RESERVED 0x70
#define MASKED   0x80
#define KEEP_MAX 16384 /* an empty buffer larger than this is freed */

void ws_reader_init(struct ws_reader *r, bool masked, size_t message_max)
{
	*r = (struct ws_reader){.masked = masked, .message_max = message_max};
}

void ws_reader_free(struct ws_reader *r)
{
	inis_buf_free(&r->message);
}

static int fail(struct ws_reader *r, enum ws_status status)
{
	r->error = status;
	return -1;
}

static bool is_control(uint8_t opcode)
{
	return opcode & 0x8;
}

/* Length of the head whose first two bytes are there. */
static size_t head_size(const uint8_t *head)
{
	unsigned length = head[1] & 0x7f;

	return 2 + (length == 126 ? 2 : length == 127 ? 8 : 0) + (head[1] & MASKED ? 4 : 0);
}

static uint64_t payload_size(const uint8_t *head)
{
	unsigned length = head[1] & 0x7f;
	unsigned bytes = length == 126 ? 2 : length == 127 ? 8 : 0;
	uint64_t n = 0;

	if (bytes == 0)
		return length;
	for (unsigned i = 0; i < bytes; i++)
		n = n << 8 | head[2 + i];
	return n;
}

/* The first two bytes say all that can be wrong but the length. */
static int check_start(struct ws_reader *r)
{
	uint8_t opcode = r->head[0] & 0xf;
	bool fin = r->head[0] & FIN;

	if ((r->head[0] & RESERVED) || !(r->head[1] & MASKED) == r->masked)
		return fail(r, WS_PROTOCOL_ERROR);
	if (is_control(opcode))
		return opcode > WS_PONG || !fin || (r->head[1] & 0x7f) > WS_CONTROL_MAX ? fail(r, WS_PROTOCOL_ERROR)
											: 0;
	if (opcode > WS_BINARY || r->in_message != (opcode == WS_CONTINUATION))
		return fail(r, WS_PROTOCOL_ERROR);
	return 0;
}

static int begin_payload(struct ws_reader *r)
{
	uint8_t opcode = r->head[0] & 0xf;
	uint64_t n = payload_size(r->head);

	/* The shortest form is the only one. */
	if (((r->head[1] & 0x7f) == 126 && n < 126) || ((r->head[1] & 0x7f) == 127 && (n <= 0xffff || n > INT64_MAX)))
		return fail(r, WS_PROTOCOL_ERROR);
	r->left = n;
	r->mask_at = 0;
	r->control_len = 0;
	r->in_payload = true;
	if (is_control(opcode))
		return 0;
	if (opcode != WS_CONTINUATION) {
		r->in_message = true;
		r->opcode = (enum ws_opcode)opcode;
	}
	if (n > r->message_max - r->message.len)
		return fail(r, WS_TOO_BIG);
	return 0;
}

/* Gathers the head; *used counts on. 1: it is whole. */
static int read_head(struct ws_reader *r, const uint8_t *data, size_t n, size_t *used)
{
	while (*used < n) {
		r->head[r->head_len++] = data[(*used)++];
		if (r->head_len == 2 && check_start(r) < 0)
			return -1;
		if (r->head_len >= 2 && r->head_len == head_size(r->head))
			return begin_payload(r) < 0 ? -1 : 1;
	}
	return 0;
}

static void unmask(struct ws_reader *r, uint8_t *data, size_t n)
{
	const uint8_t *mask = r->head + r->head_len - 4;

	if (!r->masked)
		return;
	for (size_t i = 0; i < n; i++)
		data[i] ^= mask[r->mask_at++ & 3];
}

static int read_payload(struct ws_reader *r, const uint8_t *data, size_t n)
{
	uint8_t *to;

	if (n == 0)
		return 0;
	if (is_control(r->head[0] & 0xf)) {
		to = r->control + r->control_len;
		r->control_len += n;
	} else {
		to = inis_buf_reserve(&r->message, n);
		if (!to)
			return fail(r, WS_INTERNAL);
		r->message.len += n;
	}
	memcpy(to, data, n);
	unmask(r, to, n);
	r->left -= n;
	return 0;
}

/* The frame is whole. 1: so is what it belongs to. */
static int end_frame(struct ws_reader *r, struct ws_item *item)
{
	uint8_t opcode = r->head[0] & 0xf;
	bool fin = r->head[0] & FIN;

	r->head_len = 0;
	r->in_payload = false;
	if (is_control(opcode)) {
		*item = (struct ws_item){(enum ws_opcode)opcode, r->control, r->control_len};
		return 1;
	}
	if (!fin)
		return 0;
	*item = (struct ws_item){r->opcode, r->message.data, r->message.len};
	r->in_message = false;
	r->handed_out = true;
	return 1;
}

int ws_read(struct ws_reader *r, const uint8_t *data, size_t n, size_t *used, struct ws_item *item)
{
	*used = 0;
	if (r->handed_out) {
		r->handed_out = false;
		inis_buf_reset(&r->message);
		if (r->message.cap > KEEP_MAX)
			inis_buf_free(&r->message);
	}
	for (;;) {
		size_t piece;
		int whole;

		if (!r->in_payload) {
			whole = read_head(r, data, n, used);
			if (whole <= 0)
				return whole;
		}
		piece = n - *used < r->left ? n - *used : (size_t)r->left;
		if (read_payload(r, data + *used, piece) < 0)
			return -1;
		*used += piece;
		if (r->left > 0)
			return 0;
		if (end_frame(r, item))
			return 1;
	}
}

size_t ws_head(uint8_t head[static WS_HEAD_MAX], enum ws_opcode opcode, size_t n, const uint8_t *mask)
{
	size_t bytes = n < 126 ? 0 : n <= 0xffff ? 2 : 8;
	size_t len = 2;

	head[0] = (uint8_t)(FIN | opcode);
	head[1] = (uint8_t)((mask ? MASKED : 0) | (bytes == 0 ? n : bytes == 2 ? 126 : 127));
	for (size_t i = bytes; i > 0; i--)
		head[len++] = (uint8_t)((uint64_t)n >> (8 * (i - 1)));
	if (mask) {
		memcpy(head + len, mask, 4);
		len += 4;
	}
	return len;
}

void ws_put(struct inis_buf *out, enum ws_opcode opcode, const uint8_t *mask, const void *data, size_t n)
{
	uint8_t head[WS_HEAD_MAX];
	const uint8_t *from = data;
	uint8_t *to;

	inis_buf_append(out, head, ws_head(head, opcode, n, mask));
	to = n > 0 ? inis_buf_reserve(out, n) : NULL;
	if (!to)
		return;
	for (size_t i = 0; i < n; i++)
		to[i] = from[i] ^ (mask ? mask[i & 3] : 0);
	out->len += n;
}

void ws_put_close(struct inis_buf *out, enum ws_status status, const uint8_t *mask, const char *reason)
{
	uint8_t payload[WS_CONTROL_MAX] = {(uint8_t)(status >> 8), (uint8_t)status};
	size_t n = strnlen(reason, sizeof(payload) - 2);

	memcpy(payload + 2, reason, n);
	ws_put(out, WS_CLOSE, mask, payload, n + 2);
}

int ws_close_status(const uint8_t *data, size_t n)
{
	int status;

	if (n == 0)
		return 0;
	if (n == 1)
		return -1;
	status = data[0] << 8 | data[1];
	/* Those that may travel: of the standard, but for 1004 to 1006, and of applications. */
	if ((status >= 1000 && status <= 1014 && (status < 1004 || status > 1006)) ||
	    (status >= 3000 && status <= 4999))
		return status;
	return -1;
}
