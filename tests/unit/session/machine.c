/* SPDX-License-Identifier: Apache-2.0
 *
 * machine.c - the session state machine: its drawn paths. simulation.c has the rest of the world.
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
