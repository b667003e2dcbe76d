/* SPDX-License-Identifier: Apache-2.0
 *
 * link.h - the connection to the client.
 *
 * There is at most one that counts: the newest that said HELLO. What is sent without one is dropped; owners of
 * channels know by gone() and keep what must not be lost.
 */
#ifndef INIS_AGENT_LINK_H
#define INIS_AGENT_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/channel.h"
#include "base/buf.h"
#include "wire/agent_proto.h"

/* Most data in one frame: small enough that other channels get their turn soon. */
#define LINK_CHUNK 32768

/* Takes a connected socket over, also when it fails. */
void link_accept(int sock);

/* Bytes a stream may have unacknowledged. */
uint32_t link_window(void);
/* Whether the client has the INIS_FEATURE_*; true while there is none. */
bool link_knows(uint64_t feature);

void link_send(uint32_t channel, enum inis_frame_type type, const void *payload, size_t n);
/* The bytes of an encoder; a failed one (no memory) breaks the connection, so that the client starts over. */
void link_send_buf(uint32_t channel, enum inis_frame_type type, const struct inis_buf *message);
void link_send_stream(uint32_t channel, enum inis_frame_type type, uint64_t offset, const void *data, size_t n);
void link_send_error(uint32_t channel, const struct inis_error *err);
void link_send_end(uint32_t channel, uint32_t flags);
void link_send_stdin_ack(uint32_t channel, uint64_t taken, bool closed);

/* Lets channels send and writes what is queued; called once after each round of the loop. */
void link_flush(void);

#endif
