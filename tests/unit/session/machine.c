/* SPDX-License-Identifier: Apache-2.0
 *
 * machine.c - the session state machine: its drawn paths, and years of random events.
 *
 * The simulation plays the broker: it knows which units really exist and which are
 * frozen, answers the machine's demands late, twice or not at all, crashes and
 * restarts the server, and at the end becomes a broker that always answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "session/machine.h"

#define RUNS    2000
#define STEPS   200
#define HOUR_MS (3600 * 1000LL)

static struct machine fresh(inis_ms lifetime_at)
{
	struct machine m;

	machine_init(&m, 0, lifetime_at, HOUR_MS);
	return m;
}

static struct machine live(void)
{
	struct machine m = fresh(INIS_NEVER);

	machine_step(&m, E_UNIT_MADE, END_NONE, 1);
	machine_step(&m, E_UNIT_READY, END_NONE, 2);
	return m;
}

static void a_session_comes_up_and_is_stored(void **state)
{
	struct machine m = fresh(INIS_NEVER);
	unsigned actions;

	(void)state;
	assert_int_equal(machine_step(&m, E_UNIT_MADE, END_NONE, 1), 0);
	actions = machine_step(&m, E_UNIT_READY, END_NONE, 2);
	assert_int_equal(m.state, M_LIVE);
	assert_true(actions & A_PERSIST);
	assert_true(actions & A_CHANGED);
}

static void L2_delete_is_legal_in_every_state(void **state)
{
	(void)state;
	for (unsigned s = 0; s < M_STATE_COUNT; s++) {
		struct machine m = fresh(INIS_NEVER);
		unsigned actions;

		machine_restore(&m, 0, (enum machine_state)s, s == M_ENDED ? UNIT_NONE : UNIT_PRESENT, END_NONE);
		actions = machine_step(&m, E_DELETE, END_SHELL_EXIT, 1);
		assert_false(actions & A_REFUSED);
		if (s == M_ENDING || s == M_ENDED)
			continue;
		assert_int_equal(m.state, M_ENDING);
		assert_true(actions & A_DESTROY_UNIT);
		assert_true(machine_deleted(&m));
		machine_step(&m, E_UNIT_DESTROYED, END_NONE, 2);
		assert_int_equal(m.state, M_ENDED);
		assert_int_equal(m.reason, END_SHELL_EXIT);
	}
}

static void a_unit_that_comes_after_delete_is_destroyed(void **state)
{
	struct machine m = fresh(INIS_NEVER);

	(void)state;
	machine_step(&m, E_DELETE, END_CLIENT_DESTROY, 1);
	assert_int_equal(m.state, M_ENDING);
	assert_true(machine_step(&m, E_UNIT_MADE, END_NONE, 2) & A_DESTROY_UNIT);
	assert_int_equal(m.state, M_ENDING);
	machine_step(&m, E_UNIT_DESTROYED, END_NONE, 3);
	assert_int_equal(m.state, M_ENDED);
}

static void L2_a_create_that_hangs_fails_and_fades(void **state)
{
	struct machine m = fresh(INIS_NEVER);

	(void)state;
	machine_step(&m, E_TICK, END_NONE, machine_next_tick(&m));
	assert_int_equal(m.state, M_FAILED);
	assert_true(machine_step(&m, E_UNIT_MADE, END_NONE, machine_next_tick(&m) - 1) & A_DESTROY_UNIT);
	machine_step(&m, E_UNIT_DESTROYED, END_NONE, machine_next_tick(&m) - 1);
	assert_int_equal(m.state, M_FAILED);
	machine_step(&m, E_TICK, END_NONE, machine_next_tick(&m));
	assert_int_equal(m.state, M_ENDED);
	assert_int_equal(m.reason, END_ERROR);
}

static void lifetime_ends_a_live_session(void **state)
{
	struct machine m = fresh(1000);

	(void)state;
	machine_step(&m, E_UNIT_MADE, END_NONE, 1);
	machine_step(&m, E_UNIT_READY, END_NONE, 2);
	assert_int_equal(machine_next_tick(&m), 1000);
	machine_step(&m, E_TICK, END_NONE, 999);
	assert_int_equal(m.state, M_LIVE);
	assert_true(machine_step(&m, E_TICK, END_NONE, 1000) & A_DESTROY_UNIT);
	assert_int_equal(m.reason, END_MAX_LIFETIME);
	assert_false(machine_deleted(&m));
}

static void a_paused_session_past_its_lifetime_never_resumes(void **state)
{
	struct machine m = fresh(1000);

	(void)state;
	machine_step(&m, E_UNIT_MADE, END_NONE, 1);
	machine_step(&m, E_UNIT_READY, END_NONE, 2);
	machine_step(&m, E_PAUSE, END_NONE, 3);
	machine_step(&m, E_PAUSED, END_NONE, 4);
	assert_false(machine_lifetime_expired(&m, 999));
	assert_true(machine_lifetime_expired(&m, 1000));
	assert_true(machine_step(&m, E_RESUME, END_NONE, 1000) & A_REFUSED);
	machine_step(&m, E_TICK, END_NONE, 4 + HOUR_MS);
	assert_int_equal(m.state, M_ENDING);
	assert_int_equal(m.reason, END_PAUSED_TTL);
}

static void a_refused_pause_leaves_the_session_running(void **state)
{
	struct machine m = live();

	(void)state;
	assert_true(machine_step(&m, E_PAUSE, END_NONE, 3) & A_PAUSE_UNIT);
	machine_step(&m, E_PAUSE_REFUSED, END_NONE, 4);
	assert_int_equal(m.state, M_LIVE);
}

static void a_pause_keeps_what_talks_to_the_guest(void **state)
{
	struct machine m = live();

	(void)state;
	assert_false(machine_step(&m, E_PAUSE, END_NONE, 3) & A_DROP_AGENT);
	assert_false(machine_step(&m, E_PAUSED, END_NONE, 4) & A_DROP_AGENT);
	assert_true(machine_step(&m, E_RESUME, END_NONE, 5) & A_RESUME_UNIT);
	assert_false(machine_step(&m, E_RESUMED, END_NONE, 6) & (A_DROP_AGENT | A_DESTROY_UNIT));
	assert_int_equal(m.state, M_LIVE);
}

static void pauses_of_paused_and_resumes_of_live_sessions_change_nothing(void **state)
{
	struct machine m = live();

	(void)state;
	assert_int_equal(machine_step(&m, E_RESUME, END_NONE, 3), A_REFUSED);
	machine_step(&m, E_PAUSE, END_NONE, 3);
	assert_int_equal(machine_step(&m, E_PAUSE, END_NONE, 3), A_REFUSED);
	machine_step(&m, E_PAUSED, END_NONE, 4);
	assert_int_equal(machine_step(&m, E_PAUSE, END_NONE, 5), A_REFUSED);
	assert_int_equal(machine_next_tick(&m), 4 + HOUR_MS);
}

static void the_time_paused_counts_over_a_restart(void **state)
{
	struct machine m = live();

	(void)state;
	machine_restore(&m, 100, M_PAUSED, UNIT_PRESENT, END_NONE);
	machine_step(&m, E_TICK, END_NONE, 100 + HOUR_MS - 1);
	assert_int_equal(m.state, M_PAUSED);
	machine_step(&m, E_TICK, END_NONE, 100 + HOUR_MS);
	assert_int_equal(m.reason, END_PAUSED_TTL);
}

static void S7_pauses_never_stretch_a_lifetime(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 200; seed++) {
		struct machine m = fresh(100000);
		unsigned dice = seed;
		inis_ms now = 2;

		machine_step(&m, E_UNIT_MADE, END_NONE, 1);
		machine_step(&m, E_UNIT_READY, END_NONE, 2);
		while (now < 99000) {
			now += rand_r(&dice) % 1000;
			machine_step(&m, rand_r(&dice) % 2 ? E_PAUSE : E_RESUME, END_NONE, now);
			machine_step(&m, m.state == M_PAUSING ? E_PAUSED : E_RESUMED, END_NONE, now);
			machine_step(&m, E_TICK, END_NONE, now);
			assert_int_equal(m.lifetime_at, 100000);
		}
		machine_step(&m, E_TICK, END_NONE, 100000);
		if (m.state == M_PAUSED)
			assert_true(machine_step(&m, E_RESUME, END_NONE, 100000) & A_REFUSED);
		else
			assert_int_equal(m.reason, END_MAX_LIFETIME);
	}
}

static void a_lease_ends_a_session_in_every_state(void **state)
{
	(void)state;
	for (unsigned s = M_CREATING; s < M_FAILED; s++) {
		struct machine m = fresh(INIS_NEVER);

		machine_restore(&m, 0, (enum machine_state)s, UNIT_PRESENT, END_NONE);
		m.lease_at = 500;
		assert_int_equal(machine_next_tick(&m), 500);
		assert_int_equal(machine_step(&m, E_TICK, END_NONE, 499), 0);
		assert_true(machine_step(&m, E_TICK, END_NONE, 500) & A_DESTROY_UNIT);
		assert_int_equal(m.reason, END_LEASE_EXPIRED);
		assert_false(machine_deleted(&m));
		assert_true(machine_next_tick(&m) > 500);
	}
}

static void L5_a_lost_unit_ends_the_session_with_an_error(void **state)
{
	struct machine m = live();

	(void)state;
	assert_true(machine_step(&m, E_UNIT_LOST, END_NONE, 3) & A_DESTROY_UNIT);
	assert_int_equal(m.reason, END_ERROR);
	machine_step(&m, E_UNIT_DESTROYED, END_NONE, 4);
	assert_int_equal(m.state, M_ENDED);
}

static void names_round_trip(void **state)
{
	(void)state;
	for (unsigned s = 0; s < M_STATE_COUNT; s++) {
		enum machine_state back;

		assert_true(machine_state_parse(machine_state_name((enum machine_state)s), &back));
		assert_int_equal(back, s);
	}
	for (unsigned r = END_CLIENT_DESTROY; r < END_REASON_COUNT; r++) {
		enum end_reason back;

		assert_true(end_reason_parse(end_reason_name((enum end_reason)r), &back));
		assert_int_equal(back, r);
	}
}

/* ---- simulation ---- */

