/* SPDX-License-Identifier: Apache-2.0
 *
 * server.c - the front's socket, and filling the pool when there is time.
 */
#include "broker/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/wall.h"
#include "os/fd.h"

static void on_refill(struct inis_timer *t)
{
	struct server *s = (struct server *)((char *)t - offsetof(struct server, refill));
	struct inis_error err = INIS_ERROR_INIT;
	int made = s->driver->ops->refill(s->driver, &err);

	if (made < 0)
		inis_log(INIS_LOG_WARN, "no unit for the pool", "reason", err.message, NULL);
	s->refill_by = inis_events_now(s->events) + SERVER_PATIENCE_MS;
	if (made != 0)
		inis_timer_start(s->events, t, made > 0 ? SERVER_REFILL_MS : SERVER_RETRY_MS);
}

void server_want_refill(struct server *s)
{
	inis_ms now = inis_events_now(s->events);
	inis_ms left;

	if (s->ending)
		return;
	if (!s->refill.armed)
		s->refill_by = now + SERVER_PATIENCE_MS;
	left = s->refill_by > now ? s->refill_by - now : 0;
	inis_timer_start(s->events, &s->refill, left < SERVER_QUIET_MS ? left : SERVER_QUIET_MS);
}

/* Not at once: what ended one may end the next. */
static void on_pool_short(void *ctx)
{
	struct server *s = ctx;

	if (!s->refill.armed && !s->ending)
		inis_timer_start(s->events, &s->refill, SERVER_RETRY_MS);
}

static void on_exited(void *ctx, struct inis_unit *u)
{
	struct server *s = ctx;
	struct inis_broker_msg event;

	inis_broker_msg_init(&event, INIS_B_EVENT_EXITED, 0);
	event.unit_id = u->id;
	inis_log(INIS_LOG_INFO, "unit ended by itself", "unit", u->id.s, "session", u->session.s, NULL);
	server_send(s, &event, -1);
}

static void on_templates_changed(void *ctx)
{
	struct server *s = ctx;
	struct inis_broker_msg event;

	inis_broker_msg_init(&event, INIS_B_EVENT_TEMPLATES, 0);
	server_send(s, &event, -1);
}

static void drop_outgoing(struct server *s)
{
	struct outgoing *out = s->queue;

	s->queue = out->next;
	s->queue_length--;
	close_fd(&out->fd);
	free(out);
}

static int send_now(struct server *s, const struct inis_broker_msg *msg, int fd, struct inis_error *err)
{
	return inis_packet_send(s->front, msg, sizeof(*msg), &fd, fd >= 0 ? 1 : 0, err);
}

static void watch_for(struct server *s, bool room)
{
	inis_watch_change(s->events, &s->front_watch, EPOLLIN | (room ? EPOLLOUT : 0), NULL);
}

static void flush(struct server *s)
{
	struct inis_error err = INIS_ERROR_INIT;

	while (s->queue) {
		if (send_now(s, &s->queue->msg, s->queue->fd, &err) < 0) {
			if (err.sys_errno != EAGAIN)
				server_drop_front(s);
			return;
		}
		drop_outgoing(s);
	}
	watch_for(s, false);
}

static void keep(struct server *s, const struct inis_broker_msg *msg, int *fd)
{
	struct outgoing *out = s->queue_length < SERVER_QUEUE_MAX ? calloc(1, sizeof(*out)) : NULL;

	if (!out) {
		/* A reply lost without a trace would hang the front: a new front asks again. */
		inis_log(INIS_LOG_ERROR, "front dropped", "reason", "it does not take its replies", NULL);
		server_drop_front(s);
		return;
	}
	out->msg = *msg;
	out->fd = take_fd(fd);
	if (s->queue)
		s->queue_last->next = out;
	else
		s->queue = out;
	s->queue_last = out;
	s->queue_length++;
	watch_for(s, true);
}

void server_send(struct server *s, const struct inis_broker_msg *msg, int fd)
{
	cleanup_close int owned = fd;
	struct inis_error err = INIS_ERROR_INIT;

	if (s->front < 0)
		return;
	if (!s->queue && send_now(s, msg, owned, &err) == 0)
		return;
	if (s->queue || err.sys_errno == EAGAIN)
		keep(s, msg, &owned);
	else
		server_drop_front(s);
}

static void on_front(struct inis_watch *w, uint32_t events)
{
	struct server *s = (struct server *)((char *)w - offsetof(struct server, front_watch));
	struct inis_error err = INIS_ERROR_INIT;
	struct inis_broker_msg raw;
	struct inis_broker_msg msg;
	size_t fds;
	ssize_t n;

	if (events & EPOLLOUT) {
		flush(s);
		return;
	}
	n = inis_packet_recv(s->front, &raw, sizeof(raw), NULL, 0, &fds, &err);
	if (n < 0 && err.sys_errno == EAGAIN)
		return;
	if (n > 0 && (inis_broker_msg_check(&raw, (size_t)n, &msg, &err) == 0 || !WALL("broker.check"))) {
		server_handle(s, &msg);
		return;
	}
	if (n != 0)
		inis_log(INIS_LOG_ERROR, "front dropped", "reason", err.message, NULL);
	server_drop_front(s);
}

void server_init(struct server *s, struct inis_events *events, struct inis_driver *driver)
{
	struct sysinfo info;

	*s = (struct server){.events = events, .driver = driver, .front = -1, .front_watch = INIS_WATCH_INIT(on_front)};
	s->refill.fire = on_refill;
	if (sysinfo(&info) == 0)
		s->host_mem_mb = ((uint64_t)info.totalram * info.mem_unit) >> 20;
	driver->exited = on_exited;
	driver->pool_short = on_pool_short;
	driver->templates_changed = on_templates_changed;
	driver->ctx = s;
	server_want_refill(s);
}

void server_drop_front(struct server *s)
{
	inis_watch_stop(s->events, &s->front_watch);
	close_fd(&s->front);
	while (s->queue)
		drop_outgoing(s);
}

void server_set_front(struct server *s, int sock)
{
	struct inis_error err = INIS_ERROR_INIT;

	server_drop_front(s);
	s->front = sock;
	s->front_number++;
	if (inis_watch_start(s->events, &s->front_watch, sock, EPOLLIN, &err) < 0) {
		inis_log(INIS_LOG_ERROR, "front dropped", "reason", err.message, NULL);
		server_drop_front(s);
	}
}

void server_end(struct server *s)
{
	s->ending = true;
	server_drop_front(s);
	inis_timer_stop(s->events, &s->refill);
}
