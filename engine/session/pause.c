/* SPDX-License-Identifier: Apache-2.0
 *
 * pause.c - freezing a session's unit where it is, and going on.
 *
 * The agent is told first, so that no limit inside runs on while nothing can: it
 * stops its clock, says so, and only then the broker freezes the unit. Calls and
 * their streams stay open. What waits for a session decides where it goes next:
 * a pause that is wanted is finished before a resume begins, and the other way
 * round, so that each caller gets what it asked for.
 */
#include "base/log.h"
#include "session/registry_private.h"

/* ---- freezing ---- */

static void pause_failed(struct session *s, const struct inis_error *err)
{
	struct inis_error why = INIS_ERROR_INIT;

	inis_log(INIS_LOG_WARN, "unit could not be frozen", "session", s->id.s, "error", err->message, NULL);
	inis_fail(&why, INIS_SESSION_UNAVAILABLE, "the session could not be paused: %s", err->message);
	if (s->machine.state != M_PAUSING)
		return;
	session_fail_waits(s, WAIT_PAUSED, &why);
	session_feed(s, E_PAUSE_REFUSED, END_NONE);
}

static void on_frozen(void *ctx, const struct inis_broker_msg *reply, int *fd, const struct inis_error *err)
{
	struct session *s = ctx;

	(void)reply;
	(void)fd;
	if (err) {
		pause_failed(s, err);
	} else if (s->machine.state == M_PAUSING) {
		s->paused_at = inis_wall_ms();
		session_feed(s, E_PAUSED, END_NONE);
	}
	session_unref(s);
}

void session_freeze_unit(struct session *s)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct inis_broker_msg m;

	inis_broker_msg_init(&m, INIS_B_FREEZE, 0);
	m.unit_id = s->unit;
	session_ref(s);
	if (broker_send(s->registry->broker, &m, on_frozen, s, &err) < 0) {
		pause_failed(s, &err);
		session_unref(s);
	}
}

void session_pause_unit(struct session *s)
{
	if (s->agent)
		agent_quiesce(s->agent); /* session_freeze_unit() follows */
	else
		session_freeze_unit(s);
}

/* ---- thawing ---- */

static void resume_failed(struct session *s, const struct inis_error *err)
{
	struct inis_error why = INIS_ERROR_INIT;

	inis_log(INIS_LOG_WARN, "unit could not be thawed", "session", s->id.s, "error", err->message, NULL);
	inis_fail(&why, INIS_SESSION_UNAVAILABLE, "the session could not be resumed: %s", err->message);
	if (s->machine.state != M_RESUMING)
		return;
	/* They would ask for the same again at once. */
	session_fail_waits(s, WAIT_READY, &why);
	session_fail_waits(s, WAIT_LIVE, &why);
	session_feed(s, E_RESUME_REFUSED, END_NONE);
}

static void on_thawed(void *ctx, const struct inis_broker_msg *reply, int *fd, const struct inis_error *err)
{
	struct session *s = ctx;

	(void)reply;
	(void)fd;
	if (err) {
		resume_failed(s, err);
	} else if (s->machine.state == M_RESUMING) {
		s->paused_at = 0;
		if (!s->agent)
			session_open_agent(s, -1);
		if (s->agent)
			agent_go_on(s->agent);
		session_feed(s, E_RESUMED, END_NONE);
	}
	session_unref(s);
}

void session_thaw_unit(struct session *s)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct inis_broker_msg m;

	inis_broker_msg_init(&m, INIS_B_THAW, 0);
	m.unit_id = s->unit;
	session_ref(s);
	if (broker_send(s->registry->broker, &m, on_thawed, s, &err) < 0) {
		resume_failed(s, &err);
		session_unref(s);
	}
}

/* ---- what is wanted ---- */

static void resume_for(struct session *s)
{
	struct inis_error err = INIS_ERROR_INIT;

	if (registry_check_room(s->registry, s->owner, &err) == 0) {
		session_feed(s, E_RESUME, END_NONE);
		return;
	}
	session_fail_waits(s, WAIT_READY, &err);
	session_fail_waits(s, WAIT_LIVE, &err);
}

void session_pursue(struct session *s)
{
	bool pause = session_waited_for(s, WAIT_PAUSED);
	bool live = session_waited_for(s, WAIT_LIVE);

	if (s->machine.state == M_LIVE && pause && !live)
		session_feed(s, E_PAUSE, END_NONE);
	else if (s->machine.state == M_PAUSED && !pause && (live || session_waited_for(s, WAIT_READY)))
		resume_for(s);
}

void session_pause(struct session *s, inis_ms limit, session_done done, void *ctx)
{
	session_wait_for(s, WAIT_PAUSED, limit, done, ctx);
}

void session_resume(struct session *s, inis_ms limit, session_done done, void *ctx)
{
	session_wait_for(s, WAIT_LIVE, limit, done, ctx);
}
