/* SPDX-License-Identifier: Apache-2.0
 *
 * registry.c - the sessions of this server: look-up, order, caps and the one timer.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/metrics.h"
#include "session/registry_private.h"

#define IDEMPOTENCY_MS (24LL * 3600 * 1000)

/* ---- look-up and order ---- */

static int compare_ids(const void *a, const void *b)
{
	return strcmp(((const struct session *)a)->id.s, ((const struct session *)b)->id.s);
}

struct session *registry_find(struct registry *r, const struct session_id *id)
{
	struct session key = {.id = *id};
	struct session **found = tfind(&key, &r->by_id, compare_ids);

	return found ? *found : NULL;
}

/* Whether s comes after (created, id) in the order newest first. */
static bool is_after(const struct session *s, inis_ms created, const char *id)
{
	return s->created_at < created || (s->created_at == created && strcmp(s->id.s, id) < 0);
}

void registry_add(struct registry *r, struct session *s)
{
	struct session *at;

	session_ref(s);
	s->listed = true;
	tsearch(s, &r->by_id, compare_ids);
	TAILQ_FOREACH (at, &r->sessions, link) {
		if (is_after(at, s->created_at, s->id.s)) {
			TAILQ_INSERT_BEFORE(at, s, link);
			return;
		}
	}
	TAILQ_INSERT_TAIL(&r->sessions, s, link);
}

void registry_remove(struct registry *r, struct session *s)
{
	if (!s->listed)
		return;
	s->listed = false;
	tdelete(s, &r->by_id, compare_ids);
	TAILQ_REMOVE(&r->sessions, s, link);
	session_unref(s);
}

struct session *registry_next(struct registry *r, inis_ms before_created, const char *before_id)
{
	struct session *s;

	TAILQ_FOREACH (s, &r->sessions, link) {
		if (!before_id || is_after(s, before_created, before_id))
			return s;
	}
	return NULL;
}

struct session *session_next(struct session *s)
{
	return TAILQ_NEXT(s, link);
}

void registry_load(const struct registry *r, struct registry_load *load)
{
	const struct session *s;

	*load = (struct registry_load){.limit = r->config.sessions_max};
	TAILQ_FOREACH (s, &r->sessions, link) {
		if (s->machine.state == M_PAUSED)
			load->paused++;
		else if (!session_over(s))
			load->running++;
	}
}

void registry_gauges(const struct registry *r, struct registry_gauges *g)
{
	const struct session *s;
	const struct session_exec *e;

	*g = (struct registry_gauges){.pool_ready = r->pool_ready, .pool_target = r->pool_target};
	TAILQ_FOREACH (s, &r->sessions, link) {
		g->states[s->machine.state]++;
		g->terminals += s->terminals;
		LIST_FOREACH (e, &s->execs, link)
			g->execs++;
	}
}

/* ---- caps ---- */

static unsigned running_of(const struct registry *r, const char *owner)
{
	const struct session *s;
	unsigned n = 0;

	TAILQ_FOREACH (s, &r->sessions, link)
		n += s->machine.state != M_PAUSED && !session_over(s) && strcmp(s->owner, owner) == 0;
	return n;
}

int registry_check_room(const struct registry *r, const char *owner, struct inis_error *err)
{
	unsigned key_max = r->config.key_sessions_max;
	struct registry_load load;

	registry_load(r, &load);
	if (load.limit && load.running >= load.limit) {
		inis_count(&inis_metrics.limited[LIMIT_SESSIONS]);
		return inis_fail(err, INIS_RATE_LIMITED, "%u sessions are running, which is the limit", load.running);
	}
	if (key_max && owner[0] && running_of(r, owner) >= key_max) {
		inis_count(&inis_metrics.limited[LIMIT_KEY_SESSIONS]);
		return inis_fail(err, INIS_RATE_LIMITED, "%u sessions of this key are running, which is its limit",
				 key_max);
	}
	return 0;
}

/* ---- create ---- */

struct session *registry_by_key(struct registry *r, const char *key)
{
	inis_ms oldest = inis_wall_ms() - IDEMPOTENCY_MS;
	struct session *s;

	TAILQ_FOREACH (s, &r->sessions, link) {
		if (s->idempotency_key && !session_ended(s) && s->created_at > oldest &&
		    strcmp(s->idempotency_key, key) == 0)
			return s;
	}
	return NULL;
}

static bool name_taken(const struct registry *r, const char *name)
{
	const struct session *s;

	TAILQ_FOREACH (s, &r->sessions, link) {
		if (s->spec.name && !session_ended(s) && strcmp(s->spec.name, name) == 0)
			return true;
	}
	return false;
}