struct world {
	struct machine m;
	struct machine stored; /* what a restart would find */
	inis_ms now;
	unsigned seed;
	bool unit_asked; /* the broker is making one */
	bool unit_exists;
	bool unit_alive;
	bool destroying;
	bool frozen;
	enum { NOTHING, FREEZING, THAWING } changing;
};

static unsigned dice(struct world *w, unsigned sides)
{
	return (unsigned)rand_r(&w->seed) % sides;
}

static void check(const struct world *w)
{
	const struct machine *m = &w->m;

	if (m->state == M_ENDED) {
		assert_false(w->unit_exists);
		assert_false(w->unit_asked);
		assert_int_not_equal(m->reason, END_NONE);
		return;
	}
	/* A way out that needs nobody: a deadline. LIVE and PAUSED without limits end by DELETE. */
	if (m->state != M_LIVE && m->state != M_PAUSED)
		assert_true(machine_next_tick(m) < INIS_NEVER);
	if (m->state == M_LIVE)
		assert_true(m->unit == UNIT_PRESENT);
	if (w->unit_exists)
		assert_true(m->unit != UNIT_NONE);
	/* Where nothing is on its way, the unit is what the session is. */
	if (w->unit_alive && w->changing == NOTHING && (m->state == M_LIVE || m->state == M_PAUSED))
		assert_int_equal(w->frozen, m->state == M_PAUSED);
}

