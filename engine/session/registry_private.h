/* SPDX-License-Identifier: Apache-2.0
 *
 * registry_private.h - what registry.c, session.c, lifecycle.c, pause.c, idle.c, persist.c and adopt.c share.
 */
#ifndef INIS_SESSION_REGISTRY_PRIVATE_H
#define INIS_SESSION_REGISTRY_PRIVATE_H

#include "session/registry.h"

#define COMPARE_EVERY_MS 30000
#define FLUSH_EVERY_MS   10000

TAILQ_HEAD(session_list, session);

struct registry {
	struct registry_config config;
	struct broker *broker;
	struct session_list sessions; /* newest first */
	void *by_id; /* tsearch() tree of struct session */
	uv_timer_t timer;
	inis_ms timer_at;
	inis_ms compare_at;
	inis_ms flush_at;
	inis_ms last_created;
	uint64_t host_mem_mb;
	uint32_t disk_kind;
	uint32_t pool_ready, pool_target;
	bool started;
	bool closing;
	bool comparing;
	struct inis_broker_unit *units; /* of the comparison that is running */
	size_t unit_count;
	struct template_rows {
		struct inis_broker_template *rows;
		size_t count;
	} templates, coming; /* what is known; what is being told */
	bool asking; /* for templates */
	bool ask_again;
};

/* registry.c */
void registry_add(struct registry *r, struct session *s);
void registry_remove(struct registry *r, struct session *s);
void registry_wake_at(struct registry *r, inis_ms when);

/* session.c */
struct session *session_new(struct registry *r, struct inis_error *err);
void session_set_timers(struct session *s);
void session_notify(struct session *s);
void session_end_waits(struct session *s, const struct inis_error *err);
void session_expire_waits(struct session *s, inis_ms now);
inis_ms session_next_wait(const struct session *s);
void session_wait_for(struct session *s, enum wait_kind what, inis_ms limit, session_done done, void *ctx);
bool session_waited_for(const struct session *s, enum wait_kind what);
void session_fail_waits(struct session *s, enum wait_kind what, const struct inis_error *err);

/* pause.c */
void session_pause_unit(struct session *s);
void session_freeze_unit(struct session *s); /* the agent knows of it */
void session_thaw_unit(struct session *s);
void session_pursue(struct session *s); /* goes where the waits want it to be */

/* idle.c */
void session_set_idle(struct session *s); /* after last_active_at was set */
inis_ms session_idle_due(const struct session *s);
void session_idle_tick(struct session *s, inis_ms now);

/* lifecycle.c */
void session_feed(struct session *s, enum machine_event event, enum end_reason reason);
void session_start_unit(struct session *s);
void session_open_agent(struct session *s, int fd);
void session_exited(struct registry *r, const struct unit_id *unit);
void registry_destroy_stray(struct registry *r, const struct unit_id *unit);
void registry_thaw_stray(struct registry *r, const struct unit_id *unit);
void registry_freeze_stray(struct registry *r, const struct unit_id *unit);

/* persist.c */
void session_persist(struct session *s);
void session_persist_later(struct session *s); /* nobody waits for it */
void session_retire(struct session *s); /* leaves the registry if it has ended and that is on disk */

/* templates.c */
void registry_ask_templates(struct registry *r);
void registry_free_templates(struct registry *r);

/* adopt.c */
int registry_load_rows(struct registry *r, struct inis_error *err);
void registry_compare(struct registry *r);

#endif
