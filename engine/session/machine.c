/* SPDX-License-Identifier: Apache-2.0
 *
 * machine.c - the session state machine: a table of transitions and the rules around it.
 */
#include "session/machine.h"

#include <stddef.h>
#include <string.h>

#define SECONDS 1000

struct state_row {
	const char *name;
	const char *shown;
	inis_ms limit; /* longest stay; 0 = none */
	enum machine_state late; /* where to when it is over */
};

static const struct state_row STATES[M_STATE_COUNT] = {
	[M_CREATING] = {"creating", "creating", 120 * SECONDS, M_FAILED},
	[M_LIVE] = {"live", "live", 0, M_LIVE},
	[M_FORKING] = {"forking", "live", 300 * SECONDS, M_LIVE},
	[M_RESTORING] = {"restoring", "live", 300 * SECONDS, M_ENDING},
	[M_PAUSING] = {"pausing", "live", 300 * SECONDS, M_LIVE},
	[M_PAUSED] = {"paused", "paused", 0, M_PAUSED},
	[M_RESUMING] = {"resuming", "paused", 300 * SECONDS, M_PAUSED},
	/* Kept for a while, so that whoever polls a create can read why. */
	[M_FAILED] = {"failed", "failed", 3600 * SECONDS, M_ENDING},
	/* Not a way out but a repetition: the unit must go. */
	[M_ENDING] = {"ending", "ended", 30 * SECONDS, M_ENDING},
	[M_ENDED] = {"ended", "ended", 0, M_ENDED},
};

struct transition {
	enum machine_state from;
	enum machine_event event;
	enum machine_state to;
	unsigned actions;
};

static const struct transition TABLE[] = {
	{M_CREATING, E_UNIT_READY, M_LIVE, A_PERSIST},
	{M_CREATING, E_UNIT_REFUSED, M_FAILED, A_PERSIST},
	{M_CREATING, E_UNIT_LOST, M_FAILED, A_PERSIST},

	{M_LIVE, E_PAUSE, M_PAUSING, A_PAUSE_UNIT | A_PERSIST},
	{M_PAUSING, E_PAUSED, M_PAUSED, A_PERSIST},
	{M_PAUSING, E_PAUSE_REFUSED, M_LIVE, A_PERSIST},
	{M_PAUSED, E_RESUME, M_RESUMING, A_RESUME_UNIT | A_PERSIST},
	{M_RESUMING, E_RESUMED, M_LIVE, A_PERSIST},
	{M_RESUMING, E_RESUME_REFUSED, M_PAUSED, A_PERSIST},

	{M_LIVE, E_FORK, M_FORKING, A_FORK_UNIT},
	{M_FORKING, E_FORKED, M_LIVE, 0},
	{M_LIVE, E_RESTORE, M_RESTORING, A_RESTORE_UNIT | A_PERSIST},
	{M_RESTORING, E_RESTORED, M_LIVE, A_PERSIST},
	{M_RESTORING, E_RESTORE_LOST, M_ENDING, 0},

	{M_LIVE, E_COMPLETED, M_ENDING, 0},
	{M_PAUSING, E_COMPLETED, M_ENDING, 0},
	{M_RESUMING, E_COMPLETED, M_ENDING, 0},
	{M_LIVE, E_DETACH_DESTROY, M_ENDING, 0},
	{M_PAUSING, E_DETACH_DESTROY, M_ENDING, 0},
	{M_PAUSED, E_DETACH_DESTROY, M_ENDING, 0},
	{M_RESUMING, E_DETACH_DESTROY, M_ENDING, 0},
	{M_LIVE, E_UNIT_LOST, M_ENDING, 0},
	{M_FORKING, E_UNIT_LOST, M_ENDING, 0},
	{M_RESTORING, E_UNIT_LOST, M_ENDING, 0},
	{M_PAUSING, E_UNIT_LOST, M_ENDING, 0},
	{M_PAUSED, E_UNIT_LOST, M_ENDING, 0},
	{M_RESUMING, E_UNIT_LOST, M_ENDING, 0},
};