static void feed(struct world *w, enum machine_event event, enum end_reason reason)
{
	unsigned actions = machine_step(&w->m, event, reason, w->now);

	if (actions & A_REFUSED)
		assert_int_equal(actions, A_REFUSED);
	if (actions & A_DESTROY_UNIT)
		w->destroying = true;
	if (actions & A_RESUME_UNIT && !w->unit_exists)
		w->unit_asked = true;
	else if (actions & A_RESUME_UNIT)
		w->changing = THAWING;
	if (actions & A_PAUSE_UNIT)
		w->changing = FREEZING;
	if (actions & A_PERSIST)
		w->stored = w->m;
	check(w);
}

static void broker_makes(struct world *w)
{
	if (!w->unit_asked)
		return;
	w->unit_asked = false;
	if (dice(w, 4) == 0) {
		feed(w, w->m.state == M_RESUMING ? E_RESUME_REFUSED : E_UNIT_REFUSED, END_NONE);
		return;
	}
	w->unit_exists = w->unit_alive = true;
	w->frozen = false;
	feed(w, w->m.state == M_RESUMING ? E_RESUMED : E_UNIT_MADE, END_NONE);
}

static void broker_destroys(struct world *w)
{
	if (!w->destroying)
		return;
	w->destroying = false;
	if (dice(w, 4) == 0)
		return; /* it failed, or the answer was lost */
	w->unit_exists = w->unit_alive = false;
	feed(w, E_UNIT_DESTROYED, END_NONE);
}

/* Freezes or thaws, or says that it could not. */
static void broker_changes(struct world *w)
{
	bool freeze = w->changing == FREEZING;

	if (w->changing == NOTHING || !w->unit_exists)
		return;
	w->changing = NOTHING;
	if (dice(w, 4) == 0) {
		feed(w, freeze ? E_PAUSE_REFUSED : E_RESUME_REFUSED, END_NONE);
		return;
	}
	w->frozen = freeze;
	feed(w, freeze ? E_PAUSED : E_RESUMED, END_NONE);
}

static void unit_dies(struct world *w)
{
	if (!w->unit_exists || !w->unit_alive)
		return;
	w->unit_alive = false;
	feed(w, E_UNIT_LOST, END_NONE);
}

