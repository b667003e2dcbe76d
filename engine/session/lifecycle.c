/* SPDX-License-Identifier: Apache-2.0
 *
 * lifecycle.c - carries out what the state machine decides: on the broker, the agent and the store.
 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/metrics.h"
#include "session/registry_private.h"

/* ---- unit ---- */

static void unit_gone(struct session *s)
{
	const struct registry_config *config = &s->registry->config;

	if (config->on_unit_gone)
		config->on_unit_gone(config->ctx, &s->id);
	session_feed(s, E_UNIT_DESTROYED, END_NONE);
}

static void on_destroyed(void *ctx, const struct inis_broker_msg *reply, int *fd, const struct inis_error *err)
{
	struct session *s = ctx;

	(void)reply;
	(void)fd;
	if (err) {
		inis_log(INIS_LOG_WARN, "unit could not be destroyed", "session", s->id.s, "unit", s->unit.s, "error",
			 err->message, NULL);
		/* The machine asks again when its deadline is over; whoever waits is told what is left. */
		session_fail_waits(s, WAIT_GONE, err);
	} else {
		unit_gone(s);
	}
	session_unref(s);
}

static void destroy_unit(struct session *s)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct inis_broker_msg m;

	inis_broker_msg_init(&m, INIS_B_DESTROY, 0);
	m.unit_id = s->unit;
	session_ref(s);
	if (broker_send(s->registry->broker, &m, on_destroyed, s, &err) < 0) {
		inis_log(INIS_LOG_WARN, "unit could not be destroyed", "session", s->id.s, "error", err.message, NULL);
		session_unref(s);
	}
}

static void on_stray_done(void *ctx, const struct inis_broker_msg *reply, int *fd, const struct inis_error *err)
{
	(void)ctx;
	(void)reply;
	(void)fd;
	if (err)
		inis_log(INIS_LOG_WARN, "stray unit could not be put right", "error", err->message, NULL);
}

/* When it cannot be sent now, the next comparison finds the unit again. */
static void put_right(struct registry *r, const struct unit_id *unit, enum inis_broker_verb verb)
{
	struct inis_broker_msg m;

	inis_broker_msg_init(&m, verb, 0);
	m.unit_id = *unit;
	broker_send(r->broker, &m, on_stray_done, NULL, NULL);
}

void registry_destroy_stray(struct registry *r, const struct unit_id *unit)
{
	inis_log(INIS_LOG_WARN, "destroying a unit without a session", "unit", unit->s, NULL);
	put_right(r, unit, INIS_B_DESTROY);
}

void registry_thaw_stray(struct registry *r, const struct unit_id *unit)
{
	inis_log(INIS_LOG_WARN, "thawing the frozen unit of a live session", "unit", unit->s, NULL);
	put_right(r, unit, INIS_B_THAW);
}

void registry_freeze_stray(struct registry *r, const struct unit_id *unit)
{
	inis_log(INIS_LOG_WARN, "freezing the running unit of a paused session", "unit", unit->s, NULL);
	put_right(r, unit, INIS_B_FREEZE);
}

void session_exited(struct registry *r, const struct unit_id *unit)
{
	struct session *s;

	TAILQ_FOREACH (s, &r->sessions, link) {
		if (strcmp(s->unit.s, unit->s) == 0)
			break;
	}
	if (!s) {
		registry_destroy_stray(r, unit);
		return;
	}
	inis_fail(&s->failure, INIS_SESSION_UNAVAILABLE, "the sandbox stopped by itself");
	session_feed(s, E_UNIT_LOST, END_NONE);
}

/* ---- agent ---- */

static void on_agent_ready(void *ctx)
{
	struct session *s = ctx;

	if (s->machine.state == M_CREATING)
		session_feed(s, E_UNIT_READY, END_NONE);
}

static void on_connected(void *ctx, const struct inis_broker_msg *reply, int *fd, const struct inis_error *err)
{
	struct session *s = ctx;

	(void)reply;
	if (s->agent && !err && *fd >= 0) {
		agent_attach(s->agent, take_fd(fd));
	} else if (s->agent) {
		inis_log(INIS_LOG_WARN, "agent cannot be reached", "session", s->id.s, "error",
			 err ? err->message : "no descriptor", NULL);
		agent_unreachable(s->agent);
	}
	session_unref(s);
}

static void on_agent_connect(void *ctx)
{
	struct session *s = ctx;
	struct inis_broker_msg m;

	inis_broker_msg_init(&m, INIS_B_CONNECT, 0);
	m.unit_id = s->unit;
	session_ref(s);
	if (broker_send(s->registry->broker, &m, on_connected, s, NULL) < 0) {
		agent_unreachable(s->agent);
		session_unref(s);
	}
}

static void on_agent_quiet(void *ctx)
{
	struct session *s = ctx;

	if (s->machine.state == M_PAUSING)
		session_freeze_unit(s);
}

static void on_agent_lost(void *ctx)
{
	struct session *s = ctx;

	inis_log(INIS_LOG_ERROR, "agent lost", "session", s->id.s, NULL);
	if (s->machine.state != M_CREATING)
		return;
	inis_fail(&s->failure, INIS_UNAVAILABLE, "the sandbox did not answer");
	session_feed(s, E_UNIT_LOST, END_NONE);
}