static const char *const REASONS[END_REASON_COUNT] = {
	[END_NONE] = "",
	[END_CLIENT_DESTROY] = "client_destroy",
	[END_SHELL_EXIT] = "shell_exit",
	[END_ON_DETACH_DESTROY] = "on_detach_destroy",
	[END_MAX_LIFETIME] = "max_lifetime",
	[END_PAUSED_TTL] = "paused_ttl",
	[END_ERROR] = "error",
	[END_LEASE_EXPIRED] = "lease_expired",
};

static enum end_reason reason_of(enum machine_event event)
{
	switch (event) {
	case E_COMPLETED:
		return END_CLIENT_DESTROY;
	case E_DETACH_DESTROY:
		return END_ON_DETACH_DESTROY;
	default:
		return END_ERROR;
	}
}

static inis_ms later(inis_ms now, inis_ms ms)
{
	inis_ms at;

	return ms == INIS_NEVER || __builtin_add_overflow(now, ms, &at) ? INIS_NEVER : at;
}

static void set_state(struct machine *m, enum machine_state to, inis_ms now)
{
	m->state = to;
	if (to == M_PAUSED)
		m->deadline = later(now, m->paused_ttl_ms);
	else
		m->deadline = STATES[to].limit ? later(now, STATES[to].limit) : INIS_NEVER;
}

static unsigned enter(struct machine *m, enum machine_state to, unsigned actions, inis_ms now)
{
	set_state(m, to, now);
	actions |= A_CHANGED;
	if (to == M_RESTORING)
		actions |= A_DROP_AGENT;
	if (to != M_FAILED && to != M_ENDING)
		return actions;
	actions |= A_DROP_AGENT | A_PERSIST;
	if (m->unit == UNIT_PRESENT)
		return actions | A_DESTROY_UNIT;
	if (to == M_ENDING && m->unit == UNIT_NONE)
		set_state(m, M_ENDED, now);
	return actions;
}

static unsigned end(struct machine *m, enum end_reason reason, inis_ms now)
{
	m->reason = reason;
	return enter(m, M_ENDING, 0, now);
}

void machine_init(struct machine *m, inis_ms now, inis_ms lifetime_at, inis_ms paused_ttl_ms)
{
	*m = (struct machine){
		.unit = UNIT_ASKED, .lifetime_at = lifetime_at, .lease_at = INIS_NEVER, .paused_ttl_ms = paused_ttl_ms};
	set_state(m, M_CREATING, now);
}

void machine_restore(struct machine *m, inis_ms since, enum machine_state state, enum machine_unit unit,
		     enum end_reason reason)
{
	m->unit = unit;
	m->reason = reason;
	set_state(m, state, since);
}

static bool wants_unit(enum machine_state s)
{
	return s != M_FAILED && s != M_ENDING && s != M_ENDED;
}

/* The unit is no more, or never came to be. true: that was all the machine waited for. */
static bool unit_gone(struct machine *m, inis_ms now)
{
	m->unit = UNIT_NONE;
	if (m->state != M_ENDING)
		return false;
	set_state(m, M_ENDED, now);
	return true;
}

/* What an event says about the unit, whatever the state. Returns actions; *rest: the table has a say too. */
static unsigned account_unit(struct machine *m, enum machine_event event, inis_ms now, bool *rest)
{
	*rest = true;
	switch (event) {
	case E_UNIT_MADE:
		*rest = false;
		m->unit = UNIT_PRESENT;
		return wants_unit(m->state) ? 0 : A_DESTROY_UNIT;
	case E_UNIT_REFUSED:
	case E_UNIT_DESTROYED:
		*rest = event == E_UNIT_REFUSED && m->state == M_CREATING;
		return unit_gone(m, now) ? A_CHANGED | A_PERSIST : 0;
	case E_UNIT_LOST:
		*rest = wants_unit(m->state);
		return 0;
	case E_RESUME:
		if (m->state == M_PAUSED && m->unit == UNIT_NONE)
			m->unit = UNIT_ASKED;
		return 0;
	case E_RESUMED:
		*rest = wants_unit(m->state);
		m->unit = UNIT_PRESENT;
		return *rest ? 0 : A_DESTROY_UNIT;
	case E_RESUME_REFUSED:
		if (m->unit != UNIT_ASKED)
			return 0;
		*rest = wants_unit(m->state);
		return unit_gone(m, now) ? A_CHANGED | A_PERSIST : 0;
	default:
		return 0;
	}
}

