/* SPDX-License-Identifier: Apache-2.0
 *
 * simulation.c - thousands of years of sessions: a server that crashes, a broker that is slow, dies or fails, a
 * machine that restarts, clients that ask for everything at any time.
 *
 * DOC: How it works
 *
 * One history is one session from its create to its end, on a clock that jumps from event to event. The model knows
 * what really is (the unit, what is on the disk, what was promised to whom and why it may end) without asking the
 * machine; the machine's decisions are carried out on it as the server does, and what they lead to is compared with
 * what was promised. A history is told by its seed: INIS_SIM_SEED=N runs that one alone and says each step.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "session/machine.h"

#define HISTORIES      300000
#define HISTORIES_LONG 3000000
#define STEPS_MAX      600
#define PENDING_MAX    64
#define SECOND         1000LL
#define MINUTE         (60 * SECOND)
#define HOUR           (60 * MINUTE)
#define DAY            (24 * HOUR)
#define YEAR           (365 * DAY)
#define COMPARE_EVERY  (30 * SECOND)
#define LATENESS       200 /* of a timer on a busy machine */

enum what { CREATE, DESTROY, FREEZE, THAW, STORED, CLIENT, TICK, COMPARE, CRASH, START, KILL_UNIT };

struct pending {
	inis_ms at;
	enum what what;
	unsigned epoch; /* of the server that asked: a reply to another one is lost */
	struct machine doc; /* STORED */
	inis_ms paused_at;
};

struct world {
	uint64_t dice;
	inis_ms now;
	struct pending pending[PENDING_MAX];
	unsigned count;

	/* the server; gone while it is down */
	struct machine m;
	bool up;
	unsigned epoch;
	bool unit_known;
	inis_ms paused_at;
	inis_ms state_since; /* of this server's */

	/* the disk */
	struct machine stored;
	inis_ms stored_paused_at;
	bool on_disk;

	/* the kernel */
	bool exists, alive, frozen;
	unsigned wrongly_frozen; /* comparisons in a row */

	/* what was promised, and what may end it */
	bool promised; /* a client was told that the session is there */
	inis_ms lifetime_at, lease_ms, lease_at, ttl_ms;
	bool deleted, completed, detached, unit_died, create_failed, create_late;
	inis_ms paused_since; /* as the model saw it */
	enum end_reason reason; /* once ending */
	bool ended;
};

static bool loud;
static uint64_t seed;

static unsigned dice(struct world *w, unsigned sides)
{
	/* xorshift: the same histories on every machine. */
	w->dice ^= w->dice << 13;
	w->dice ^= w->dice >> 7;
	w->dice ^= w->dice << 17;
	return (unsigned)(w->dice >> 33) % sides;
}

static inis_ms up_to(struct world *w, inis_ms max)
{
	return (inis_ms)(((uint64_t)dice(w, 1u << 30) << 20 | dice(w, 1u << 20)) % (uint64_t)(max + 1));
}

static struct pending *later(struct world *w, enum what what, inis_ms in)
{
	struct pending *p = &w->pending[w->count];

	assert_true(w->count < PENDING_MAX);
	w->count++;
	*p = (struct pending){.at = w->now + in, .what = what, .epoch = w->epoch};
	return p;
}

static bool is_pending(const struct world *w, enum what what)
{
	for (unsigned i = 0; i < w->count; i++) {
		if (w->pending[i].what == what)
			return true;
	}
	return false;
}

static void drop(struct world *w, enum what what)
{
	for (unsigned i = 0; i < w->count;) {
		if (w->pending[i].what == what)
			w->pending[i] = w->pending[--w->count];
		else
			i++;
	}
}

/* ---- what must hold ---- */

static bool may_end(const struct world *w, enum end_reason reason)
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

static void check(const struct world *w)
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

/* ---- the server ---- */

static void tick_later(struct world *w)
{
	inis_ms at = machine_next_tick(&w->m);

	drop(w, TICK);
	if (w->up && at != INIS_NEVER)
		later(w, TICK, (at > w->now ? at - w->now : 0) + up_to(w, LATENESS - 1));
}

static void persist(struct world *w)
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

static unsigned feed(struct world *w, enum machine_event event, enum end_reason reason)
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

static void start(struct world *w)
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

static void crash(struct world *w)
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

/* ---- the broker and the kernel ---- */

static bool answered(const struct world *w, const struct pending *p)
{
	return w->up && p->epoch == w->epoch;
}

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

/* What is put right by one comparison is right at the next. */
static void check_frozen(struct world *w, bool busy)
{
	bool wrong =
		w->alive && !busy && ((w->m.state == M_LIVE && w->frozen) || (w->m.state == M_PAUSED && !w->frozen));

	w->wrongly_frozen = wrong ? w->wrongly_frozen + 1 : 0;
	/* Each attempt may fail. */
	assert_true(w->wrongly_frozen < 20);
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

/* ---- time ---- */

static struct pending next(struct world *w)
{
	unsigned first = 0;
	struct pending p;

	for (unsigned i = 1; i < w->count; i++) {
		if (w->pending[i].at < w->pending[first].at)
			first = i;
	}
	p = w->pending[first];
	w->pending[first] = w->pending[--w->count];
	w->now = p.at > w->now ? p.at : w->now;
	return p;
}

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
