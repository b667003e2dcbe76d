/* SPDX-License-Identifier: Apache-2.0
 *
 * pty_owner.c - the client of a named terminal: what it is shown, what it types, and who comes after it.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/link.h"
#include "agent/pty.h"
#include "agent/request.h"

void owner_free(struct owner *o)
{
	channel_close(&o->channel);
	inis_buf_free(&o->input.pending);
	free(o);
}

/* The terminal goes on without it. */
static void leave(struct owner *o)
{
	struct pty *p = o->pty;
	bool drained = pty_drained(p);

	p->owner = NULL;
	inpipe_want(&p->in, false);
	owner_free(o);
	if (drained)
		pty_settle(p);
	else
		outpipe_resume(&p->out);
}

static void lose(struct owner *o)
{
	struct inis_error err = INIS_ERROR_INIT;

	inis_fail(&err, INIS_CONFLICT, "another client has taken terminal \"%s\" over", o->pty->name);
	if (o->channel.id)
		link_send_error(o->channel.id, &err);
	o->pty->owner = NULL;
	inpipe_want(&o->pty->in, false);
	owner_free(o);
}

/* ---- to the client ---- */

static void send_info(const struct owner *o)
{
	cleanup_buf struct inis_buf modes = INIS_BUF_INIT(INIS_PTY_MODES_MAX);
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_pty_info m = o->info;

	modes_write(&o->pty->ring.modes, &modes);
	m.modes = (struct inis_str){(const char *)modes.data, modes.len};
	inis_pty_info_pack(&b, &m);
	link_send_buf(o->channel.id, INIS_F_PTY_INFO, &b);
}

static void send_exited(struct owner *o)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_exited m = {.out_total = o->pty->ring.end};

	task_exited(&o->pty->task, &m);
	inis_exited_pack(&b, &m);
	inis_usage_pack(&b, &m);
	link_send_buf(o->channel.id, INIS_F_EXITED, &b);
	o->exited_sent = true;
}

/* The ring has forgotten what it was to be sent: it resized more often than it read. */
static void drop(struct owner *o)
{
	struct inis_error err = INIS_ERROR_INIT;

	inis_fail(&err, INIS_UNAVAILABLE, "the client of terminal \"%s\" reads too slowly", o->pty->name);
	link_send_error(o->channel.id, &err);
	leave(o);
}

static bool owner_pump(struct channel *ch)
{
	struct owner *o = container_of(ch, struct owner, channel);
	const struct ring *ring = &o->pty->ring;
	uint64_t window = o->acked + link_window();
	const uint8_t *data;
	size_t n;

	if (o->sent < ring->first) {
		drop(o);
		return false;
	}
	n = o->sent < window ? (size_t)(window - o->sent) : 0;
	n = ring_read(ring, o->sent, n < LINK_CHUNK ? n : LINK_CHUNK, &data);
	if (n > 0) {
		link_send_stream(ch->id, INIS_F_OUT, o->sent, data, n);
		o->sent += n;
		return true;
	}
	if (!o->exited_sent && pty_drained(o->pty) && o->sent == ring->end)
		send_exited(o);
	return false;
}

void owner_wake(struct pty *p)
{
	if (p->owner)
		channel_ready(&p->owner->channel);
}

size_t owner_room(const struct pty *p)
{
	uint64_t waiting = p->owner ? p->ring.end - p->owner->acked : 0;

	if (!p->owner)
		return AGENT_SCRATCH;
	return waiting < link_window() ? (size_t)(link_window() - waiting) : 0;
}

/* ---- from the client ---- */

void owner_push(struct pty *p)
{
	struct owner *o = p->owner;
	bool moved;

	if (!o || p->in.fd < 0)
		return;
	if (input_push(&o->input, p->in.fd, &moved) < 0)
		inpipe_close(&p->in);
	inpipe_want(&p->in, o->input.pending.len > 0);
	if ((moved || p->in.fd < 0) && o->channel.id)
		link_send_stdin_ack(o->channel.id, o->input.taken, p->in.fd < 0);
}

static int on_stdin(struct owner *o, const struct inis_frame *f, struct inis_error *err)
{
	/* The program has ended: what was on its way is dropped. */
	if (o->pty->in.fd < 0)
		return 0;
	if (input_add(&o->input, f, INIS_AGENT_WINDOW, err) < 0)
		return -1;
	owner_push(o->pty);
	return 0;
}