static unsigned tick(struct machine *m, inis_ms now)
{
	const struct state_row *row = &STATES[m->state];

	if (m->state == M_LIVE && now >= m->lifetime_at)
		return end(m, END_MAX_LIFETIME, now);
	if (wants_unit(m->state) && now >= m->lease_at)
		return end(m, END_LEASE_EXPIRED, now);
	if (now < m->deadline)
		return 0;
	if (m->state == M_PAUSED)
		return end(m, END_PAUSED_TTL, now);
	if (m->state == M_ENDING) {
		set_state(m, M_ENDING, now);
		return m->unit == UNIT_PRESENT ? A_DESTROY_UNIT : 0;
	}
	if (row->late == M_ENDING)
		return end(m, END_ERROR, now);
	return enter(m, row->late, A_PERSIST, now);
}

unsigned machine_step(struct machine *m, enum machine_event event, enum end_reason reason, inis_ms now)
{
	unsigned actions;
	bool rest;

	if (m->state == M_ENDED)
		return event == E_DELETE || event == E_TICK ? 0 : A_REFUSED;
	if (event == E_TICK)
		return tick(m, now);
	if (event == E_DELETE)
		return m->state == M_ENDING ? 0 : end(m, reason, now);
	if (event == E_RESUME && machine_lifetime_expired(m, now))
		return A_REFUSED;
	actions = account_unit(m, event, now, &rest);
	if (!rest)
		return actions;
	for (size_t i = 0; i < sizeof(TABLE) / sizeof(TABLE[0]); i++) {
		const struct transition *t = &TABLE[i];

		if (t->from != m->state || t->event != event)
			continue;
		if (t->to == M_ENDING)
			m->reason = reason_of(event);
		return enter(m, t->to, t->actions, now);
	}
	return A_REFUSED;
}

inis_ms machine_next_tick(const struct machine *m)
{
	inis_ms at = m->state == M_LIVE ? m->lifetime_at : m->deadline;

	return wants_unit(m->state) && m->lease_at < at ? m->lease_at : at;
}

bool machine_lifetime_expired(const struct machine *m, inis_ms now)
{
	return m->state == M_PAUSED && now >= m->lifetime_at;
}

bool machine_deleted(const struct machine *m)
{
	return (m->state == M_ENDING || m->state == M_ENDED) &&
	       (m->reason == END_CLIENT_DESTROY || m->reason == END_SHELL_EXIT);
}

const char *machine_state_name(enum machine_state s)
{
	return STATES[s].name;
}

const char *machine_shown_name(enum machine_state s)
{
	return STATES[s].shown;
}

bool machine_state_parse(const char *name, enum machine_state *s)
{
	for (unsigned i = 0; i < M_STATE_COUNT; i++) {
		if (strcmp(STATES[i].name, name) == 0) {
			*s = (enum machine_state)i;
			return true;
		}
	}
	return false;
}

const char *end_reason_name(enum end_reason r)
{
	return REASONS[r];
}

bool end_reason_parse(const char *name, enum end_reason *r)
{
	for (unsigned i = END_CLIENT_DESTROY; i < END_REASON_COUNT; i++) {
		if (strcmp(REASONS[i], name) == 0) {
			*r = (enum end_reason)i;
			return true;
		}
	}
	return false;
}
