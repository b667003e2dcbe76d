/* SPDX-License-Identifier: Apache-2.0
 *
 * machine.h - the life of a session as a pure state machine.
 *
 * DOC: How it works
 *
 *                 UNIT_READY             PAUSE             PAUSED
 *   CREATING ------------------> LIVE ---------> PAUSING ---------> PAUSED
 *      |                         |  ^               | refused         | RESUME
 *      | refused, lost, late     |  +---------------+                 v
 *      v                         |  ^------------ RESUMED -------- RESUMING
 *   FAILED                       |  ^
 *      |                         |  +-- FORKED, RESTORED -- FORKING, RESTORING
 *      |                         |
 *      +------------+------------+---- from every state: DELETE, loss, deadlines
 *                   v
 *                ENDING -- UNIT_DESTROYED --> ENDED
 *
 * Events go in, actions come out; no clock, no memory, no I/O. Times are those
 * of the caller's one clock, passed in. A pause freezes the unit where it is:
 * what talks to the guest stays and goes on after the resume. A lease that is
 * not renewed ends a session in every state. Invariants, which a random simulation
 * checks: every state but ENDED has a way out that does not depend on the
 * outside (a deadline or DELETE), ENDED is the only terminal one, and it is
 * never reached while a unit exists or may still come into being.
 */
#ifndef INIS_SESSION_MACHINE_H
#define INIS_SESSION_MACHINE_H

#include <stdbool.h>

#include "base/clock.h"

enum machine_state {
	M_CREATING,
	M_LIVE,
	M_FORKING,
	M_RESTORING,
	M_PAUSING,
	M_PAUSED,
	M_RESUMING,
	M_FAILED,
	M_ENDING,
	M_ENDED,
	M_STATE_COUNT
};

enum machine_event {
	E_UNIT_MADE, /* the broker has made the unit */
	E_UNIT_READY, /* its agent answers */
	E_UNIT_REFUSED, /* the broker could not make one: nothing exists */
	E_UNIT_LOST, /* its PID 1 ended, or it is gone altogether */
	E_UNIT_DESTROYED, /* the broker says that nothing of it is left */
	E_DELETE,
	E_COMPLETED, /* first command done, with destroy_on_completion */
	E_DETACH_DESTROY, /* last terminal lost, with on_pty_detach destroy */
	E_PAUSE, /* asked for, idle, window over, or last terminal lost */
	E_PAUSED,
	E_PAUSE_REFUSED,
	E_RESUME,
	E_RESUMED,
	E_RESUME_REFUSED,
	E_FORK,
	E_FORKED, /* with success or without: the parent goes on */
	E_RESTORE,
	E_RESTORED,
	E_RESTORE_LOST, /* the old state is gone and the new one is not there */
	E_TICK, /* time has passed */
	M_EVENT_COUNT
};

/* What to do now; a set of bits. */
#define A_REFUSED      0x001u /* the event is not legal in this state; nothing changed */
#define A_PERSIST      0x002u
#define A_DROP_AGENT   0x004u /* end all that talks to the guest */
#define A_DESTROY_UNIT 0x008u
#define A_PAUSE_UNIT   0x010u
#define A_RESUME_UNIT  0x020u
#define A_FORK_UNIT    0x040u
#define A_RESTORE_UNIT 0x080u
#define A_CHANGED      0x100u /* the state is another one than before */

enum machine_unit {
	UNIT_NONE,
	UNIT_ASKED, /* being made; may exist */
	UNIT_PRESENT,
};

/* Values are names in the API; end_reason_name(). */
enum end_reason {
	END_NONE,
	END_CLIENT_DESTROY,
	END_SHELL_EXIT,
	END_ON_DETACH_DESTROY,
	END_MAX_LIFETIME,
	END_PAUSED_TTL,
	END_ERROR,
	END_LEASE_EXPIRED,
	END_REASON_COUNT
};

struct machine {
	enum machine_state state;
	enum machine_unit unit;
	enum end_reason reason; /* from ENDING on */
	inis_ms deadline; /* of a transient state; INIS_NEVER in LIVE and ENDED */
	inis_ms lifetime_at; /* INIS_NEVER = no cap */
	inis_ms lease_at; /* when it ends unless the lease is renewed; INIS_NEVER = no lease */
	inis_ms paused_ttl_ms; /* INIS_NEVER = none */
};

/* A new session: CREATING, its unit asked for. */
void machine_init(struct machine *m, inis_ms now, inis_ms lifetime_at, inis_ms paused_ttl_ms);

/* A session found in the store: in `state` since then, which may be long ago, with or without a unit. */
void machine_restore(struct machine *m, inis_ms since, enum machine_state state, enum machine_unit unit,
		     enum end_reason reason);

/* Feeds an event; returns actions. reason matters for E_DELETE only. */
unsigned machine_step(struct machine *m, enum machine_event event, enum end_reason reason, inis_ms now);

/* When the next E_TICK is due at the latest. */
inis_ms machine_next_tick(const struct machine *m);

/* Paused and past its lifetime: shown as lifetime_expired, never resumed. */
bool machine_lifetime_expired(const struct machine *m, inis_ms now);

/* Whether callers see it as deleted: everything on it is not_found. */
bool machine_deleted(const struct machine *m);

/* Name for the store; the API shows machine_shown_name(). */
const char *machine_state_name(enum machine_state s);
bool machine_state_parse(const char *name, enum machine_state *s);
/* creating, live, paused, failed, ended: transient states look like the one they leave. */
const char *machine_shown_name(enum machine_state s);

const char *end_reason_name(enum end_reason r);
bool end_reason_parse(const char *name, enum end_reason *r);

#endif
