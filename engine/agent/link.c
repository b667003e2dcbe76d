/* SPDX-License-Identifier: Apache-2.0
 *
 * link.c - the connection to the client.
 *
 * Reading: frames are handled in order, at most a buffer full a turn. Writing: answers are queued at once; data of
 * streams only while the queue is short, taking turns between channels, so that one busy stream delays no answer by
 * more than QUEUE_HIGH bytes. A client that does not read is not read from either.
 */
#include "agent/link.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "agent/agent.h"
#include "agent/message.h"
#include "agent/pause.h"
#include "agent/reconnect.h"
#include "agent/request.h"
#include "base/cleanup.h"
#include "base/pack.h"

#define READ_MIN    8192
#define READ_LARGE  (2 * (INIS_FRAME_HEADER + INIS_FRAME_PAYLOAD_MAX)) /* in the middle of a long input */
#define QUEUE_HIGH  (128 * 1024) /* no stream data beyond it */
#define QUEUE_MAX   (1024 * 1024) /* no reading beyond it */
#define KEEP_MAX    (64 * 1024) /* an empty buffer larger than this is freed when the link has been quiet */
#define QUIET_MS    1000
#define STRANGE_MAX 8 /* connections that have not said HELLO */

enum stage { WANT_HELLO, WANT_RECONNECT, OPEN };

struct link {
	struct list node;
	struct inis_watch watch;
	uint32_t events; /* watched for */
	enum stage stage;
	uint32_t epoch;
	uint32_t window;
	uint64_t features;
	struct inis_buf in;
	struct inis_buf out;
	struct inis_timer tidy; /* runs while a buffer is large */
	bool moved; /* since it was started */
	struct messages partial;
};

static struct list links = LIST_INIT(links);
static struct link *current;

static void link_free(struct link *l)
{
	int fd = l->watch.fd;

	inis_watch_stop(&agent.events, &l->watch);
	inis_timer_stop(&agent.events, &l->tidy);
	close_fd(&fd);
	list_remove(&l->node);
	inis_buf_free(&l->in);
	inis_buf_free(&l->out);
	messages_free(&l->partial);
	if (l == current) {
		current = NULL;
		pause_cancel();
		channels_lost();
		reconnect_await();
	}
	free(l);
}

static void watch_for(struct link *l, uint32_t events)
{
	if (l->events != events && inis_watch_change(&agent.events, &l->watch, events, NULL) == 0)
		l->events = events;
}

static int hello(struct link *l, const struct inis_frame *f)
{
	struct inis_hello theirs, ours = {INIS_AGENT_VERSION, INIS_AGENT_WINDOW,
					  INIS_FEATURE_EXEC | INIS_FEATURE_PROCS | INIS_FEATURE_FILES |
						  INIS_FEATURE_PTYS | INIS_FEATURE_PAUSE | INIS_FEATURE_USAGE};
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	if (f->type != INIS_F_HELLO || f->channel != 0 || inis_hello_unpack(f->payload, f->length, &theirs) < 0 ||
	    theirs.version != INIS_AGENT_VERSION || theirs.window == 0)
		return -1;
	if (current)
		link_free(current);
	pause_cancel();
	current = l;
	l->epoch = f->epoch;
	l->window = theirs.window < INIS_AGENT_WINDOW ? theirs.window : INIS_AGENT_WINDOW;
	l->features = theirs.features;
	l->stage = WANT_RECONNECT;
	inis_hello_pack(&b, &ours);
	link_send_buf(0, INIS_F_HELLO, &b);
	return 0;
}

static int on_reconnect(struct link *l, const void *data, size_t n)
{
	if (l->stage != WANT_RECONNECT || reconnect(data, n) < 0)
		return -1;
	l->stage = OPEN;
	return 0;
}

static int on_connection_frame(struct link *l, const struct inis_frame *f)
{
	const struct inis_buf *whole;

	switch (f->type) {
	case INIS_F_PING:
		if (f->length > 64)
			return -1;
		link_send(0, INIS_F_PONG, f->payload, f->length);
		return 0;
	case INIS_F_PONG:
		return 0;
	case INIS_F_QUIESCE:
		pause_begin();
		link_send(0, INIS_F_QUIET, NULL, 0);
		return 0;
	case INIS_F_RESUMED:
		pause_end();
		return 0;
	case INIS_F_RECONNECT:
		if (messages_add(&l->partial, f, &whole) < 0)
			return -1;
		if (!whole)
			return 0;
		if (on_reconnect(l, whole->data, whole->len) < 0)
			return -1;
		messages_done(&l->partial, f);
		return 0;
	default:
		return -1;
	}
}

static void on_channel_frame(struct channel *ch, const struct inis_frame *f)
{
	struct inis_error err = INIS_ERROR_INIT;
	enum channel_end how = CHANNEL_RELEASED;

	if (f->type != INIS_F_RELEASE) {
		if (ch->ops->frame(ch, f, &err) == 0)
			return;
		link_send_error(f->channel, &err);
		how = CHANNEL_FAILED;
	}
	channel_close(ch);
	ch->ops->gone(ch, how);
}

static int on_request_frame(struct link *l, const struct inis_frame *f)
{
	const struct inis_buf *whole;

	/* Late frames of a channel that has ended. */
	if (!request_known(f->type))
		return 0;
	if (messages_add(&l->partial, f, &whole) < 0)
		return -1;
	if (whole) {
		request_handle(f->channel, f->type, whole->data, whole->len);
		messages_done(&l->partial, f);
	}
	return 0;
}

