/* SPDX-License-Identifier: Apache-2.0
 *
 * simulation.h - thousands of years of sessions: a server that crashes, a broker that is slow, dies or fails, a
 * machine that restarts, clients that ask for everything at any time.
 *
 * DOC: How it works
 *
 * One history is one session from its create to its end, on a clock that jumps from event to event. The model knows
 * what really is (the unit, what is on the disk, what was promised to whom and why it may end) without asking the
 * machine; the machine's decisions are carried out on it as the server does, and what they lead to is compared with
 * what was promised. A history is told by its seed: INIS_SIM_SEED=N runs that one alone and says each step.
 */
#ifndef INIS_TESTS_SESSION_SIMULATION_H
#define INIS_TESTS_SESSION_SIMULATION_H

#include "session/machine.h"

#define PENDING_MAX   64
#define SECOND        1000LL
#define MINUTE        (60 * SECOND)
#define HOUR          (60 * MINUTE)
#define DAY           (24 * HOUR)
#define YEAR          (365 * DAY)
#define COMPARE_EVERY (30 * SECOND)
#define LATENESS      200 /* of a timer on a busy machine */

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

extern bool loud; /* says each step */

/* ---- world.c: chance and time ---- */

unsigned dice(struct world *w, unsigned sides);
inis_ms up_to(struct world *w, inis_ms max);
struct pending *later(struct world *w, enum what what, inis_ms in);
bool is_pending(const struct world *w, enum what what);
void drop(struct world *w, enum what what);
/* Takes the first of what is pending; its time has come. */
struct pending next(struct world *w);

/* ---- model.c: what must hold ---- */

bool may_end(const struct world *w, enum end_reason reason);
void check(const struct world *w);
void check_frozen(struct world *w, bool busy);

/* ---- server.c: the server around the machine ---- */

/* Whether the server that asked is there to hear of it. */
bool answered(const struct world *w, const struct pending *p);
void tick_later(struct world *w);
void persist(struct world *w);
/* Returns the actions, which have been carried out. */
unsigned feed(struct world *w, enum machine_event event, enum end_reason reason);
void start(struct world *w);
void crash(struct world *w);

#endif
