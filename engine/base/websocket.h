/* SPDX-License-Identifier: Apache-2.0
 *
 * websocket.h - frames of RFC 6455, read and written.
 *
 * No extension is known, so a reserved bit is an error. Messages of several
 * frames are handed out whole; control frames between them as they come. Pure.
 */
#ifndef INIS_BASE_WEBSOCKET_H
#define INIS_BASE_WEBSOCKET_H

#include "base/buf.h"

#define WS_HEAD_MAX    14
#define WS_CONTROL_MAX 125

enum ws_opcode {
	WS_CONTINUATION = 0,
	WS_TEXT = 1,
	WS_BINARY = 2,
	WS_CLOSE = 8,
	WS_PING = 9,
	WS_PONG = 10,
};

enum ws_status {
	WS_NORMAL = 1000,
	WS_GOING_AWAY = 1001,
	WS_PROTOCOL_ERROR = 1002,
	WS_UNSUPPORTED = 1003,
	WS_TOO_BIG = 1009,
	WS_INTERNAL = 1011,
	WS_TAKEN_OVER = 4001, /* of the terminals: another client has this one now */
};

struct ws_item {
	enum ws_opcode opcode; /* of the message; never a continuation */
	const uint8_t *data; /* until the next call */
	size_t n;
};

struct ws_reader {
	bool masked; /* what the peer must do: clients mask, servers do not */
	size_t message_max;
	enum ws_status error; /* why ws_read() failed */
	/* the frame that has begun */
	uint8_t head[WS_HEAD_MAX];
	size_t head_len;
	bool in_payload;
	uint64_t left;
	size_t mask_at;
	uint8_t control[WS_CONTROL_MAX];
	size_t control_len;
	/* the message that has begun */
	bool in_message;
	bool handed_out; /* its bytes go with the next call */
	enum ws_opcode opcode;
	struct inis_buf message;
};

void ws_reader_init(struct ws_reader *r, bool masked, size_t message_max);
void ws_reader_free(struct ws_reader *r);

/*
 * Takes bytes in; *used says how many. 1: *item is whole, and there may be more in the rest. 0: all were used. -1: the
 * peer broke the protocol or memory is short, r->error is the status to close with; not to be called again.
 */
int ws_read(struct ws_reader *r, const uint8_t *data, size_t n, size_t *used, struct ws_item *item);

/* The head of a whole message in one frame; mask NULL: not masked. Returns its length. */
size_t ws_head(uint8_t head[static WS_HEAD_MAX], enum ws_opcode opcode, size_t n, const uint8_t *mask);
/* A whole frame. */
void ws_put(struct inis_buf *out, enum ws_opcode opcode, const uint8_t *mask, const void *data, size_t n);
/* A close frame with a status and a short reason. */
void ws_put_close(struct inis_buf *out, enum ws_status status, const uint8_t *mask, const char *reason);

/* The status in the payload of a close frame: 0 when there is none, -1 when it is not a valid payload. */
int ws_close_status(const uint8_t *data, size_t n);

#endif
