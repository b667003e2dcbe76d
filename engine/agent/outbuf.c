/* SPDX-License-Identifier: Apache-2.0
 *
 * outbuf.c - the unacknowledged part of an output stream.
 */
#include "agent/outbuf.h"

#define KEEP_MAX 16384 /* an empty buffer larger than this is freed */

void outbuf_free(struct outbuf *o)
{
	inis_buf_free(&o->bytes);
}

uint64_t outbuf_end(const struct outbuf *o)
{
	return o->acked + o->bytes.len;
}

size_t outbuf_room(const struct outbuf *o, size_t window)
{
	return o->bytes.len < window ? window - o->bytes.len : 0;
}

bool outbuf_append(struct outbuf *o, const void *data, size_t n)
{
	inis_buf_append(&o->bytes, data, n);
	if (!inis_buf_failed(&o->bytes))
		return true;
	o->bytes.failed = false;
	return false;
}

size_t outbuf_next(const struct outbuf *o, size_t window, size_t max, const uint8_t **data)
{
	uint64_t limit = o->acked + window;
	uint64_t end = outbuf_end(o) < limit ? outbuf_end(o) : limit;
	size_t n;

	if (o->sent >= end)
		return 0;
	n = (size_t)(end - o->sent);
	*data = o->bytes.data + (o->sent - o->acked);
	return n < max ? n : max;
}

void outbuf_mark_sent(struct outbuf *o, size_t n)
{
	o->sent += n;
}

static void drop_to(struct outbuf *o, uint64_t offset)
{
	inis_buf_consume(&o->bytes, (size_t)(offset - o->acked));
	o->acked = offset;
	if (o->bytes.len == 0 && o->bytes.cap > KEEP_MAX)
		inis_buf_free(&o->bytes);
}

bool outbuf_ack(struct outbuf *o, uint64_t offset)
{
	if (offset > o->sent)
		return false;
	if (offset > o->acked)
		drop_to(o, offset);
	return true;
}

bool outbuf_resume(struct outbuf *o, uint64_t have)
{
	if (have < o->acked || have > outbuf_end(o))
		return false;
	drop_to(o, have);
	o->sent = have;
	return true;
}