/* The server starts again from what it has stored and what the broker lists. */
static void restart(struct world *w)
{
	enum machine_state s = w->stored.state;
	struct machine m = w->stored;

	/* Requests of a server that is gone still end at the broker. */
	if (w->unit_asked && dice(w, 2))
		w->unit_exists = w->unit_alive = true;
	w->unit_asked = w->destroying = false;
	if (w->changing != NOTHING && dice(w, 2))
		w->frozen = w->changing == FREEZING;
	w->changing = NOTHING;
	if (s != M_CREATING && s != M_FAILED && s != M_ENDING && s != M_ENDED)
		s = w->unit_alive && w->frozen ? M_PAUSED : M_LIVE;
	machine_restore(&m, w->now, s, w->unit_exists ? UNIT_PRESENT : UNIT_NONE, m.reason);
	w->m = m;
	if (s == M_ENDED)
		return;
	if (s == M_ENDING || s == M_FAILED)
		feed(w, w->unit_exists ? E_UNIT_MADE : E_UNIT_DESTROYED, END_NONE);
	else if (!w->unit_alive)
		feed(w, E_UNIT_LOST, END_NONE);
}

static void random_event(struct world *w)
{
	static const enum machine_event asked[] = {E_PAUSE,        E_RESUME,    E_PAUSE,          E_RESUME,
						   E_FORK,         E_FORKED,    E_RESTORE,        E_RESTORED,
						   E_RESTORE_LOST, E_COMPLETED, E_DETACH_DESTROY, E_TICK};

	/* The broker's own limit for a freeze is far below the machine's. */
	w->now += dice(w, 3) == 0 && w->changing == NOTHING ? dice(w, HOUR_MS) : dice(w, 2000);
	switch (dice(w, 13)) {
	case 0:
	case 1:
		broker_makes(w);
		return;
	case 7:
	case 8:
		broker_changes(w);
		return;
	case 2:
		broker_destroys(w);
		return;
	case 3:
		if (dice(w, 4) == 0)
			unit_dies(w);
		return;
	case 4:
		if (dice(w, 8) == 0)
			restart(w);
		return;
	case 5:
		if (dice(w, 16) == 0)
			feed(w, E_DELETE, END_CLIENT_DESTROY);
		return;
	case 6:
		if (w->unit_alive)
			feed(w, E_UNIT_READY, END_NONE);
		return;
	default:
		feed(w, asked[dice(w, sizeof(asked) / sizeof(asked[0]))], END_NONE);
	}
}

/* With a broker that answers, DELETE leads to the end, and nothing is left. */
static void finish(struct world *w)
{
	feed(w, E_DELETE, END_CLIENT_DESTROY);
	for (int i = 0; i < 100 && w->m.state != M_ENDED; i++) {
		w->now += 31 * 1000;
		broker_makes(w);
		if (w->m.state == M_ENDED)
			return;
		broker_destroys(w);
		if (w->m.state != M_ENDED)
			feed(w, E_TICK, END_NONE);
	}
	assert_int_equal(w->m.state, M_ENDED);
	assert_false(w->unit_exists);
}

static void no_sequence_of_events_traps_a_session_or_leaks_its_unit(void **state)
{
	(void)state;
	for (unsigned run = 1; run <= RUNS; run++) {
		struct world w = {.seed = run, .unit_asked = true};

		machine_init(&w.m, 0, dice(&w, 2) ? INIS_NEVER : (inis_ms)dice(&w, 24 * HOUR_MS / 1000) * 1000,
			     HOUR_MS);
		if (dice(&w, 4) == 0)
			w.m.lease_at = (inis_ms)dice(&w, 24 * HOUR_MS / 1000) * 1000;
		w.stored = w.m;
		for (int i = 0; i < STEPS && w.m.state != M_ENDED; i++)
			random_event(&w);
		if (w.m.state != M_ENDED)
			finish(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_comes_up_and_is_stored),
		cmocka_unit_test(L2_delete_is_legal_in_every_state),
		cmocka_unit_test(a_unit_that_comes_after_delete_is_destroyed),
		cmocka_unit_test(L2_a_create_that_hangs_fails_and_fades),
		cmocka_unit_test(lifetime_ends_a_live_session),
		cmocka_unit_test(a_paused_session_past_its_lifetime_never_resumes),
		cmocka_unit_test(a_refused_pause_leaves_the_session_running),
		cmocka_unit_test(a_pause_keeps_what_talks_to_the_guest),
		cmocka_unit_test(pauses_of_paused_and_resumes_of_live_sessions_change_nothing),
		cmocka_unit_test(the_time_paused_counts_over_a_restart),
		cmocka_unit_test(S7_pauses_never_stretch_a_lifetime),
		cmocka_unit_test(a_lease_ends_a_session_in_every_state),
		cmocka_unit_test(L5_a_lost_unit_ends_the_session_with_an_error),
		cmocka_unit_test(names_round_trip),
		cmocka_unit_test(no_sequence_of_events_traps_a_session_or_leaks_its_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
