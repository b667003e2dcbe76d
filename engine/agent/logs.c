/* SPDX-License-Identifier: Apache-2.0
 *
 * logs.c - reading and following the log of a named process.
 *
 * A follower is a pair of positions in the spools. Replay and live are the same thing to it, so nothing is doubled or
 * missed between them. One that is slower than the spool is long is moved on, and told with INIS_END_TRUNCATED.
 */
#include <stdlib.h>

#include "agent/agent.h"
#include "agent/channel.h"
#include "agent/link.h"
#include "agent/process.h"
#include "agent/request.h"
#include "base/cleanup.h"

struct position {
	uint64_t at; /* next byte to send */
	uint64_t acked;
	uint64_t until; /* when not following */
};

struct follower {
	struct list node;
	struct channel channel;
	struct process *process;
	bool follow;
	bool truncated;
	struct position out;
	struct position err;
};

static void follower_free(struct follower *f)
{
	channel_close(&f->channel);
	list_remove(&f->node);
	free(f);
}

static void finish(struct follower *f)
{
	link_send_end(f->channel.id, f->truncated ? INIS_END_TRUNCATED : 0);
	follower_free(f);
}

void process_followers_wake(struct process *p)
{
	list_each (at, &p->followers)
		channel_ready(&container_of(at, struct follower, node)->channel);
}

void process_followers_drop(struct process *p)
{
	list_each (at, &p->followers) {
		struct follower *f = container_of(at, struct follower, node);

		f->truncated = true;
		finish(f);
	}
}

static uint64_t limit(const struct follower *f, const struct position *pos, const struct spool *s)
{
	return f->follow ? s->end : pos->until;
}

/* What may be sent now. */
static size_t allowance(const struct follower *f, const struct position *pos, const struct spool *s)
{
	uint64_t end = limit(f, pos, s);
	uint64_t window = pos->acked + link_window();

	if (end > window)
		end = window;
	if (pos->at >= end)
		return 0;
	return end - pos->at > LINK_CHUNK ? LINK_CHUNK : (size_t)(end - pos->at);
}

static bool send_some(struct follower *f, struct position *pos, struct spool *s, enum inis_frame_type type)
{
	size_t max = allowance(f, pos, s);
	uint64_t offset = pos->at;
	size_t n;

	if (max == 0)
		return false;
	n = spool_read(s, &offset, agent_scratch, max);
	if (offset != pos->at) {
		/*
		 * The client cannot acknowledge what it never got, and counts what came before a gap as taken. A
		 * window that is full never gets here, so at most two windows are on their way.
		 */
		f->truncated = true;
		pos->acked = offset;
		pos->at = offset;
	}
	if (n > 0)
		link_send_stream(f->channel.id, type, offset, agent_scratch, n);
	pos->at += n;
	return true;
}

static bool follower_pump(struct channel *ch)
{
	struct follower *f = container_of(ch, struct follower, channel);
	struct process *p = f->process;
	bool sent = send_some(f, &f->out, &p->out.spool, INIS_F_OUT);

	sent |= send_some(f, &f->err, &p->err.spool, INIS_F_ERR);
	if (sent)
		return true;
	if (f->out.at >= limit(f, &f->out, &p->out.spool) && f->err.at >= limit(f, &f->err, &p->err.spool) &&
	    (!f->follow || process_drained(p)))
		finish(f);
	return false;
}

static void take_ack(struct position *pos, uint64_t offset)
{
	if (offset > pos->acked && offset <= pos->at)
		pos->acked = offset;
}

static int follower_frame(struct channel *ch, const struct inis_frame *frame, struct inis_error *err)
{
	struct follower *f = container_of(ch, struct follower, channel);
	struct inis_unpack u;
	uint64_t out, errs;

	inis_unpack_init(&u, frame->payload, frame->length);
	out = inis_unpack_u64(&u);
	errs = inis_unpack_u64(&u);
	if (frame->type != INIS_F_ACK || !inis_unpack_ok(&u))
		return request_malformed(err);
	take_ack(&f->out, out);
	take_ack(&f->err, errs);
	channel_ready(ch);
	return 0;
}

static void follower_gone(struct channel *ch, enum channel_end how)
{
	(void)how;
	follower_free(container_of(ch, struct follower, channel));
}

static const struct channel_ops follower_ops = {follower_frame, follower_pump, follower_gone};

/* Where to begin; whether that leaves out something asked for. */
static bool place(struct position *pos, const struct spool *s, uint64_t from, uint64_t tail_max)
{
	uint64_t first = spool_first(s);

	if (tail_max && s->end - first > tail_max)
		first = s->end - tail_max;
	/* A place that the log has not reached yet is waited for. */
	pos->at = from > first ? from : first;
	pos->acked = pos->at;
	pos->until = s->end;
	return from < first;
}

static void send_logs_info(const struct follower *f)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_pack_u64(&b, f->out.at);
	inis_pack_u64(&b, f->err.at);
	inis_pack_u8(&b, f->truncated);
	link_send_buf(f->channel.id, INIS_F_LOGS_INFO, &b);
}

int process_logs_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	struct inis_logs m;
	struct process *p;
	struct follower *f;

	if (inis_logs_unpack(data, n, &m) < 0)
		return request_malformed(err);
	p = process_find(m.name, err);
	if (!p)
		return -1;
	f = calloc(1, sizeof(*f));
	if (!f)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	channel_init(&f->channel);
	f->process = p;
	f->follow = m.follow;
	f->truncated = place(&f->out, &p->out.spool, m.out_from, m.tail_max);
	f->truncated |= place(&f->err, &p->err.spool, m.err_from, m.tail_max);
	list_append(&p->followers, &f->node);
	if (channel_open(&f->channel, channel, &follower_ops, err) < 0) {
		follower_free(f);
		return -1;
	}
	send_logs_info(f);
	channel_ready(&f->channel);
	return 0;
}
