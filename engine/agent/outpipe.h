/* SPDX-License-Identifier: Apache-2.0
 *
 * outpipe.h - the reading end of a command's stdout or stderr.
 *
 * When the command has ended, what is in the pipe at that moment belongs to it and nothing later: a background child
 * may hold the pipe for ever. The descriptor is never closed under such a child; what it still writes is thrown away.
 */
#ifndef INIS_AGENT_OUTPIPE_H
#define INIS_AGENT_OUTPIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "os/events.h"

struct outpipe;

struct outpipe_ops {
	size_t (*room)(struct outpipe *p); /* bytes the owner takes now; 0: outpipe_resume() will follow */
	void (*data)(struct outpipe *p, const void *data, size_t n);
	void (*done)(struct outpipe *p); /* nothing more; last call, the owner may go away */
};

struct outpipe {
	struct inis_watch watch;
	int fd; /* -1: done */
	bool terminal;
	bool finishing;
	size_t left; /* while finishing: bytes that still belong to the command */
	const struct outpipe_ops *ops;
};

/* Takes the descriptor over. */
void outpipe_open(struct outpipe *p, int fd, const struct outpipe_ops *ops);
/* The reading side is a terminal's master: emptied when the command has ended, then closed. */
void outpipe_open_terminal(struct outpipe *p, int fd, const struct outpipe_ops *ops);
/* The owner has room again. */
void outpipe_resume(struct outpipe *p);
/* The command has ended: done() follows, now or when the rest was read. */
void outpipe_finish(struct outpipe *p);
/* The owner does not want the rest; done() is not called. */
void outpipe_abandon(struct outpipe *p);

#endif
