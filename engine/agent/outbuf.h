/* SPDX-License-Identifier: Apache-2.0
 *
 * outbuf.h - the part of an output stream that its reader has not acknowledged.
 *
 *   offset:  0 ........ acked ........ sent ........ end
 *            taken by    on its way     waiting
 *            the client
 *
 * Pure; window = most bytes kept.
 */
#ifndef INIS_AGENT_OUTBUF_H
#define INIS_AGENT_OUTBUF_H

#include "base/buf.h"

struct outbuf {
	struct inis_buf bytes; /* acked … end */
	uint64_t acked;
	uint64_t sent;
};

void outbuf_free(struct outbuf *o);
uint64_t outbuf_end(const struct outbuf *o);
/* How many bytes may be appended now. */
size_t outbuf_room(const struct outbuf *o, size_t window);
/* false when out of memory: nothing was appended. */
bool outbuf_append(struct outbuf *o, const void *data, size_t n);
/* What to send next, at most max bytes and not beyond the window; 0: nothing. */
size_t outbuf_next(const struct outbuf *o, size_t window, size_t max, const uint8_t **data);
void outbuf_mark_sent(struct outbuf *o, size_t n);
/* false when it acknowledges what was not sent. An old acknowledgement is harmless. */
bool outbuf_ack(struct outbuf *o, uint64_t offset);
/* Goes back to what the client has; false when that is no longer, or was never, here. */
bool outbuf_resume(struct outbuf *o, uint64_t have);

#endif