static int admit(const struct registry *r, const struct session_create *c, struct inis_error *err)
{
	const struct session_spec *spec = &c->spec;

	if (spec->name && name_taken(r, spec->name))
		return inis_fail(err, INIS_CONFLICT, "a session with the name \"%s\" exists", spec->name);
	if (SIZE_INFO[spec->size].mem_mb > r->host_mem_mb)
		return inis_fail(err, INIS_SIZE_UNAVAILABLE, "size %s needs %u MiB of memory; this machine has %llu",
				 SPEC_SIZES[spec->size], SIZE_INFO[spec->size].mem_mb,
				 (unsigned long long)r->host_mem_mb);
	return registry_check_room(r, c->owner, err);
}

static int set_key(struct session *s, const struct session_create *c, struct inis_error *err)
{
	if (!c->idempotency_key)
		return 0;
	s->idempotency_key = strdup(c->idempotency_key);
	if (!s->idempotency_key)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	memcpy(s->idempotency_hash, c->idempotency_hash, sizeof(s->idempotency_hash) - 1);
	return 0;
}

struct session *registry_create(struct registry *r, struct session_create *c, struct inis_error *err)
{
	struct session *s;
	inis_ms now = inis_wall_ms();

	if (r->closing) {
		inis_fail(err, INIS_UNAVAILABLE, "the server is stopping");
		return NULL;
	}
	if (admit(r, c, err) < 0)
		return NULL;
	s = session_new(r, err);
	if (!s || session_id_new(&s->id, err) < 0 || set_key(s, c, err) < 0) {
		session_unref(s);
		return NULL;
	}
	memcpy(s->owner, c->owner, sizeof(s->owner));
	s->spec = c->spec;
	memset(&c->spec, 0, sizeof(c->spec));
	/* Never two alike, so that the order of the list is the order of creation. */
	r->last_created = now > r->last_created ? now : r->last_created + 1;
	s->created_at = s->last_active_at = r->last_created;
	s->disk_mb = r->config.disk_mb;
	s->disk_kind = r->disk_kind;
	machine_init(&s->machine, inis_now_ms(), INIS_NEVER, INIS_NEVER);
	session_set_timers(s);
	registry_add(r, s);
	session_start_unit(s);
	/* The disk works beside the broker and the agent. */
	session_persist(s);
	registry_wake_at(r, machine_next_tick(&s->machine));
	session_unref(s); /* the registry's reference is left */
	return s;
}

/* ---- timer ---- */

static bool session_due(const struct session *s, inis_ms now)
{
	return machine_next_tick(&s->machine) <= now || session_next_wait(s) <= now || session_idle_due(s) <= now;
}

static void run_due(struct registry *r, inis_ms now)
{
	struct session *s;

	/* Each may end others, so every one starts the search anew; none stays due. */
	for (;;) {
		TAILQ_FOREACH (s, &r->sessions, link) {
			if (session_due(s, now))
				break;
		}
		if (!s)
			return;
		session_ref(s);
		session_expire_waits(s, now);
		session_feed(s, E_TICK, END_NONE);
		session_idle_tick(s, now);
		session_unref(s);
	}
}

static void flush_dirty(struct registry *r)
{
	struct session *s;

	TAILQ_FOREACH (s, &r->sessions, link) {
		if (s->dirty && s->stored)
			session_persist(s);
	}
}

static inis_ms first_due(const struct registry *r)
{
	inis_ms due = r->compare_at < r->flush_at ? r->compare_at : r->flush_at;
	const struct session *s;

	TAILQ_FOREACH (s, &r->sessions, link) {
		if (machine_next_tick(&s->machine) < due)
			due = machine_next_tick(&s->machine);
		if (session_next_wait(s) < due)
			due = session_next_wait(s);
		if (session_idle_due(s) < due)
			due = session_idle_due(s);
	}
	return due;
}

static void on_timer(uv_timer_t *timer)
{
	struct registry *r = timer->data;
	inis_ms now = inis_now_ms();

	r->timer_at = INIS_NEVER;
	run_due(r, now);
	if (now >= r->flush_at) {
		r->flush_at = inis_deadline_in(FLUSH_EVERY_MS);
		flush_dirty(r);
	}
	if (now >= r->compare_at) {
		r->compare_at = inis_deadline_in(COMPARE_EVERY_MS);
		registry_compare(r);
	}
	registry_wake_at(r, first_due(r));
}

