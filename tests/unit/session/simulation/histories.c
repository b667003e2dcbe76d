/* SPDX-License-Identifier: Apache-2.0
 *
 * histories.c - sessions lived through from create to end; simulation.h tells how.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "simulation.h"

#define HISTORIES      300000
#define HISTORIES_LONG 3000000
#define STEPS_MAX      600

static uint64_t seed;

/* ---- the broker and the kernel ---- */

static void end_create(struct world *w, const struct pending *p)
{
	if (dice(w, 8) == 0) {
		w->create_failed = true;
		if (answered(w, p))
			feed(w, E_UNIT_REFUSED, END_NONE);
		return;
	}
	w->exists = w->alive = true;
	if (!answered(w, p))
		return;
	feed(w, E_UNIT_MADE, END_NONE);
	if (w->m.state == M_CREATING && dice(w, 8))
		feed(w, E_UNIT_READY, END_NONE);
}

static void end_destroy(struct world *w, const struct pending *p)
{
	if (dice(w, 8) == 0)
		return; /* it failed: asked for again when the machine's time is over */
	w->exists = w->alive = w->frozen = false;
	if (answered(w, p))
		feed(w, E_UNIT_DESTROYED, END_NONE);
	else
		/* The next server may know of no other reason: nobody had been told that the end began. */
		w->unit_died = true;
}

static void end_change(struct world *w, const struct pending *p)
{
	bool freeze = p->what == FREEZE;
	bool done = w->exists && dice(w, 8);

	if (done)
		w->frozen = freeze;
	if (!answered(w, p))
		return;
	if (freeze && w->m.state == M_PAUSING) {
		if (done)
			w->paused_at = w->paused_since = w->now;
		feed(w, done ? E_PAUSED : E_PAUSE_REFUSED, END_NONE);
	} else if (!freeze && w->m.state == M_RESUMING) {
		if (done)
			w->paused_at = 0;
		feed(w, done ? E_RESUMED : E_RESUME_REFUSED, END_NONE);
	}
}

static void kill_unit(struct world *w)
{
	if (!w->exists || !w->alive)
		return;
	w->alive = false;
	w->unit_died = true;
	if (w->up && w->m.unit == UNIT_PRESENT)
		feed(w, E_UNIT_LOST, END_NONE);
}

static void compare(struct world *w)
{
	bool busy = is_pending(w, FREEZE) || is_pending(w, THAW);

	if (!w->up)
		return;
	if (w->m.unit == UNIT_PRESENT && (!w->exists || !w->alive) && w->m.state != M_ENDED)
		feed(w, E_UNIT_LOST, END_NONE);
	else if (w->m.state == M_LIVE && w->exists && w->frozen && !busy)
		later(w, THAW, up_to(w, SECOND));
	else if (w->m.state == M_PAUSED && w->alive && !w->frozen && !busy)
		later(w, FREEZE, up_to(w, SECOND));
	check_frozen(w, busy);
	later(w, COMPARE, COMPARE_EVERY);
}

/* ---- the clients ---- */

/* The loss of a last terminal ends a session once; what comes after has nothing to end. */
static void detach(struct world *w)
{
	w->detached = true;
	feed(w, E_DETACH_DESTROY, END_NONE);
	assert_true(w->m.state == M_CREATING || w->m.state == M_FAILED || w->m.state >= M_ENDING);
	assert_false(feed(w, E_DETACH_DESTROY, END_NONE) & (A_DESTROY_UNIT | A_CHANGED));
}

static void on_client(struct world *w)
{
	if (w->up && w->on_disk) {
		switch (dice(w, 48)) {
		case 0:
			w->deleted = true;
			feed(w, E_DELETE, END_CLIENT_DESTROY);
			break;
		case 1:
			w->completed = true;
			feed(w, E_COMPLETED, END_NONE);
			break;
		case 2:
			detach(w);
			break;
		case 3 ... 14:
			feed(w, E_PAUSE, END_NONE);
			break;
		case 15 ... 26:
			feed(w, E_RESUME, END_NONE);
			break;
		default:
			if (w->lease_ms != INIS_NEVER)
				w->m.lease_at = w->lease_at = w->now + w->lease_ms;
			tick_later(w);
		}
	}
	later(w, CLIENT, dice(w, 3) ? up_to(w, MINUTE) : up_to(w, 10 * DAY));
}

/* ---- histories ---- */

