/* SPDX-License-Identifier: Apache-2.0
 *
 * events.c - a small event loop.
 */
#include "os/events.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/cleanup.h"

int inis_events_init(struct inis_events *ev, struct inis_error *err)
{
	*ev = (struct inis_events){.epoll = epoll_create1(EPOLL_CLOEXEC)};
	if (ev->epoll < 0)
		return inis_fail_errno(err, "epoll");
	return 0;
}

void inis_events_free(struct inis_events *ev)
{
	close_fd(&ev->epoll);
}

int inis_watch_start(struct inis_events *ev, struct inis_watch *w, int fd, uint32_t events, struct inis_error *err)
{
	struct epoll_event event = {.events = events, .data.ptr = w};

	if (epoll_ctl(ev->epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		return inis_fail_errno(err, "watch a descriptor");
	w->fd = fd;
	return 0;
}

int inis_watch_change(struct inis_events *ev, struct inis_watch *w, uint32_t events, struct inis_error *err)
{
	struct epoll_event event = {.events = events, .data.ptr = w};

	if (epoll_ctl(ev->epoll, EPOLL_CTL_MOD, w->fd, &event) < 0)
		return inis_fail_errno(err, "watch a descriptor");
	return 0;
}

void inis_watch_stop(struct inis_events *ev, struct inis_watch *w)
{
	if (w->fd >= 0)
		epoll_ctl(ev->epoll, EPOLL_CTL_DEL, w->fd, NULL);
	w->fd = -1;
}

inis_ms inis_events_now(const struct inis_events *ev)
{
	return (ev->held_at ? ev->held_at : inis_now_ms()) - ev->lost;
}

void inis_events_hold(struct inis_events *ev)
{
	if (!ev->held_at)
		ev->held_at = inis_now_ms();
}

void inis_events_release(struct inis_events *ev)
{
	if (ev->held_at)
		ev->lost += inis_now_ms() - ev->held_at;
	ev->held_at = 0;
}

void inis_timer_start(struct inis_events *ev, struct inis_timer *t, inis_ms in)
{
	struct inis_timer **at = &ev->timers;

	inis_timer_stop(ev, t);
	if (__builtin_add_overflow(inis_events_now(ev), in, &t->at))
		t->at = INIS_NEVER;
	while (*at && (*at)->at <= t->at)
		at = &(*at)->next;
	t->next = *at;
	*at = t;
	t->armed = true;
}

void inis_timer_stop(struct inis_events *ev, struct inis_timer *t)
{
	struct inis_timer **at = &ev->timers;

	if (!t->armed)
		return;
	while (*at && *at != t)
		at = &(*at)->next;
	if (*at)
		*at = t->next;
	t->armed = false;
}

static bool fire_due(struct inis_events *ev)
{
	struct inis_timer *t = ev->timers;

	if (!t || t->at > inis_events_now(ev))
		return false;
	inis_timer_stop(ev, t);
	t->fire(t);
	return true;
}

/* Milliseconds, for epoll_wait(). */
static int next_timer_in(const struct inis_events *ev)
{
	const struct inis_timer *t = ev->timers;

	if (!t || t->at == INIS_NEVER)
		return -1;
	if (ev->held_at)
		return t->at > inis_events_now(ev) ? -1 : 0;
	return inis_deadline_poll(t->at + ev->lost);
}

int inis_events_step(struct inis_events *ev, int max_ms, struct inis_error *err)
{
	struct epoll_event event;
	int wait = next_timer_in(ev);
	int n;

	if (max_ms >= 0 && (wait < 0 || wait > max_ms))
		wait = max_ms;
	n = epoll_wait(ev->epoll, &event, 1, wait);
	if (n < 0 && errno != EINTR)
		return inis_fail_errno(err, "wait for events");
	if (n > 0) {
		struct inis_watch *w = event.data.ptr;

		w->ready(w, event.events);
	}
	fire_due(ev);
	return 0;
}

int inis_events_run(struct inis_events *ev, struct inis_error *err)
{
	while (!ev->stop) {
		if (inis_events_step(ev, -1, err) < 0)
			return -1;
	}
	return 0;
}
