/* SPDX-License-Identifier: Apache-2.0
 *
 * events.h - a small event loop over epoll, for programs of one thread.
 *
 * Watches and timers live in their owner's structs. Each may be removed at any time, also from within a callback,
 * its own included: events are taken from the kernel one by one.
 */
#ifndef INIS_OS_EVENTS_H
#define INIS_OS_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"

struct inis_watch {
	int fd; /* -1: not watched; owned by the caller */
	void (*ready)(struct inis_watch *w, uint32_t events); /* EPOLL* */
};

struct inis_timer {
	inis_ms at; /* of inis_events_now() */
	void (*fire)(struct inis_timer *t);
	struct inis_timer *next;
	bool armed;
};

struct inis_events {
	int epoll;
	bool stop;
	struct inis_timer *timers; /* earliest first */
	inis_ms held_at; /* when its time stopped; 0: it runs */
	inis_ms lost; /* by which its time is behind CLOCK_BOOTTIME */
};

#define INIS_WATCH_INIT(ready_)             \
	{                                   \
		.fd = -1, .ready = (ready_) \
	}

int inis_events_init(struct inis_events *ev, struct inis_error *err);
void inis_events_free(struct inis_events *ev);

int inis_watch_start(struct inis_events *ev, struct inis_watch *w, int fd, uint32_t events, struct inis_error *err);
int inis_watch_change(struct inis_events *ev, struct inis_watch *w, uint32_t events, struct inis_error *err);
/* Harmless when not watched. Must be called before the descriptor is closed. */
void inis_watch_stop(struct inis_events *ev, struct inis_watch *w);

/* Fires once, `in` milliseconds from now; starting an armed timer moves it. */
void inis_timer_start(struct inis_events *ev, struct inis_timer *t, inis_ms in);
void inis_timer_stop(struct inis_events *ev, struct inis_timer *t);

/*
 * The loop's own time, in which timers run. hold stops it and release lets it go on from there, so that no timer
 * fires for time in which the program was not allowed to run. Events are handled all the while.
 */
inis_ms inis_events_now(const struct inis_events *ev);
void inis_events_hold(struct inis_events *ev);
void inis_events_release(struct inis_events *ev);

/* Waits for one event or the next timer and handles it. Returns early after at most max_ms (-1: no bound). */
int inis_events_step(struct inis_events *ev, int max_ms, struct inis_error *err);

/* Until ev->stop. */
int inis_events_run(struct inis_events *ev, struct inis_error *err);

#endif
