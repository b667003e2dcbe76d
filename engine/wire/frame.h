/* SPDX-License-Identifier: Apache-2.0
 *
 * frame.h - framing of the agent protocol: one byte stream, many channels.
 *
 * Header, 16 bytes little endian: epoch u32, channel u32, type u16, flags u16,
 * length u32; then length bytes of payload, at most INIS_FRAME_PAYLOAD_MAX.
 * A message longer than one frame is split over frames of the same channel and
 * type, all but the last with INIS_FRAME_MORE. Stream data is never split so.
 *
 * Pure: no descriptors, no allocation beyond the caller's buffers.
 */
#ifndef INIS_WIRE_FRAME_H
#define INIS_WIRE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#define INIS_FRAME_HEADER      16
#define INIS_FRAME_PAYLOAD_MAX 65536
/* Longest message put together from frames with INIS_FRAME_MORE. */
#define INIS_MESSAGE_MAX       (4 * 1024 * 1024)

#define INIS_FRAME_MORE  0x0001 /* the message goes on in the next frame of this channel */
#define INIS_FRAME_EOF   0x0002 /* on INIS_F_STDIN: nothing follows */
#define INIS_FRAME_FLAGS (INIS_FRAME_MORE | INIS_FRAME_EOF)

struct inis_frame {
	uint32_t epoch;
	uint32_t channel;
	uint16_t type; /* enum inis_frame_type */
	uint16_t flags;
	uint32_t length;
	const uint8_t *payload; /* into the caller's bytes */
};

/*
 * Looks for one frame at the start of data. Returns the bytes it takes (header
 * included), 0 when more bytes are needed, -1 when the peer broke the protocol
 * (then the connection must be closed).
 */
ptrdiff_t inis_frame_parse(const void *data, size_t n, struct inis_frame *frame, struct inis_error *err);

/* Appends one frame; n must be <= INIS_FRAME_PAYLOAD_MAX. */
void inis_frame_put(struct inis_buf *out, uint32_t epoch, uint32_t channel, uint16_t type, uint16_t flags,
		    const void *payload, size_t n);

/* Appends a message of any length up to INIS_MESSAGE_MAX as one or more frames. */
void inis_frame_put_message(struct inis_buf *out, uint32_t epoch, uint32_t channel, uint16_t type, const void *message,
			    size_t n);

/* Appends a stream frame: u64 offset + data; n must be <= INIS_STREAM_DATA_MAX. */
#define INIS_STREAM_DATA_MAX (INIS_FRAME_PAYLOAD_MAX - 8)
/* Only what comes before the data. */
void inis_frame_put_stream_head(struct inis_buf *out, uint32_t epoch, uint32_t channel, uint16_t type, uint16_t flags,
				uint64_t offset, size_t n);
void inis_frame_put_stream(struct inis_buf *out, uint32_t epoch, uint32_t channel, uint16_t type, uint16_t flags,
			   uint64_t offset, const void *data, size_t n);

#endif