void registry_wake_at(struct registry *r, inis_ms when)
{
	inis_ms now;

	if (r->closing || when >= r->timer_at)
		return;
	r->timer_at = when;
	now = inis_now_ms();
	uv_timer_start(&r->timer, on_timer, when > now ? (uint64_t)(when - now) : 0, 0);
}

/* ---- open and close ---- */

static void on_exited(void *ctx, const struct unit_id *unit)
{
	session_exited(ctx, unit);
}

static void on_templates(void *ctx)
{
	registry_ask_templates(ctx);
}

static void on_lost(void *ctx)
{
	struct registry *r = ctx;

	inis_log(INIS_LOG_ERROR, "the broker has gone away", NULL);
	r->config.on_broker_lost(r->config.ctx);
}

static void take_pool(struct registry *r, const struct inis_broker_msg *reply)
{
	r->pool_ready = reply->u.hello.pool_ready;
	r->pool_target = reply->u.hello.pool_target;
}

static void on_hello(void *ctx, const struct inis_broker_msg *reply, int *fd, const struct inis_error *err)
{
	struct registry *r = ctx;
	struct inis_error bad = INIS_ERROR_INIT;

	(void)fd;
	if (err) {
		r->config.on_started(r->config.ctx, err);
		return;
	}
	if (reply->u.hello.version != INIS_BROKER_VERSION ||
	    reply->u.hello.struct_size != sizeof(struct inis_broker_msg)) {
		inis_fail(&bad, INIS_INTERNAL, "the broker is of another build");
		r->config.on_started(r->config.ctx, &bad);
		return;
	}
	r->host_mem_mb = reply->u.hello.host_mem_mb;
	r->disk_kind = reply->u.hello.disk_kind;
	take_pool(r, reply);
	registry_ask_templates(r);
	registry_compare(r);
}

static int send_hello(struct registry *r, broker_reply reply, void *ctx, struct inis_error *err)
{
	struct inis_broker_msg m;

	inis_broker_msg_init(&m, INIS_B_HELLO, 0);
	m.u.hello.version = INIS_BROKER_VERSION;
	m.u.hello.struct_size = sizeof(struct inis_broker_msg);
	return broker_send(r->broker, &m, reply, ctx, err);
}

static int greet(struct registry *r, struct inis_error *err)
{
	return send_hello(r, on_hello, r, err);
}

struct pool_question {
	struct registry *registry;
	void (*done)(void *ctx);
	void *ctx;
};

static void on_pool(void *ctx, const struct inis_broker_msg *reply, int *fd, const struct inis_error *err)
{
	struct pool_question *q = ctx;

	(void)fd;
	if (!err)
		take_pool(q->registry, reply);
	q->done(q->ctx);
	free(q);
}

int registry_ask_pool(struct registry *r, void (*done)(void *ctx), void *ctx)
{
	struct pool_question *q = malloc(sizeof(*q));

	if (!q)
		return -1;
	*q = (struct pool_question){r, done, ctx};
	if (send_hello(r, on_pool, q, NULL) == 0)
		return 0;
	free(q);
	return -1;
}

struct registry *registry_open(const struct registry_config *config, struct inis_error *err)
{
	static const struct broker_events events = {
		.on_exited = on_exited, .on_templates = on_templates, .on_lost = on_lost};
	struct registry *r = calloc(1, sizeof(*r));

	if (!r) {
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		return NULL;
	}
	r->config = *config;
	r->timer_at = INIS_NEVER;
	r->compare_at = inis_deadline_in(COMPARE_EVERY_MS);
	r->flush_at = inis_deadline_in(FLUSH_EVERY_MS);
	TAILQ_INIT(&r->sessions);
	uv_timer_init(config->loop, &r->timer);
	r->timer.data = r;
	r->broker = broker_open(config->loop, config->broker_fd, &events, r, err);
	if (!r->broker || registry_load_rows(r, err) < 0 || greet(r, err) < 0)
		return NULL; /* the process ends */
	return r;
}

static void on_timer_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void registry_close(struct registry *r)
{
	static const struct inis_error stopping = {.code = INIS_UNAVAILABLE, .message = "the server is stopping"};
	struct session *s;

	flush_dirty(r);
	r->closing = true;
	while ((s = TAILQ_FIRST(&r->sessions))) {
		session_ref(s);
		agent_close(s->agent, &stopping);
		s->agent = NULL;
		session_end_waits(s, &stopping);
		registry_remove(r, s);
		session_unref(s);
	}
	broker_close(r->broker);
	free(r->units);
	registry_free_templates(r);
	uv_close((uv_handle_t *)&r->timer, on_timer_closed);
}
