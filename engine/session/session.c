/* SPDX-License-Identifier: Apache-2.0
 *
 * session.c - one session: references, who waits for it, and what may be done with it.
 */
#include <stdlib.h>
#include <string.h>

#include "session/registry_private.h"

struct session *session_new(struct registry *r, struct inis_error *err)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s) {
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		return NULL;
	}
	s->registry = r;
	s->refs = 1;
	LIST_INIT(&s->waits);
	LIST_INIT(&s->execs);
	return s;
}

void session_ref(struct session *s)
{
	s->refs++;
}

void session_unref(struct session *s)
{
	if (!s || --s->refs > 0)
		return;
	spec_free(&s->spec);
	free(s->idempotency_key);
	free(s);
}

void session_set_timers(struct session *s)
{
	inis_ms left = s->created_at + s->spec.max_lifetime_ms - inis_wall_ms();
	int64_t ttl = s->spec.paused_ttl_ms;

	/* Both clocks cut to milliseconds: one more, so that it never ends early. */
	s->machine.lifetime_at = s->spec.max_lifetime_ms ? inis_deadline_in(left + 1) : INIS_NEVER;
	s->machine.paused_ttl_ms = ttl < 0 ? INIS_NEVER : ttl == 0 ? SPEC_PAUSED_TTL_MS : ttl;
	/* Whole again after a restart: while the server was down no client could renew it. */
	session_renew_lease(s);
}

inis_ms session_renew_lease(struct session *s)
{
	if (!s->spec.lease_ms) {
		s->machine.lease_at = INIS_NEVER;
		return INIS_NEVER;
	}
	s->machine.lease_at = inis_deadline_in(s->spec.lease_ms);
	return inis_wall_ms() + s->spec.lease_ms;
}

const char *session_state(const struct session *s)
{
	if (machine_lifetime_expired(&s->machine, inis_now_ms()))
		return "lifetime_expired";
	return machine_shown_name(s->machine.state);
}

int session_check(const struct session *s, struct inis_error *err)
{
	switch (s->machine.state) {
	case M_LIVE:
	case M_FORKING:
		return 0;
	case M_CREATING:
	case M_RESTORING:
		return inis_fail(err, INIS_SESSION_NOT_LIVE, "session %s is not ready", s->id.s);
	case M_PAUSING:
	case M_PAUSED:
	case M_RESUMING:
		if (machine_lifetime_expired(&s->machine, inis_now_ms()))
			return inis_fail(err, INIS_SESSION_ENDED, "session %s is past its lifetime", s->id.s);
		return inis_fail(err, INIS_SESSION_NOT_LIVE, "session %s is paused", s->id.s);
	case M_FAILED:
		return inis_fail(err, INIS_SESSION_ENDED, "session %s never came up: %s", s->id.s, s->failure.message);
	default:
		if (machine_deleted(&s->machine))
			return inis_fail(err, INIS_NOT_FOUND, "session %s does not exist", s->id.s);
		return inis_fail(err, INIS_SESSION_ENDED, "session %s has ended (%s)", s->id.s,
				 end_reason_name(s->machine.reason));
	}
}

/* ---- waiting ---- */

bool session_ended(const struct session *s)
{
	return s->machine.state == M_ENDING || s->machine.state == M_ENDED;
}

bool session_frozen(const struct session *s)
{
	enum machine_state state = s->machine.state;

	return state == M_PAUSING || state == M_PAUSED || state == M_RESUMING;
}

bool session_over(const struct session *s)
{
	return s->machine.state == M_FAILED || session_ended(s);
}

static bool has_come(const struct session *s, enum wait_kind what)
{
	bool expired = machine_lifetime_expired(&s->machine, inis_now_ms());

	switch (what) {
	case WAIT_READY:
		return session_check(s, NULL) == 0 || session_over(s) || expired;
	case WAIT_LIVE:
		return (session_check(s, NULL) == 0 && s->writes == 0) || session_over(s) || expired;
	case WAIT_PAUSED:
		return (s->machine.state == M_PAUSED && s->writes == 0) || session_over(s);
	case WAIT_SETTLED:
		return s->machine.state != M_CREATING && s->writes == 0;
	case WAIT_STORED:
		return s->writes == 0;
	default:
		return s->machine.state == M_ENDED && s->writes == 0;
	}
}

static void finish_wait(struct session *s, struct session_wait *w, const struct inis_error *err)
{
	LIST_REMOVE(w, link);
	w->done(s, w->ctx, err);
	free(w);
}

