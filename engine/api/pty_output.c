/* SPDX-License-Identifier: Apache-2.0
 *
 * pty_output.c - what the client of a terminal is sent.
 */
#include <string.h>

#include "api/pty.h"

/* Flags of PTY_SIZE. */
enum { SIZE_BEGIN = 1, SIZE_TRUNCATED = 2, SIZE_LIVE = 4, SIZE_STARTED = 8 };

void pty_send(struct pty *p, enum pty_frame type, const void *data, size_t n)
{
	uint8_t head = (uint8_t)type;

	if (!websocket_send(p->ws, &head, 1, data, n) && p->op.call)
		agent_call_hold(p->op.call);
}

void pty_goodbye(struct pty *p, enum ws_status status, const char *reason)
{
	struct websocket *ws = p->ws;

	p->ws = NULL;
	p->op.rq = NULL;
	websocket_close(ws, status, reason);
}

void pty_error(struct pty *p, const char *text, enum ws_status status)
{
	pty_send(p, PTY_ERROR, text, strlen(text));
	pty_goodbye(p, status, "");
}

/* ---- the tape of a named terminal ---- */

static void send_size(struct pty *p, uint16_t rows, uint16_t cols, unsigned flags)
{
	const uint8_t size[] = {(uint8_t)(rows >> 8), (uint8_t)rows, (uint8_t)(cols >> 8), (uint8_t)cols,
				(uint8_t)flags};

	p->told_rows = rows;
	p->told_cols = cols;
	pty_send(p, PTY_SIZE, size, sizeof(size));
}

void pty_tape_begins(void *ctx, const struct agent_result *r)
{
	const struct inis_pty_info *tape = &r->tape;
	struct pty *p = ctx;
	unsigned flags = SIZE_BEGIN | (tape->live == tape->first ? SIZE_LIVE : 0) |
			 (tape->flags & INIS_PTY_TRUNCATED ? SIZE_TRUNCATED : 0) |
			 (tape->flags & INIS_PTY_STARTED ? SIZE_STARTED : 0);

	p->live = tape->live;
	if (!p->ws)
		return;
	send_size(p, tape->rows, tape->cols, flags);
	if (tape->modes.len > 0)
		pty_send(p, PTY_DATA, tape->modes.s, tape->modes.len);
}

static int send_records(struct pty *p, const uint8_t *data, size_t n)
{
	while (n > 0) {
		struct inis_tape_item item;
		size_t used = 0;
		int got = inis_tape_read(&p->tape, data, n, &used, &item);

		if (got <= 0)
			return got;
		if (item.type == INIS_TAPE_OUTPUT)
			pty_send(p, PTY_DATA, item.data, item.n);
		else
			send_size(p, item.rows, item.cols, 0);
		data += used;
		n -= used;
	}
	return 0;
}

int pty_output(struct pty *p, uint64_t offset, const uint8_t *data, size_t n)
{
	size_t replayed = offset < p->live && p->live - offset <= n ? (size_t)(p->live - offset) : 0;

	if (!p->name) {
		pty_send(p, PTY_DATA, data, n);
		return 0;
	}
	if (send_records(p, data, replayed) < 0)
		return -1;
	if (replayed > 0)
		send_size(p, p->told_rows, p->told_cols, SIZE_LIVE);
	return send_records(p, data + replayed, n - replayed);
}
