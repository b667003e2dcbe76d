/* SPDX-License-Identifier: Apache-2.0
 *
 * channel.h - what goes on between one request and its end.
 *
 * A channel lives inside its owner (an exec, a transfer, a follower). It is open while its number stands for it on
 * the current connection.
 */
#ifndef INIS_AGENT_CHANNEL_H
#define INIS_AGENT_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/list.h"
#include "base/error.h"
#include "wire/frame.h"

struct channel;

enum channel_end {
	CHANNEL_RELEASED, /* the client is done with it */
	CHANNEL_FAILED, /* frame() failed; the client was told */
	CHANNEL_LOST, /* the connection is gone */
};

struct channel_ops {
	/* A frame of the client, other than RELEASE. -1: ERROR is sent and the channel ends. */
	int (*frame)(struct channel *ch, const struct inis_frame *f, struct inis_error *err);
	/* Sends at most one frame of data; true: call again when there is room. */
	bool (*pump)(struct channel *ch);
	/* The channel was closed from outside; the owner may free itself. */
	void (*gone)(struct channel *ch, enum channel_end how);
};

struct channel {
	uint32_t id; /* 0: not open */
	const struct channel_ops *ops;
	struct list bucket;
	struct list ready; /* waiting for its turn to send */
};

void channel_init(struct channel *ch);

/* Fails when too many are open. */
int channel_open(struct channel *ch, uint32_t id, const struct channel_ops *ops, struct inis_error *err);
/* Harmless when not open. gone() is not called. */
void channel_close(struct channel *ch);
struct channel *channel_find(uint32_t id);

/* It has something to send: pump() will be called. */
void channel_ready(struct channel *ch);
struct channel *channel_next_ready(void);

/* Closes all, as lost. */
void channels_lost(void);

#endif
