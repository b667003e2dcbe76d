/* SPDX-License-Identifier: Apache-2.0
 *
 * server.c - the server of a history: carries out what the machine decides, crashes and starts anew.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "simulation.h"

bool answered(const struct world *w, const struct pending *p)
{
	return w->up && p->epoch == w->epoch;
}

void tick_later(struct world *w)
{
	inis_ms at = machine_next_tick(&w->m);

	drop(w, TICK);
	if (w->up && at != INIS_NEVER)
		later(w, TICK, (at > w->now ? at - w->now : 0) + up_to(w, LATENESS - 1));
}

void persist(struct world *w)
{
	/* A create that failed before anybody was told of it never happened. */
	bool over = w->m.state == M_FAILED || w->m.state == M_ENDING || w->m.state == M_ENDED;
	struct pending *p;

	if (over && !w->on_disk && !is_pending(w, STORED) && !w->promised)
		return;
	p = later(w, STORED, up_to(w, 50));
	/* One writer: what comes later is written later. */
	for (unsigned i = 0; i + 1 < w->count; i++) {
		if (w->pending[i].what == STORED && w->pending[i].at > p->at)
			p->at = w->pending[i].at;
	}
	p->doc = w->m;
	p->paused_at = w->paused_at;
}

/* Once in a while longer than anybody waits. */
static inis_ms broker_time(struct world *w)
{
	return dice(w, 16) == 0 ? up_to(w, 10 * MINUTE) : up_to(w, 10 * SECOND);
}

unsigned feed(struct world *w, enum machine_event event, enum end_reason reason)
{
	enum machine_state before = w->m.state;
	unsigned actions = machine_step(&w->m, event, reason, w->now);

	if (loud)
		printf("%12" PRId64 " event %d: %s -> %s, actions %x\n", w->now, event, machine_state_name(before),
		       machine_state_name(w->m.state), actions);
	if (actions & A_REFUSED) {
		assert_int_equal(actions, A_REFUSED);
		assert_int_equal(before, w->m.state);
		return actions;
	}
	if (w->m.state != before)
		w->state_since = w->now;
	if (before == M_CREATING && w->m.state == M_FAILED)
		w->create_late = true;
	if ((w->m.state == M_ENDING || w->m.state == M_ENDED) && w->reason == END_NONE) {
		assert_true(may_end(w, w->m.reason));
		w->reason = w->m.reason;
	}
	if (actions & A_DESTROY_UNIT)
		later(w, DESTROY, up_to(w, 2 * SECOND));
	if (actions & A_PAUSE_UNIT)
		later(w, FREEZE, broker_time(w));
	if (actions & A_RESUME_UNIT)
		later(w, THAW, broker_time(w));
	if (actions & A_PERSIST)
		persist(w);
	check(w);
	tick_later(w);
	return actions;
}

/* What the registry does with a session that it finds at its start. */
static void adopt(struct world *w)
{
	enum machine_state s = w->stored.state;
	inis_ms since = w->now;

	w->m = w->stored;
	if (s != M_CREATING && s != M_FAILED && s != M_ENDING && s != M_ENDED)
		s = w->exists && w->frozen ? M_PAUSED : M_LIVE;
	w->paused_at = w->stored_paused_at;
	if (s == M_PAUSED)
		since = w->paused_at = w->paused_at ? w->paused_at : w->now;
	if (s == M_PAUSED)
		w->paused_since = w->paused_at;
	/* Whole again: nobody could renew it meanwhile. */
	w->m.lease_at = w->lease_at = w->lease_ms == INIS_NEVER ? INIS_NEVER : w->now + w->lease_ms;
	machine_restore(&w->m, since, s, w->exists ? UNIT_PRESENT : UNIT_NONE, w->stored.reason);
	w->state_since = w->now;
	if (s == M_ENDED)
		return;
	if (s == M_ENDING || s == M_FAILED)
		feed(w, w->exists ? E_UNIT_MADE : E_UNIT_DESTROYED, END_NONE);
	else if (!w->exists || !w->alive)
		feed(w, E_UNIT_LOST, END_NONE);
	else if (s == M_CREATING)
		feed(w, E_UNIT_READY, END_NONE);
	tick_later(w);
}

void start(struct world *w)
{
	w->up = true;
	w->epoch++;
	/* Half-made units are undone by the broker; those nobody stored are strays and destroyed. */
	drop(w, CREATE);
	if (!w->on_disk) {
		assert_false(w->promised);
		w->exists = w->alive = false;
		w->m.state = M_ENDED;
		w->ended = true;
		return;
	}
	/* An end that nobody stored was promised to nobody. */
	w->reason = w->stored.reason;
	adopt(w);
	later(w, COMPARE, COMPARE_EVERY);
	check(w);
}

void crash(struct world *w)
{
	unsigned kind = dice(w, 3);

	if (!w->up)
		return;
	if (loud)
		printf("%12" PRId64 " crash %u\n", w->now, kind);
	w->up = false;
	/* What was on its way to the disk may have got there, in order. */
	drop(w, TICK);
	drop(w, COMPARE);
	for (unsigned i = 0; i < w->count;) {
		bool gone = w->pending[i].what == STORED && w->pending[i].at > w->now;

		/* A broker that dies, or a machine, does nothing more; a front's requests go on without it. */
		gone |= kind > 0 && w->pending[i].what <= THAW;
		if (gone)
			w->pending[i] = w->pending[--w->count];
		else
			i++;
	}
	if (kind == 2) {
		w->unit_died |= w->exists;
		w->exists = w->alive = w->frozen = false;
	}
	later(w, START, dice(w, 4) == 0 ? up_to(w, 30 * DAY) : up_to(w, 5 * SECOND));
}
