/* SPDX-License-Identifier: Apache-2.0
 *
 * adopt.c - compares the sessions with the units that really exist: at start and regularly.
 *
 * Units without a session are destroyed, sessions whose unit is gone end, live
 * units are connected again. A unit that was made after the list was asked for
 * is not in it: only sessions that had their unit by then are judged.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "session/registry_private.h"

static int load_row(void *ctx, const struct inis_session_row *row, struct inis_error *err)
{
	struct registry *r = ctx;
	struct inis_error why = INIS_ERROR_INIT;
	struct session *s = session_from_row(row, &why);

	if (!s) {
		if (why.code == INIS_UNAVAILABLE)
			return inis_fail_copy(err, &why);
		inis_log(INIS_LOG_ERROR, "stored session ignored", "session", row->id.s, "error", why.message, NULL);
		return 0;
	}
	s->registry = r;
	if (s->created_at > r->last_created)
		r->last_created = s->created_at;
	registry_add(r, s);
	session_unref(s);
	return 0;
}

int registry_load_rows(struct registry *r, struct inis_error *err)
{
	return inis_store_sessions_load(r->config.store, load_row, r, err);
}

/* ---- comparing ---- */

static const struct inis_broker_unit *unit_of(const struct registry *r, const struct session *s)
{
	for (size_t i = 0; i < r->unit_count; i++) {
		const struct inis_broker_unit *u = &r->units[i];

		if (s->unit.s[0] ? strcmp(u->id.s, s->unit.s) == 0 : strcmp(u->session.s, s->id.s) == 0)
			return u;
	}
	return NULL;
}

/* What a session is that was left in the middle of something: what the kernel says of its unit. */
static enum machine_state now_is(const struct session *s, const struct inis_broker_unit *u)
{
	enum machine_state state = s->machine.state;

	/* Its create may have been answered: without its unit it is as lost as any other. */
	if (state == M_CREATING)
		return u && u->alive ? M_CREATING : M_LIVE;
	if (state == M_FAILED || state == M_ENDING || state == M_ENDED)
		return state;
	return u && u->frozen ? M_PAUSED : M_LIVE;
}

/* At start: what to do with a session as it was left. */
static void adopt(struct session *s, const struct inis_broker_unit *u)
{
	enum machine_state state = now_is(s, u);
	inis_ms now = inis_now_ms(), since = now;

	if (u)
		s->unit = u->id;
	if (state == M_PAUSED) {
		s->paused_at = s->paused_at ? s->paused_at : inis_wall_ms();
		since = now - (inis_wall_ms() - s->paused_at);
	}
	machine_restore(&s->machine, since, state, u ? UNIT_PRESENT : UNIT_NONE, s->machine.reason);
	session_set_idle(s);
	if (state == M_ENDING || state == M_FAILED) {
		/* A deadline in the past takes up the end where it was left. */
		if (u)
			session_feed(s, E_UNIT_MADE, END_NONE);
		else
			session_feed(s, E_UNIT_DESTROYED, END_NONE);
		return;
	}
	if (s->spec.one_shot) {
		/* Who waited for its result was told of the loss when the server ended. */
		session_feed(s, E_DELETE, END_CLIENT_DESTROY);
		return;
	}
	if (!u || !u->alive) {
		inis_fail(&s->failure, INIS_SESSION_UNAVAILABLE, "the sandbox stopped while the server was down");
		session_feed(s, E_UNIT_LOST, END_NONE);
		return;
	}
	if (state != M_PAUSED)
		session_open_agent(s, -1);
}

/* Takes one session off the list of those to look at; sessions may end meanwhile. */
static struct session *next_compared(struct registry *r)
{
	struct session *s;

	TAILQ_FOREACH (s, &r->sessions, link) {
		if (s->compared) {
			s->compared = false;
			return s;
		}
	}
	return NULL;
}

static void judge_sessions(struct registry *r)
{
	struct session *s;

	while ((s = next_compared(r))) {
		const struct inis_broker_unit *u = unit_of(r, s);

		if (!r->started) {
			adopt(s, u);
		} else if (s->machine.unit == UNIT_PRESENT && (!u || !u->alive)) {
			inis_fail(&s->failure, INIS_SESSION_UNAVAILABLE, "the sandbox stopped by itself");
			session_feed(s, E_UNIT_LOST, END_NONE);
		} else if (s->machine.state == M_LIVE && u && u->frozen) {
			/* A freeze that a front asked for which is no more, or that came after all. */
			registry_thaw_stray(r, &u->id);
		} else if (s->compared_paused && s->machine.state == M_PAUSED && u && !u->frozen) {
			/* A thaw that came when nobody waited for it any more. */
			registry_freeze_stray(r, &u->id);
		}
	}
}

static void destroy_strays(struct registry *r)
{
	for (size_t i = 0; i < r->unit_count; i++) {
		const struct inis_broker_unit *u = &r->units[i];
		const struct session *s = registry_find(r, &u->session);

		if (!s || (s->unit.s[0] && strcmp(s->unit.s, u->id.s) != 0))
			registry_destroy_stray(r, &u->id);
	}
}

static void end_comparison(struct registry *r)
{
	free(r->units);
	r->units = NULL;
	r->unit_count = 0;
	r->comparing = false;
}

static int remember(struct registry *r, const struct inis_broker_unit *u)
{
	struct inis_broker_unit *more = realloc(r->units, (r->unit_count + 1) * sizeof(*more));

	if (!more)
		return -1;
	r->units = more;
	r->units[r->unit_count++] = *u;
	return 0;
}

static void on_listed(void *ctx, const struct inis_broker_msg *reply, int *fd, const struct inis_error *err)
{
	struct registry *r = ctx;
	struct inis_error bad = INIS_ERROR_INIT;
	bool more = reply && (reply->flags & INIS_B_MORE);

	(void)fd;
	if (!err && more && remember(r, &reply->u.unit) == 0)
		return;
	if (!err && more) {
		inis_fail(&bad, INIS_UNAVAILABLE, "out of memory");
		err = &bad;
	}
	if (!r->comparing)
		return;
	if (!err) {
		judge_sessions(r);
		destroy_strays(r);
	}
	end_comparison(r);
	if (r->started)
		return;
	r->started = !err;
	r->config.on_started(r->config.ctx, err);
}

void registry_compare(struct registry *r)
{
	struct inis_broker_msg m;
	struct session *s;

	if (r->comparing)
		return;
	TAILQ_FOREACH (s, &r->sessions, link) {
		s->compared = !r->started || s->machine.unit == UNIT_PRESENT;
		s->compared_paused = s->machine.state == M_PAUSED;
	}
	r->comparing = true;
	inis_broker_msg_init(&m, INIS_B_LIST, 0);
	if (broker_send(r->broker, &m, on_listed, r, NULL) < 0)
		end_comparison(r);
}
