/* SPDX-License-Identifier: Apache-2.0
 *
 * input.h - bytes of the client on their way into something: a command's stdin.
 *
 * A byte counts as taken when the pipe took it, so that the client feels a reader that does not read.
 */
#ifndef INIS_AGENT_INPUT_H
#define INIS_AGENT_INPUT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "os/events.h"
#include "wire/frame.h"

struct input {
	struct inis_buf pending;
	uint64_t taken;
	bool eof; /* nothing follows pending */
};

/* Splits a STDIN frame: *data and *n are what is new at offset `expected`; fails on a gap. */
int input_split(const struct inis_frame *f, uint64_t expected, const uint8_t **data, size_t *n, struct inis_error *err);

/* Takes a STDIN frame in; fails when the client sends beyond the window or after the end. */
int input_add(struct input *in, const struct inis_frame *f, size_t window, struct inis_error *err);

/* Writes what the pipe takes; *moved says whether it took any. -1: nobody reads it any more. */
int input_push(struct input *in, int pipe, bool *moved);

static inline bool input_finished(const struct input *in)
{
	return in->eof && in->pending.len == 0;
}

/* The writing end of a pipe. */
struct inpipe {
	struct inis_watch watch;
	int fd; /* -1: closed */
	bool wanted;
	void (*ready)(struct inpipe *p, bool broken); /* room, or nobody reads it any more */
};

/* Takes the descriptor over. */
void inpipe_open(struct inpipe *p, int fd, void (*ready)(struct inpipe *p, bool broken));
/* Whether there is something to write: ready() is called when there is room. */
void inpipe_want(struct inpipe *p, bool wanted);
void inpipe_close(struct inpipe *p);

#endif