void session_open_agent(struct session *s, int fd)
{
	static const struct agent_owner owner = {
		.on_ready = on_agent_ready,
		.on_connect = on_agent_connect,
		.on_lost = on_agent_lost,
		.on_quiet = on_agent_quiet,
	};
	cleanup_close int own = fd;

	s->agent = agent_new(s->registry->config.loop, &owner, s, &s->failure);
	if (!s->agent)
		session_feed(s, E_UNIT_LOST, END_NONE);
	else if (own >= 0)
		agent_attach(s->agent, take_fd(&own));
	else
		on_agent_connect(s);
}

/* ---- create ---- */

static void on_created(void *ctx, const struct inis_broker_msg *reply, int *fd, const struct inis_error *err)
{
	struct session *s = ctx;

	inis_count(&inis_metrics.creates[err ? CREATE_FAILED : reply->u.unit.pooled ? CREATE_POOLED : CREATE_UNPOOLED]);
	if (err) {
		s->failure = *err;
		inis_log(INIS_LOG_WARN, "unit could not be made", "session", s->id.s, "error", err->message, NULL);
		session_feed(s, E_UNIT_REFUSED, END_NONE);
		session_unref(s);
		return;
	}
	s->unit = reply->unit_id;
	if (reply->u.unit.disk_kind)
		s->disk_kind = reply->u.unit.disk_kind;
	if (reply->u.unit.disk_mb)
		s->disk_mb = reply->u.unit.disk_mb;
	session_feed(s, E_UNIT_MADE, END_NONE);
	if (s->machine.state == M_CREATING)
		session_open_agent(s, take_fd(fd));
	session_unref(s);
}

void session_start_unit(struct session *s)
{
	const struct size_info *size = &SIZE_INFO[s->spec.size];
	struct inis_broker_msg m;

	inis_broker_msg_init(&m, INIS_B_CREATE, 0);
	m.u.create = (struct inis_broker_create){
		.session = s->id,
		.flags = s->spec.no_sudo ? INIS_CREATE_NO_SUDO : 0,
		.vcpus = size->vcpus,
		.mem_mb = size->mem_mb,
		.pids_max = s->registry->config.pids_max,
		.disk_mb = s->disk_mb,
	};
	snprintf(m.u.create.hostname, sizeof(m.u.create.hostname), "%s", s->id.s);
	if (s->spec.template_name)
		snprintf(m.u.create.template_name, sizeof(m.u.create.template_name), "%s", s->spec.template_name);
	session_ref(s);
	if (broker_send(s->registry->broker, &m, on_created, s, &s->failure) < 0) {
		inis_count(&inis_metrics.creates[CREATE_FAILED]);
		session_feed(s, E_UNIT_REFUSED, END_NONE);
		session_unref(s);
	}
}

/* ---- actions ---- */

/* What running calls are told when their session goes. */
static void say_why(const struct session *s, struct inis_error *err)
{
	if (session_check(s, err) == 0)
		inis_fail(err, INIS_SESSION_NOT_LIVE, "session %s is not ready", s->id.s);
}

static void drop_agent(struct session *s)
{
	struct inis_error why = INIS_ERROR_INIT;
	struct agent *a = s->agent;

	say_why(s, &why);
	s->agent = NULL;
	agent_close(a, &why);
}

static void log_state(const struct session *s)
{
	inis_log(INIS_LOG_INFO, "session state", "session", s->id.s, "state", machine_state_name(s->machine.state),
		 "reason", s->machine.reason ? end_reason_name(s->machine.reason) : NULL, "unit",
		 s->unit.s[0] ? s->unit.s : NULL, NULL);
}

void session_feed(struct session *s, enum machine_event event, enum end_reason reason)
{
	bool pausing = s->machine.state == M_PAUSING;
	unsigned actions = machine_step(&s->machine, event, reason, inis_now_ms());

	if (actions & A_REFUSED)
		return;
	session_ref(s);
	if (actions & A_CHANGED)
		log_state(s);
	/* It is over for its users when it begins to end. */
	if (s->ended_at == 0 && (s->machine.state == M_ENDING || s->machine.state == M_ENDED))
		s->ended_at = inis_wall_ms();
	if ((actions & A_CHANGED) && s->machine.state == M_LIVE)
		session_touch(s);
	/* The freeze was refused, or came too late: the agent has stopped its clock for it. */
	if (pausing && s->machine.state == M_LIVE && s->agent)
		agent_go_on(s->agent);
	if (actions & A_DROP_AGENT)
		drop_agent(s);
	if (actions & A_DESTROY_UNIT)
		destroy_unit(s);
	if (actions & A_PAUSE_UNIT)
		session_pause_unit(s);
	if (actions & A_RESUME_UNIT)
		session_thaw_unit(s);
	if (event == E_UNIT_READY)
		s->was_ready = true;
	/* What the create is answered for was stored while its unit was being made; this adds which one it is. */
	if ((actions & A_PERSIST) && event == E_UNIT_READY)
		session_persist_later(s);
	else if (actions & A_PERSIST)
		session_persist(s);
	session_retire(s);
	session_notify(s);
	registry_wake_at(s->registry, machine_next_tick(&s->machine));
	session_unref(s);
}
