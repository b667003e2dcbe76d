/* SPDX-License-Identifier: Apache-2.0
 *
 * pty.h - what the files pty*.c share: one client of a terminal.
 *
 * pty.c owns its life and what the client sends, pty_output.c what it is sent.
 */
#ifndef INIS_API_PTY_H
#define INIS_API_PTY_H

#include "api/audit.h"
#include "api/command.h"
#include "api/op.h"
#include "http/websocket.h"
#include "wire/tape.h"

#define PTY_ARGS_MAX   64
#define PTY_OWN_ID_LEN 24 /* longer than chance can repeat */

enum pty_frame {
	PTY_DATA = 1,
	PTY_RESIZE = 2,
	PTY_SIGNAL = 3,
	PTY_EXIT = 5,
	PTY_ERROR = 6,
	PTY_SIZE = 7, /* only to who gave a name */
};

struct pty {
	struct op op; /* first; rq is NULL once the socket has ended */
	struct command command;
	struct audit audit;
	struct inis_str argv[PTY_ARGS_MAX];
	json_t *env; /* what the request adds */
	int64_t rows;
	int64_t cols;
	char id[PTY_OWN_ID_LEN + 1];
	const char *name; /* NULL: it has none and ends with its client */
	struct inis_tape_reader tape; /* named: its output is one */
	uint64_t live; /* offset where the replay ends */
	uint16_t told_rows; /* the size that the client was told last */
	uint16_t told_cols;
	struct websocket *ws; /* while a client is attached */
	bool attached; /* a client was, or still is */
	bool lost; /* it has left without having been told of the end */
};

/* pty_output.c; all but the first two need p->ws. */

/* INFO of a named terminal. */
void pty_tape_begins(void *ctx, const struct agent_result *r);
/* Bytes of the output, or of the tape. -1: they are no tape. */
int pty_output(struct pty *p, uint64_t offset, const uint8_t *data, size_t n);
void pty_send(struct pty *p, enum pty_frame type, const void *data, size_t n);
/* The socket ends and with it the request. */
void pty_goodbye(struct pty *p, enum ws_status status, const char *reason);
void pty_error(struct pty *p, const char *text, enum ws_status status);

#endif
