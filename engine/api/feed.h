/* SPDX-License-Identifier: Apache-2.0
 *
 * feed.h - a streamed request body that goes to an agent call as its input, at the agent's pace.
 */
#ifndef INIS_API_FEED_H
#define INIS_API_FEED_H

#include "api/op.h"

/* A handler's struct begins with one; feed.op.call must be set before the first feed_room(). */
struct feed {
	struct op op; /* first */
	uint64_t received;
	bool begun; /* the body is being read */
	bool paused;
	bool ended; /* the whole body came */
	void (*on_data)(struct feed *f, const uint8_t *data, size_t n); /* may be NULL */
	void (*on_end)(struct feed *f); /* the whole body was handed over */
};

/* For op.closed: gives the call up. */
void feed_closed(struct op *op);
/* From the call's input(): begins or goes on reading the body. */
void feed_room(struct feed *f);

#endif
