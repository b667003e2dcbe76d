/* SPDX-License-Identifier: Apache-2.0
 *
 * model.c - what must hold at every moment of a history.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "simulation.h"

bool may_end(const struct world *w, enum end_reason reason)
{
	switch (reason) {
	case END_CLIENT_DESTROY:
		return w->deleted || w->completed;
	case END_ON_DETACH_DESTROY:
		return w->detached;
	case END_MAX_LIFETIME:
		return w->now >= w->lifetime_at;
	case END_LEASE_EXPIRED:
		return w->now >= w->lease_at;
	case END_PAUSED_TTL:
		return w->ttl_ms != INIS_NEVER && w->now >= w->paused_since + w->ttl_ms;
	case END_ERROR:
		return w->unit_died || w->create_failed || w->create_late;
	default:
		return false;
	}
}

static inis_ms longest(enum machine_state s)
{
	switch (s) {
	case M_CREATING:
		return 120 * SECOND;
	case M_PAUSING:
	case M_RESUMING:
		return 300 * SECOND;
	case M_FAILED:
		return HOUR;
	default:
		return INIS_NEVER;
	}
}

void check(const struct world *w)
{
	const struct machine *m = &w->m;
	bool over = m->state == M_ENDING || m->state == M_ENDED;

	if (w->ended)
		assert_int_equal(m->state, M_ENDED);
	if (m->state == M_ENDED) {
		assert_false(w->exists);
		assert_false(is_pending(w, CREATE));
	}
	/* Over for its users is over: it does not come back, and the reason stays what it was. */
	if (w->reason != END_NONE && !w->ended && over)
		assert_int_equal(m->reason, w->reason);
	if (m->state != M_LIVE && m->state != M_PAUSED && m->state != M_ENDED)
		assert_true(machine_next_tick(m) < INIS_NEVER);
	if (longest(m->state) != INIS_NEVER)
		assert_true(w->now - w->state_since <= longest(m->state) + LATENESS);
	/* One that comes up too late is noticed by the next tick. */
	if (m->state == M_LIVE && w->lifetime_at != INIS_NEVER)
		assert_true(w->now <= w->lifetime_at + LATENESS || w->now <= w->state_since + LATENESS);
	if (m->state < M_FAILED && w->lease_at != INIS_NEVER)
		assert_true(w->now <= w->lease_at + LATENESS || w->now <= w->state_since + LATENESS);
	assert_true(m->lifetime_at == w->lifetime_at);
}

/* What is put right by one comparison is right at the next. */
void check_frozen(struct world *w, bool busy)
{
	bool wrong =
		w->alive && !busy && ((w->m.state == M_LIVE && w->frozen) || (w->m.state == M_PAUSED && !w->frozen));

	w->wrongly_frozen = wrong ? w->wrongly_frozen + 1 : 0;
	/* Each attempt may fail. */
	assert_true(w->wrongly_frozen < 20);
}
