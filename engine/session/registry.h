/* SPDX-License-Identifier: Apache-2.0
 *
 * registry.h - the sessions of this server: in memory, by id, newest first.
 *
 * DOC: How it works
 *
 * The registry holds every session that has not ended, runs its state machine
 * and carries out the machine's actions on the broker, the agent and the store.
 * Ended sessions live on as rows in the store only, as soon as they are on disk.
 *
 * A session is shared: session_ref()/unref(). One that has left the registry
 * stays readable for who holds it. Everything runs on the loop.
 *
 * What is promised to a client is on disk first: a create is answered, and a
 * delete is, when the row is committed.
 */
#ifndef INIS_SESSION_REGISTRY_H
#define INIS_SESSION_REGISTRY_H

#include <sys/queue.h>
#include <uv.h>

#include "base/clock.h"
#include "base/id.h"
#include "session/agent.h"
#include "session/broker_client.h"
#include "session/machine.h"
#include "session/spec.h"
#include "store/store.h"

/* An operation waits for a session that is still being made at most so long. */
#define SESSION_WAIT_MS 60000
/* A destroy waits at most so long. */
#define SESSION_GONE_MS 40000

struct registry;
struct session;

/* err is NULL when what was waited for has come. */
typedef void (*session_done)(struct session *s, void *ctx, const struct inis_error *err);

enum wait_kind {
	WAIT_READY, /* usable, or never; a paused session is resumed for it */
	WAIT_SETTLED, /* made or failed, and on disk */
	WAIT_STORED, /* on disk as it is */
	WAIT_PAUSED, /* paused and on disk, or never; a live session is paused for it */
	WAIT_LIVE, /* live and on disk, or never; likewise resumed */
	WAIT_GONE, /* ended, and on disk */
};

struct session_wait {
	LIST_ENTRY(session_wait) link;
	enum wait_kind what;
	inis_ms deadline;
	session_done done;
	void *ctx;
};

/* A running exec of a session; the head of the object that runs it (api/exec_run.h). */
struct session_exec {
	LIST_ENTRY(session_exec) link;
	char id[INIS_PROC_NAME_MAX + 1];
};

struct session {
	struct registry *registry;
	TAILQ_ENTRY(session) link;
	unsigned refs;
	struct session_id id;
	struct machine machine;
	struct session_spec spec;
	char *idempotency_key; /* NULL = none */
	char idempotency_hash[65]; /* SHA-256 of the request, hex */
	char owner[INIS_KEY_ID_SIZE]; /* the key that made it; "" = not known */
	inis_ms created_at; /* wall clock, likewise below */
	inis_ms last_active_at;
	inis_ms ended_at;
	inis_ms paused_at; /* 0 = not paused */
	struct inis_error failure; /* why it never came up */
	struct unit_id unit; /* "" = none */
	uint32_t disk_kind; /* enum inis_disk_kind */
	uint32_t disk_mb;
	struct agent *agent;
	unsigned uses; /* operations and terminals going on */
	unsigned terminals; /* clients of terminals */
	inis_ms idle_at; /* of the process clock: when it has been idle for long enough; see idle.c */
	inis_ms kept_until; /* wall clock: last seen sign of a keep_alive process */
	uint64_t cpu_us; /* at the beginning of a sample; 0 = none is being taken */
	bool probing; /* whether it is idle is being found out */
	bool answered; /* a client knows the id: a failure must stay visible */
	bool listed;
	bool stored; /* has a row in the store */
	bool was_ready; /* its agent has answered once */
	bool dirty; /* that row is older than this */
	bool compared; /* had its unit when the running comparison began */
	bool compared_paused; /* and was paused */
	unsigned writes; /* on their way to the disk */
	struct inis_error write_error; /* of the last one that failed since */
	LIST_HEAD(, session_wait) waits;
	LIST_HEAD(, session_exec) execs;
};

struct registry_config {
	uv_loop_t *loop;
	struct inis_store *store; /* outlives the registry */
	int broker_fd; /* taken */
	unsigned sessions_max; /* live ones; 0 = no cap */
	unsigned key_sessions_max; /* the same of those that one key made */
	uint32_t pids_max;
	uint32_t disk_mb;
	void (*on_broker_lost)(void *ctx);
	void (*on_unit_gone)(void *ctx, const struct session_id *id); /* its processes left what they leave */
	void (*on_started)(void *ctx, const struct inis_error *err); /* the stored sessions are known; serve now */
	void *ctx;
};

struct registry_load {
	unsigned running; /* live or creating, paused ones not counted */
	unsigned paused;
	unsigned limit; /* 0 = none */
};