static void on_stored(struct world *w, const struct pending *p)
{
	w->stored = p->doc;
	w->stored_paused_at = p->paused_at;
	w->on_disk = true;
	/* Only now anybody is told. */
	if (answered(w, p) && w->m.state != M_CREATING && w->m.state != M_FAILED && !is_pending(w, STORED))
		w->promised = true;
	if (w->stored.state == M_ENDED)
		w->ended = true;
}

static void step(struct world *w)
{
	struct pending p = next(w);

	switch (p.what) {
	case CREATE:
		end_create(w, &p);
		break;
	case DESTROY:
		end_destroy(w, &p);
		break;
	case FREEZE:
	case THAW:
		end_change(w, &p);
		break;
	case STORED:
		on_stored(w, &p);
		break;
	case CLIENT:
		on_client(w);
		break;
	case TICK:
		feed(w, E_TICK, END_NONE);
		break;
	case COMPARE:
		compare(w);
		break;
	case CRASH:
		crash(w);
		later(w, CRASH, up_to(w, 3 * DAY));
		break;
	case START:
		start(w);
		break;
	case KILL_UNIT:
		kill_unit(w);
		break;
	}
	if (w->up)
		check(w);
}

static void begin(struct world *w, uint64_t number)
{
	*w = (struct world){.dice = number * 0x9e3779b97f4a7c15u + 1, .up = true, .epoch = 1};
	for (int i = 0; i < 8; i++)
		dice(w, 2);
	w->lifetime_at = dice(w, 2) ? INIS_NEVER : up_to(w, 30 * DAY);
	w->lease_ms = dice(w, 2) ? INIS_NEVER : MINUTE + up_to(w, DAY);
	w->ttl_ms = dice(w, 4) == 0 ? INIS_NEVER : up_to(w, 7 * DAY);
	w->lease_at = w->lease_ms;
	machine_init(&w->m, 0, w->lifetime_at, w->ttl_ms);
	w->m.lease_at = w->lease_at;
	persist(w);
	later(w, CREATE, dice(w, 16) == 0 ? up_to(w, 10 * MINUTE) : up_to(w, SECOND));
	later(w, CLIENT, up_to(w, SECOND));
	later(w, COMPARE, COMPARE_EVERY);
	later(w, CRASH, up_to(w, dice(w, 2) ? 3 * DAY : 2 * SECOND));
	if (dice(w, 4) == 0)
		later(w, KILL_UNIT, up_to(w, 30 * DAY));
	tick_later(w);
}

/* With everybody at work again, a DELETE leads to the end, and nothing is left. */
static void finish(struct world *w)
{
	drop(w, CRASH);
	drop(w, CLIENT);
	drop(w, KILL_UNIT);
	while (!w->up)
		step(w);
	if (!w->on_disk && w->m.state == M_ENDED)
		return;
	w->deleted = true;
	feed(w, E_DELETE, END_CLIENT_DESTROY);
	for (int i = 0; i < 2000 && (w->m.state != M_ENDED || is_pending(w, STORED)); i++)
		step(w);
	assert_int_equal(w->m.state, M_ENDED);
	assert_false(w->exists);
}

static inis_ms live_through(uint64_t number)
{
	static struct world w;

	begin(&w, number);
	for (int i = 0; i < STEPS_MAX && w.count > 0 && !(w.m.state == M_ENDED && !is_pending(&w, START)); i++)
		step(&w);
	finish(&w);
	return w.now;
}

static void S7_L2_no_history_loses_a_session_or_leaves_one_behind(void **state)
{
	const char *one = getenv("INIS_SIM_SEED");
	unsigned histories = getenv("INIS_TEST_LONG") ? HISTORIES_LONG : HISTORIES;
	uint64_t first = (uint64_t)time(NULL) << 20;
	inis_ms lived = 0;

	(void)state;
	loud = one != NULL;
	if (one) {
		seed = strtoull(one, NULL, 10);
		live_through(seed);
		return;
	}
	for (unsigned i = 0; i < histories; i++) {
		seed = first + i;
		lived += live_through(seed);
	}
	print_message("%u histories, %lld years\n", histories, (long long)(lived / YEAR));
}

/* After a failure: which history it was. */
static int say_seed(void **state)
{
	(void)state;
	print_message("last history: INIS_SIM_SEED=%" PRIu64 "\n", seed);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(S7_L2_no_history_loses_a_session_or_leaves_one_behind, say_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
