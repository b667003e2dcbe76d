/* SPDX-License-Identifier: Apache-2.0
 *
 * broker_client.c - seqpackets to and from the broker on the loop.
 *
 * What the socket does not take at once waits in a queue of packets. Replies are
 * matched by request id; few are open at a time, so a list is enough.
 */
#include "session/broker_client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/metrics.h"

struct pending {
	TAILQ_ENTRY(pending) link;
	uint64_t request;
	int64_t begun_us;
	broker_reply reply;
	void *ctx;
	bool sent;
	struct inis_broker_msg msg;
};
TAILQ_HEAD(pending_list, pending);

struct broker {
	uv_poll_t poll;
	int fd;
	struct broker_events events;
	void *ctx;
	uint64_t last_request;
	struct pending_list pending; /* oldest first */
	bool lost;
};

static void on_closed(uv_handle_t *handle)
{
	struct broker *b = handle->data;

	close_fd(&b->fd);
	free(b);
}

static void fail_all(struct broker *b)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct pending *p;

	inis_fail(&err, INIS_UNAVAILABLE, "the sandbox broker is restarting");
	while ((p = TAILQ_FIRST(&b->pending))) {
		int fd = -1;

		TAILQ_REMOVE(&b->pending, p, link);
		p->reply(p->ctx, NULL, &fd, &err);
		free(p);
	}
}

static void lose(struct broker *b)
{
	if (b->lost)
		return;
	b->lost = true;
	uv_poll_stop(&b->poll);
	fail_all(b);
	b->events.on_lost(b->ctx);
}

static void on_event(uv_poll_t *poll, int status, int events);

static void watch(struct broker *b, bool writable)
{
	uv_poll_start(&b->poll, writable ? UV_READABLE | UV_WRITABLE : UV_READABLE, on_event);
}

/* Sends what waits, in order, until the socket is full. */
static void flush(struct broker *b)
{
	struct pending *p;

	TAILQ_FOREACH (p, &b->pending, link) {
		if (p->sent)
			continue;
		if (send(b->fd, &p->msg, sizeof(p->msg), MSG_NOSIGNAL) < 0) {
			if (errno == EAGAIN || errno == EINTR)
				watch(b, true);
			else
				lose(b);
			return;
		}
		p->sent = true;
	}
	watch(b, false);
}

static void count_reply(const struct pending *p, bool ok)
{
	uint16_t verb = p->msg.verb;

	_Static_assert(INIS_B_TEMPLATES < INIS_METRICS_VERBS, "each verb of a request has a place");
	if (verb >= INIS_METRICS_VERBS)
		return;
	inis_observe(&inis_metrics.broker_verbs[verb], inis_now_us() - p->begun_us);
	if (!ok)
		inis_count(&inis_metrics.broker_failures[verb]);
}

static void deliver(struct broker *b, const struct inis_broker_msg *m, int *fd)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct pending *p;

	if (m->verb == INIS_B_EVENT_EXITED) {
		b->events.on_exited(b->ctx, &m->unit_id);
		return;
	}
	if (m->verb == INIS_B_EVENT_TEMPLATES) {
		b->events.on_templates(b->ctx);
		return;
	}
	TAILQ_FOREACH (p, &b->pending, link) {
		if (p->request == m->request)
			break;
	}
	if (!p || !(m->flags & INIS_B_REPLY))
		return;
	if (!(m->flags & INIS_B_MORE)) {
		TAILQ_REMOVE(&b->pending, p, link);
		count_reply(p, m->code == INIS_OK);
	}
	if (m->code == INIS_OK) {
		p->reply(p->ctx, m, fd, NULL);
	} else {
		inis_fail(&err, inis_code_from_wire(m->code), "%s", m->message);
		p->reply(p->ctx, NULL, fd, &err);
	}
	if (!(m->flags & INIS_B_MORE))
		free(p);
}

static int take_descriptor(struct msghdr *h)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(h);
	int fd = -1;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* false: nothing more to read now. */
static bool receive_one(struct broker *b)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct inis_broker_msg raw, m;
	struct iovec iov = {&raw, sizeof(raw)};
	struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes};
	cleanup_close int fd = -1;
	ssize_t n;

	h.msg_controllen = sizeof(control.bytes);
	n = recvmsg(b->fd, &h, MSG_CMSG_CLOEXEC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		lose(b);
		return false;
	}
	fd = take_descriptor(&h);
	if (inis_broker_msg_check(&raw, (size_t)n, &m, NULL) < 0) {
		lose(b);
		return false;
	}
	deliver(b, &m, &fd);
	return !b->lost;
}

static void on_event(uv_poll_t *poll, int status, int events)
{
	struct broker *b = poll->data;

	if (status < 0) {
		lose(b);
		return;
	}
	/* A bounded number, so that a busy broker does not starve the clients. */
	for (int i = 0; (events & UV_READABLE) && i < 64; i++) {
		if (!receive_one(b))
			break;
	}
	if (!b->lost && (events & UV_WRITABLE))
		flush(b);
}

struct broker *broker_open(uv_loop_t *loop, int fd, const struct broker_events *events, void *ctx,
			   struct inis_error *err)
{
	cleanup_close int own = fd;
	struct broker *b = calloc(1, sizeof(*b));

	if (!b || fcntl(own, F_SETFL, O_NONBLOCK) < 0 || uv_poll_init(loop, &b->poll, own) < 0) {
		free(b);
		inis_fail_errno(err, "broker socket");
		return NULL;
	}
	b->fd = take_fd(&own);
	b->events = *events;
	b->ctx = ctx;
	b->poll.data = b;
	TAILQ_INIT(&b->pending);
	watch(b, false);
	return b;
}

void broker_close(struct broker *b)
{
	struct pending *p;

	if (!b)
		return;
	b->lost = true;
	while ((p = TAILQ_FIRST(&b->pending))) {
		TAILQ_REMOVE(&b->pending, p, link);
		free(p);
	}
	uv_close((uv_handle_t *)&b->poll, on_closed);
}

int broker_send(struct broker *b, struct inis_broker_msg *m, broker_reply reply, void *ctx, struct inis_error *err)
{
	struct pending *p;

	if (b->lost)
		return inis_fail(err, INIS_UNAVAILABLE, "the sandbox broker is restarting");
	p = malloc(sizeof(*p));
	if (!p)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	m->request = ++b->last_request;
	*p = (struct pending){.request = m->request, .begun_us = inis_now_us(), .reply = reply, .ctx = ctx, .msg = *m};
	TAILQ_INSERT_TAIL(&b->pending, p, link);
	flush(b);
	return 0;
}
