/* SPDX-License-Identifier: Apache-2.0
 *
 * message.h - messages put together from frames.
 */
#ifndef INIS_AGENT_MESSAGE_H
#define INIS_AGENT_MESSAGE_H

#include "agent/list.h"
#include "base/buf.h"
#include "wire/frame.h"

/* Messages of one connection that have begun and not ended, of different channels. */
struct messages {
	struct list list;
	unsigned count;
	struct inis_buf whole; /* the one handed out last, when it was a single frame: borrowed */
};

#define MESSAGES_MAX 8

void messages_init(struct messages *m);
void messages_free(struct messages *m);

/*
 * Takes a frame in. *whole is the message when the frame completes it, else NULL; it stays valid until
 * messages_done(), which must follow. -1 when the client sends too much or no memory is left.
 */
int messages_add(struct messages *m, const struct inis_frame *f, const struct inis_buf **whole);
void messages_done(struct messages *m, const struct inis_frame *f);

#endif