static void come(struct session *s, struct session_wait *w)
{
	struct inis_error err = INIS_ERROR_INIT;

	if ((w->what == WAIT_READY || w->what == WAIT_LIVE || (w->what == WAIT_PAUSED && session_over(s))) &&
	    session_check(s, &err) < 0)
		finish_wait(s, w, &err);
	else
		finish_wait(s, w, w->what != WAIT_READY && s->write_error.code ? &s->write_error : NULL);
}

void session_notify(struct session *s)
{
	struct session_wait *w;

	session_ref(s);
	do {
		LIST_FOREACH (w, &s->waits, link) {
			if (has_come(s, w->what))
				break;
		}
		if (w)
			come(s, w);
	} while (w);
	session_pursue(s);
	session_unref(s);
}

bool session_waited_for(const struct session *s, enum wait_kind what)
{
	const struct session_wait *w;

	LIST_FOREACH (w, &s->waits, link) {
		if (w->what == what)
			return true;
	}
	return false;
}

void session_fail_waits(struct session *s, enum wait_kind what, const struct inis_error *err)
{
	struct session_wait *w;

	do {
		LIST_FOREACH (w, &s->waits, link) {
			if (w->what == what)
				break;
		}
		if (w)
			finish_wait(s, w, err);
	} while (w);
}

void session_end_waits(struct session *s, const struct inis_error *err)
{
	struct session_wait *w;

	while ((w = LIST_FIRST(&s->waits)))
		finish_wait(s, w, err);
}

static void expire(struct session *s, struct session_wait *w)
{
	struct inis_error err = INIS_ERROR_INIT;

	switch (w->what) {
	case WAIT_READY:
	case WAIT_LIVE:
	case WAIT_PAUSED:
		inis_fail(&err, INIS_SESSION_NOT_LIVE, "session %s is not ready yet", s->id.s);
		finish_wait(s, w, &err);
		return;
	case WAIT_SETTLED:
		/* Still being made: the client is told so, once that is on disk. */
		w->what = WAIT_STORED;
		w->deadline = INIS_NEVER;
		s->answered = true;
		session_persist(s);
		session_notify(s);
		return;
	default:
		inis_fail(&err, INIS_UNAVAILABLE, "session %s has ended, but not all of it is gone yet", s->id.s);
		finish_wait(s, w, &err);
	}
}

void session_expire_waits(struct session *s, inis_ms now)
{
	struct session_wait *w;

	do {
		LIST_FOREACH (w, &s->waits, link) {
			if (w->deadline <= now)
				break;
		}
		if (w)
			expire(s, w);
	} while (w);
}

inis_ms session_next_wait(const struct session *s)
{
	const struct session_wait *w;
	inis_ms due = INIS_NEVER;

	LIST_FOREACH (w, &s->waits, link) {
		if (w->deadline < due)
			due = w->deadline;
	}
	return due;
}

void session_wait_for(struct session *s, enum wait_kind what, inis_ms limit, session_done done, void *ctx)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct session_wait *w = malloc(sizeof(*w));

	if (!w) {
		inis_fail(&err, INIS_UNAVAILABLE, "out of memory");
		done(s, ctx, &err);
		return;
	}
	*w = (struct session_wait){.what = what, .deadline = inis_deadline_in(limit), .done = done, .ctx = ctx};
	LIST_INSERT_HEAD(&s->waits, w, link);
	registry_wake_at(s->registry, w->deadline);
	session_notify(s);
}

void session_wait_ready(struct session *s, inis_ms limit, session_done done, void *ctx)
{
	session_wait_for(s, WAIT_READY, limit, done, ctx);
}

void session_wait_settled(struct session *s, inis_ms limit, session_done done, void *ctx)
{
	session_wait_for(s, WAIT_SETTLED, limit, done, ctx);
}

void session_wait_gone(struct session *s, inis_ms limit, session_done done, void *ctx)
{
	session_wait_for(s, WAIT_GONE, limit, done, ctx);
}

void session_delete(struct session *s, enum end_reason reason, session_done done, void *ctx)
{
	session_ref(s);
	session_feed(s, E_DELETE, reason);
	/* The broker says sooner what it cannot remove (lifecycle.c). */
	session_wait_for(s, WAIT_GONE, SESSION_GONE_MS, done, ctx);
	session_unref(s);
}

void session_completed(struct session *s)
{
	if (s->spec.destroy_on_completion)
		session_feed(s, E_COMPLETED, END_NONE);
}