/* -1: the client broke the protocol. */
static int on_frame(struct link *l, const struct inis_frame *f)
{
	struct channel *ch;

	if (l->stage == WANT_HELLO)
		return hello(l, f);
	if (f->epoch != l->epoch)
		return 0;
	if (f->channel == 0)
		return on_connection_frame(l, f);
	if (l->stage != OPEN)
		return -1;
	ch = channel_find(f->channel);
	if (!ch)
		return on_request_frame(l, f);
	if (f->flags & INIS_FRAME_MORE)
		return -1;
	on_channel_frame(ch, f);
	return 0;
}

static int handle_frames(struct link *l)
{
	size_t at = 0;

	for (;;) {
		struct inis_frame f;
		ptrdiff_t n = inis_frame_parse(l->in.data + at, l->in.len - at, &f, NULL);

		if (n < 0 || (n > 0 && on_frame(l, &f) < 0))
			return -1;
		if (n == 0)
			break;
		at += (size_t)n;
	}
	inis_buf_consume(&l->in, at);
	return 0;
}

static void shrink(struct inis_buf *b)
{
	if (b->len == 0 && b->cap > KEEP_MAX)
		inis_buf_free(b);
}

/* Not between the pieces of a long transfer: memory given back and taken again costs more than the bytes in it. */
static void tidy_later(struct link *l)
{
	l->moved = true;
	if (!l->tidy.armed && (l->in.cap > KEEP_MAX || l->out.cap > KEEP_MAX))
		inis_timer_start(&agent.events, &l->tidy, QUIET_MS);
}

static void on_tidy(struct inis_timer *t)
{
	struct link *l = container_of(t, struct link, tidy);

	if (!l->moved) {
		shrink(&l->in);
		shrink(&l->out);
	}
	tidy_later(l);
	l->moved = false;
}

/* Reads once: what fits, at least the rest of the frame that has begun. */
static int receive(struct link *l)
{
	size_t want = l->in.len > 0 ? READ_LARGE : READ_MIN;
	uint8_t *to = inis_buf_reserve(&l->in, want);
	ssize_t n = to ? recv(l->watch.fd, to, l->in.cap - l->in.len, MSG_DONTWAIT) : -1;

	if (n == 0 || !to || (n < 0 && errno != EAGAIN && errno != EINTR))
		return -1;
	if (n < 0)
		return 0;
	l->in.len += (size_t)n;
	tidy_later(l);
	return handle_frames(l);
}

static void on_ready(struct inis_watch *w, uint32_t events)
{
	struct link *l = container_of(w, struct link, watch);

	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && receive(l) < 0)
		link_free(l);
	/* Writing is link_flush()'s. */
}

static void drop_strangers(void)
{
	unsigned n = 0;

	for (struct list *at = links.prev, *prev; at != &links; at = prev) {
		struct link *l = container_of(at, struct link, node);

		prev = at->prev;
		if (l->stage == WANT_HELLO && ++n > STRANGE_MAX)
			link_free(l);
	}
}

void link_accept(int sock)
{
	cleanup_close int fd = sock;
	struct link *l = calloc(1, sizeof(*l));

	if (!l)
		return;
	l->watch = (struct inis_watch)INIS_WATCH_INIT(on_ready);
	l->events = EPOLLIN;
	l->tidy.fire = on_tidy;
	messages_init(&l->partial);
	if (inis_watch_start(&agent.events, &l->watch, fd, l->events, NULL) < 0) {
		free(l);
		return;
	}
	take_fd(&fd);
	list_append(&links, &l->node);
	drop_strangers();
}

uint32_t link_window(void)
{
	return current ? current->window : INIS_AGENT_WINDOW;
}

bool link_knows(uint64_t feature)
{
	return !current || (current->features & feature);
}

void link_send(uint32_t channel, enum inis_frame_type type, const void *payload, size_t n)
{
	if (current)
		inis_frame_put_message(&current->out, current->epoch, channel, (uint16_t)type, payload, n);
}

void link_send_buf(uint32_t channel, enum inis_frame_type type, const struct inis_buf *message)
{
	if (current && message->failed)
		current->out.failed = true;
	link_send(channel, type, message->data, message->len);
}

void link_send_stream(uint32_t channel, enum inis_frame_type type, uint64_t offset, const void *data, size_t n)
{
	if (current)
		inis_frame_put_stream(&current->out, current->epoch, channel, (uint16_t)type, 0, offset, data, n);
}

void link_send_error(uint32_t channel, const struct inis_error *err)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_wire_error_pack(&b, err);
	link_send_buf(channel, INIS_F_ERROR, &b);
}

void link_send_end(uint32_t channel, uint32_t flags)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_pack_u32(&b, flags);
	link_send_buf(channel, INIS_F_END, &b);
}

void link_send_stdin_ack(uint32_t channel, uint64_t taken, bool closed)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_pack_u64(&b, taken);
	inis_pack_u8(&b, closed);
	link_send_buf(channel, INIS_F_STDIN_ACK, &b);
}

static int write_queue(struct link *l)
{
	ssize_t n;

	if (l->out.failed)
		return -1;
	if (l->out.len == 0)
		return 0;
	n = send(l->watch.fd, l->out.data, l->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? 0 : -1;
	inis_buf_consume(&l->out, (size_t)n);
	return 0;
}

static void pump(struct link *l)
{
	struct channel *ch;

	while (l->out.len < QUEUE_HIGH && (ch = channel_next_ready()) != NULL) {
		if (ch->ops->pump(ch))
			channel_ready(ch);
	}
}

void link_flush(void)
{
	struct link *l = current;
	uint32_t events = 0;

	if (!l)
		return;
	pump(l);
	if (l->out.len > 0)
		tidy_later(l);
	if (write_queue(l) < 0) {
		link_free(l);
		return;
	}
	if (l->out.len < QUEUE_MAX)
		events |= EPOLLIN;
	if (l->out.len > 0)
		events |= EPOLLOUT;
	watch_for(l, events);
}
