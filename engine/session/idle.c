/* SPDX-License-Identifier: Apache-2.0
 *
 * idle.c - what keeps a session awake, and when one has had nothing to do for long enough.
 *
 * Operations and terminals are counted; each that ends begins the time anew. Only when that is over is the guest
 * asked: a keep_alive process counts as activity for as long as it ran, and in mode "activity" so does a busy
 * processor, watched for a few seconds. So a session that is used costs nothing here.
 */
#include "base/log.h"
#include "base/metrics.h"
#include "session/registry_private.h"

#define SAMPLE_MS    5000
#define BUSY_CPU_PCT 5 /* of one processor, when the session does not say */
#define ASK_AGAIN_MS 30000

static void set_idle_at(struct session *s, inis_ms at)
{
	s->idle_at = at;
	registry_wake_at(s->registry, session_idle_due(s));
}

inis_ms session_idle_due(const struct session *s)
{
	return s->machine.state == M_LIVE && s->uses == 0 && !s->probing ? s->idle_at : INIS_NEVER;
}

/* Until when a sign of life at this wall-clock time keeps it awake; of the process clock. */
static inis_ms awake_until(const struct session *s, inis_ms wall)
{
	inis_ms now = inis_wall_ms();

	/* A guest's clock, or one that was set back, must not keep it awake for ever. */
	return inis_deadline_in((wall < now ? wall - now : 0) + s->spec.idle_timeout_ms);
}

void session_set_idle(struct session *s)
{
	s->cpu_us = 0;
	set_idle_at(s, awake_until(s, s->last_active_at));
}

void session_touch(struct session *s)
{
	if (session_over(s))
		return;
	s->last_active_at = inis_wall_ms();
	s->dirty = true;
	session_set_idle(s);
}

void session_use_begin(struct session *s)
{
	s->uses++;
	session_touch(s);
}

void session_use_end(struct session *s)
{
	s->uses--;
	session_touch(s);
}

/* ---- asking ---- */

static void pause_idle(struct session *s)
{
	inis_log(INIS_LOG_INFO, "session is idle", "session", s->id.s, NULL);
	session_feed(s, E_PAUSE, END_NONE);
}

/* Something happened while it was asked, or the question is for nothing now. */
static bool overtaken(const struct session *s)
{
	return session_idle_due(s) > inis_now_ms();
}

static bool cpu_is_busy(const struct session *s, uint64_t used_us)
{
	uint64_t pct = s->spec.idle_cpu_pct ? (uint64_t)s->spec.idle_cpu_pct : BUSY_CPU_PCT;

	return used_us / 10 / SAMPLE_MS >= pct;
}

static void on_stats(void *ctx, const struct inis_broker_msg *reply, int *fd, const struct inis_error *err)
{
	struct session *s = ctx;
	uint64_t before = s->cpu_us;

	(void)fd;
	s->probing = false;
	s->cpu_us = 0;
	if (overtaken(s)) {
		session_unref(s);
		return;
	}
	if (err) {
		set_idle_at(s, inis_deadline_in(ASK_AGAIN_MS));
	} else if (before == 0) {
		s->cpu_us = reply->u.stats.cpu_us + 1;
		set_idle_at(s, inis_deadline_in(SAMPLE_MS));
	} else if (reply->u.stats.cpu_us + 1 > before && cpu_is_busy(s, reply->u.stats.cpu_us + 1 - before)) {
		set_idle_at(s, inis_deadline_in(s->spec.idle_timeout_ms));
	} else {
		pause_idle(s);
	}
	session_unref(s);
}

static void sample_cpu(struct session *s)
{
	struct inis_broker_msg m;

	inis_broker_msg_init(&m, INIS_B_STATS, 0);
	m.unit_id = s->unit;
	s->probing = true;
	session_ref(s);
	if (broker_send(s->registry->broker, &m, on_stats, s, NULL) == 0)
		return;
	s->probing = false;
	set_idle_at(s, inis_deadline_in(ASK_AGAIN_MS));
	session_unref(s);
}

static void on_process(void *ctx, const struct agent_result *r)
{
	struct session *s = ctx;
	inis_ms seen = r->proc.running ? inis_wall_ms() : (inis_ms)r->proc.ended_wall_ms;

	if ((r->proc.exit.flags & INIS_EXIT_KEEP_ALIVE) && seen > s->kept_until)
		s->kept_until = seen;
}

static void on_processes(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	struct session *s = ctx;
	inis_ms until = awake_until(s, s->kept_until);

	(void)r;
	s->probing = false;
	if (overtaken(s))
		; /* a new time runs already */
	else if (err)
		set_idle_at(s, inis_deadline_in(ASK_AGAIN_MS));
	else if (until > inis_now_ms())
		set_idle_at(s, until);
	else if (s->spec.idle_mode == IDLE_ACTIVITY)
		sample_cpu(s);
	else
		pause_idle(s);
	session_unref(s);
}

void session_idle_tick(struct session *s, inis_ms now)
{
	static const struct agent_handler handler = {.info = on_process, .done = on_processes};

	if (session_idle_due(s) > now)
		return;
	s->kept_until = 0;
	s->probing = true;
	session_ref(s);
	if (s->agent && agent_proc_list(s->agent, &handler, s, NULL))
		return;
	s->probing = false;
	set_idle_at(s, inis_deadline_in(ASK_AGAIN_MS));
	session_unref(s);
}

/* ---- terminals ---- */

void session_pty_attach(struct session *s)
{
	s->terminals++;
	inis_count(&inis_metrics.terminals_attached);
	session_use_begin(s);
}

void session_pty_detach(struct session *s, bool lost)
{
	s->terminals--;
	session_use_end(s);
	if (!lost || s->terminals > 0 || s->registry->closing)
		return;
	if (s->spec.on_pty_detach == DETACH_PAUSE && s->uses == 0)
		session_feed(s, E_PAUSE, END_NONE);
	else if (s->spec.on_pty_detach == DETACH_DESTROY)
		session_feed(s, E_DETACH_DESTROY, END_NONE);
}
