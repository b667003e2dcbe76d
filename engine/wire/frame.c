/* SPDX-License-Identifier: Apache-2.0
 *
 * frame.c - framing of the agent protocol.
 */
#include "wire/frame.h"

#include "base/pack.h"

ptrdiff_t inis_frame_parse(const void *data, size_t n, struct inis_frame *frame, struct inis_error *err)
{
	struct inis_unpack u;

	if (n < INIS_FRAME_HEADER)
		return 0;
	inis_unpack_init(&u, data, INIS_FRAME_HEADER);
	frame->epoch = inis_unpack_u32(&u);
	frame->channel = inis_unpack_u32(&u);
	frame->type = inis_unpack_u16(&u);
	frame->flags = inis_unpack_u16(&u);
	frame->length = inis_unpack_u32(&u);
	frame->payload = (const uint8_t *)data + INIS_FRAME_HEADER;
	if (frame->length > INIS_FRAME_PAYLOAD_MAX)
		return inis_fail(err, INIS_BAD_GATEWAY, "frame of %u bytes is too long", frame->length);
	if (frame->flags & ~INIS_FRAME_FLAGS)
		return inis_fail(err, INIS_BAD_GATEWAY, "frame with unknown flags 0x%x", frame->flags);
	if (n - INIS_FRAME_HEADER < frame->length)
		return 0;
	return INIS_FRAME_HEADER + (ptrdiff_t)frame->length;
}

static void put_header(struct inis_buf *out, uint32_t epoch, uint32_t channel, uint16_t type, uint16_t flags,
		       size_t length)
{
	inis_pack_u32(out, epoch);
	inis_pack_u32(out, channel);
	inis_pack_u16(out, type);
	inis_pack_u16(out, flags);
	inis_pack_u32(out, (uint32_t)length);
}

void inis_frame_put(struct inis_buf *out, uint32_t epoch, uint32_t channel, uint16_t type, uint16_t flags,
		    const void *payload, size_t n)
{
	if (n > INIS_FRAME_PAYLOAD_MAX) {
		out->failed = true;
		return;
	}
	put_header(out, epoch, channel, type, flags, n);
	inis_buf_append(out, payload, n);
}

void inis_frame_put_message(struct inis_buf *out, uint32_t epoch, uint32_t channel, uint16_t type, const void *message,
			    size_t n)
{
	const uint8_t *at = message;

	if (n > INIS_MESSAGE_MAX) {
		out->failed = true;
		return;
	}
	while (n > INIS_FRAME_PAYLOAD_MAX) {
		inis_frame_put(out, epoch, channel, type, INIS_FRAME_MORE, at, INIS_FRAME_PAYLOAD_MAX);
		at += INIS_FRAME_PAYLOAD_MAX;
		n -= INIS_FRAME_PAYLOAD_MAX;
	}
	inis_frame_put(out, epoch, channel, type, 0, at, n);
}

void inis_frame_put_stream_head(struct inis_buf *out, uint32_t epoch, uint32_t channel, uint16_t type, uint16_t flags,
				uint64_t offset, size_t n)
{
	if (n > INIS_STREAM_DATA_MAX) {
		out->failed = true;
		return;
	}
	put_header(out, epoch, channel, type, flags, n + 8);
	inis_pack_u64(out, offset);
}

void inis_frame_put_stream(struct inis_buf *out, uint32_t epoch, uint32_t channel, uint16_t type, uint16_t flags,
			   uint64_t offset, const void *data, size_t n)
{
	inis_frame_put_stream_head(out, epoch, channel, type, flags, offset, n);
	inis_buf_append(out, data, n);
}