/* Reads the store and compares it with the broker's units; then on_started. */
struct registry *registry_open(const struct registry_config *config, struct inis_error *err);
/* Writes what is not on disk yet; sessions run on. The store must be closed after. */
void registry_close(struct registry *r);

struct session_create {
	struct session_spec spec; /* taken over on success */
	const char *idempotency_key; /* or NULL */
	const char *idempotency_hash;
	char owner[INIS_KEY_ID_SIZE];
};

/* The session that holds an idempotency key, or NULL. */
struct session *registry_by_key(struct registry *r, const char *key);
/* conflict (name), rate_limited (cap), size_unavailable, unavailable. The new session is CREATING. */
struct session *registry_create(struct registry *r, struct session_create *c, struct inis_error *err);

/* NULL when there is none that has not ended (or is not known any more). */
struct session *registry_find(struct registry *r, const struct session_id *id);
/* Newest first. before: NULL for the first page, else strictly after it in that order. */
struct session *registry_next(struct registry *r, inis_ms before_created, const char *before_id);
struct session *session_next(struct session *s);
void registry_load(const struct registry *r, struct registry_load *load);

/* What goes on now. */
struct registry_gauges {
	unsigned states[M_STATE_COUNT]; /* sessions */
	unsigned execs;
	unsigned terminals; /* clients of terminals */
	uint32_t pool_ready, pool_target; /* as the broker said last */
};
void registry_gauges(const struct registry *r, struct registry_gauges *g);
/* Asks the broker how its pool is; done(ctx) when it has said so or cannot. -1: it cannot be asked. */
int registry_ask_pool(struct registry *r, void (*done)(void *ctx), void *ctx);

/* 0, or rate_limited: one more session of this owner would be one too many. Paused ones count when they are woken. */
int registry_check_room(const struct registry *r, const char *owner, struct inis_error *err);

/* What sessions can start from, the default one first. */
const struct inis_broker_template *registry_templates(const struct registry *r, size_t *count);
/* 0 when a session can start from NAME or NAME@VERSION; not_found, template_version_unavailable. */
int registry_check_template(const struct registry *r, const char *ref, struct inis_error *err);

void session_ref(struct session *s);
void session_unref(struct session *s);

/* 0: the guest can be used now. -1: err says why not; session_not_live while CREATING means: wait. */
int session_check(const struct session *s, struct inis_error *err);
/* Shown as ended. */
bool session_ended(const struct session *s);
/* Nothing can be done with it any more but to look at it or delete it. */
bool session_over(const struct session *s);
/* Calls done at once or later: usable, or err. */
void session_wait_ready(struct session *s, inis_ms limit, session_done done, void *ctx);
/* Calls done when nothing of an ending session is left and that is on disk, or after limit. */
void session_wait_gone(struct session *s, inis_ms limit, session_done done, void *ctx);
/*
 * Calls done when the create has come to something, or after limit, and that is on
 * disk. err: why it was not stored. From then on the session counts as known to a client.
 */
void session_wait_settled(struct session *s, inis_ms limit, session_done done, void *ctx);
/* Ends the session; done when nothing of it is left and that is on disk, or when that takes too long. */
void session_delete(struct session *s, enum end_reason reason, session_done done, void *ctx);
/* First command done. */
void session_completed(struct session *s);
/* An operation used it. */
void session_touch(struct session *s);
/* An operation begins and ends: in between the session is not idle. */
void session_use_begin(struct session *s);
void session_use_end(struct session *s);
/* Paused, or on the way there or back. */
bool session_frozen(const struct session *s);
/*
 * A client of a terminal comes and goes. lost: without having been told of an end; then on_pty_detach applies, but
 * nothing is paused that others are using: their operations would hang, and the idle timer comes later.
 */
void session_pty_attach(struct session *s);
void session_pty_detach(struct session *s, bool lost);

/*
 * Freezes the session in place, or goes on with it. done when it is paused (live) and that is on disk, or err.
 * Of several callers at once each gets what it asked for, one after the other.
 */
void session_pause(struct session *s, inis_ms limit, session_done done, void *ctx);
void session_resume(struct session *s, inis_ms limit, session_done done, void *ctx);
/* The client of a leased session lives. Nothing without a lease. Gives the wall-clock time until which it holds. */
inis_ms session_renew_lease(struct session *s);

/* The stored form. New reference; NULL = no memory. */
json_t *session_doc(const struct session *s);
/* A session outside the registry from its row, for showing. Unref it. */
struct session *session_from_row(const struct inis_session_row *row, struct inis_error *err);

/* "creating", "live", "paused", "lifetime_expired", "failed" or "ended". */
const char *session_state(const struct session *s);

#endif