static int on_ack(struct owner *o, const struct inis_frame *f, struct inis_error *err)
{
	struct inis_unpack u;
	uint64_t out;

	inis_unpack_init(&u, f->payload, f->length);
	out = inis_unpack_u64(&u);
	inis_unpack_u64(&u);
	if (!inis_unpack_ok(&u) || out > o->sent)
		return request_malformed(err);
	if (out > o->acked)
		o->acked = out;
	channel_ready(&o->channel);
	outpipe_resume(&o->pty->out);
	return 0;
}

static int on_resize(struct owner *o, const struct inis_frame *f, struct inis_error *err)
{
	uint16_t rows, cols;

	if (terminal_read_size(f, &rows, &cols) < 0 || rows == 0 || cols == 0)
		return request_malformed(err);
	pty_resize(o->pty, rows, cols);
	return 0;
}

static int owner_frame(struct channel *ch, const struct inis_frame *f, struct inis_error *err)
{
	struct owner *o = container_of(ch, struct owner, channel);

	switch (f->type) {
	case INIS_F_STDIN:
		return on_stdin(o, f, err);
	case INIS_F_ACK:
		return on_ack(o, f, err);
	case INIS_F_PTY_RESIZE:
		return on_resize(o, f, err);
	case INIS_F_PTY_SIGNAL:
		return terminal_signal(&o->pty->terminal, &o->pty->task, f, err);
	default:
		return request_malformed(err);
	}
}

static void owner_gone(struct channel *ch, enum channel_end how)
{
	if (how != CHANNEL_LOST)
		leave(container_of(ch, struct owner, channel));
}

static const struct channel_ops owner_ops = {owner_frame, owner_pump, owner_gone};

/* ---- coming ---- */

struct owner *owner_new(uint32_t channel, const char *id, struct inis_error *err)
{
	struct owner *o = calloc(1, sizeof(*o));

	if (!o) {
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		return NULL;
	}
	strcpy(o->id, id);
	channel_init(&o->channel);
	if (channel_open(&o->channel, channel, &owner_ops, err) < 0) {
		free(o);
		return NULL;
	}
	return o;
}

static void send_started(const struct owner *o)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_pack_u32(&b, (uint32_t)o->pty->task.pid);
	inis_pack_u64(&b, o->pty->task.started_wall);
	link_send_buf(o->channel.id, INIS_F_STARTED, &b);
}

void owner_take(struct owner *o, struct pty *p, uint8_t flags)
{
	const struct ring *ring = &p->ring;

	if (p->owner)
		lose(p->owner);
	p->owner = o;
	o->pty = p;
	o->info = (struct inis_pty_info){
		.first = ring->first, .live = ring->end, .rows = ring->rows, .cols = ring->cols, .flags = flags};
	if (ring->first > 0)
		o->info.flags |= INIS_PTY_TRUNCATED;
	o->sent = o->acked = ring->first;
	send_started(o);
	send_info(o);
	channel_ready(&o->channel);
}

/* ---- coming back ---- */

static struct owner *find(const char *id)
{
	list_each (at, &ptys) {
		struct owner *o = container_of(at, struct pty, node)->owner;

		if (o && strcmp(o->id, id) == 0)
			return o;
	}
	return NULL;
}

enum inis_resume_state pty_resume(const struct inis_reconnect *r)
{
	struct owner *o = find(r->id);
	/* It may not have got as far as being told where the tape begins. */
	uint64_t have = o && r->out_have == 0 ? o->info.first : r->out_have;

	if (!o || o->channel.id || r->channel == 0 || channel_find(r->channel))
		return INIS_RESUME_UNKNOWN;
	if (have < o->acked || have > o->sent || have < o->pty->ring.first)
		return INIS_RESUME_GAP;
	if (channel_open(&o->channel, r->channel, &owner_ops, NULL) < 0)
		return INIS_RESUME_UNKNOWN;
	o->sent = o->acked = have;
	o->exited_sent = false;
	return INIS_RESUME_GOES_ON;
}

void pty_go_on(const struct inis_reconnect *r)
{
	struct owner *o = find(r->id);

	if (!o)
		return;
	send_info(o);
	link_send_stdin_ack(o->channel.id, o->input.taken, o->pty->in.fd < 0);
	channel_ready(&o->channel);
	outpipe_resume(&o->pty->out);
}

void ptys_forget_unattached(void)
{
	list_each (at, &ptys) {
		struct owner *o = container_of(at, struct pty, node)->owner;

		if (o && o->channel.id == 0)
			leave(o);
	}
}
