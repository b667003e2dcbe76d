/* SPDX-License-Identifier: Apache-2.0
 *
 * persist.c - the stored form of a session: a document for everything, columns for what is searched.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "session/registry_private.h"

json_t *session_doc(const struct session *s)
{
	json_t *spec = spec_to_json(&s->spec);

	if (!spec)
		return NULL;
	return json_pack("{s:o, s:I, s:I, s:I, s:s*, s:i, s:i, s:s*, s:s*, s:s*}", "spec", spec, "created_at",
			 (json_int_t)s->created_at, "last_active_at", (json_int_t)s->last_active_at, "paused_at",
			 (json_int_t)s->paused_at, "status_reason", s->failure.message[0] ? s->failure.message : NULL,
			 "disk_kind", (int)s->disk_kind, "disk_mb", (int)s->disk_mb, "idempotency_key",
			 s->idempotency_key, "idempotency_hash", s->idempotency_key ? s->idempotency_hash : NULL,
			 "owner", s->owner[0] ? s->owner : NULL);
}

/* Not before: whoever looks for it would find it nowhere. A write that failed is repeated. */
void session_retire(struct session *s)
{
	if (s->machine.state == M_ENDED && s->writes == 0 && !(s->dirty && s->stored))
		registry_remove(s->registry, s);
}

static void not_stored(struct session *s, const struct inis_error *err)
{
	s->dirty = true;
	inis_log(INIS_LOG_ERROR, "session could not be stored", "session", s->id.s, "error", err->message, NULL);
}

static void on_stored(void *ctx, const struct inis_error *err)
{
	struct session *s = ctx;

	s->writes--;
	if (err) {
		s->write_error = *err;
		not_stored(s, err);
	}
	if (!s->registry->closing) {
		session_notify(s);
		session_retire(s);
	}
	session_unref(s);
}

static void on_stored_later(void *ctx, const struct inis_error *err)
{
	struct session *s = ctx;

	if (err)
		not_stored(s, err);
	session_unref(s);
}

static int put(struct session *s, bool later, struct inis_error *err)
{
	struct inis_session_row row = {.id = s->id,
				       .name = s->spec.name,
				       .external_id = s->spec.external_id,
				       .created_at = s->created_at,
				       .ended_at = s->machine.state == M_ENDED ? s->ended_at : 0};
	json_t *json = session_doc(s);
	cleanup_free char *doc = json ? json_dumps(json, JSON_COMPACT) : NULL;
	cleanup_free char *secrets = spec_secrets_text(&s->spec);
	int rc;

	json_decref(json);
	if (!doc || (s->spec.secrets && !secrets))
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	strncpy(row.state, machine_state_name(s->machine.state), sizeof(row.state) - 1);
	memcpy(row.unit, s->unit.s, sizeof(row.unit));
	row.end_reason = s->machine.reason ? end_reason_name(s->machine.reason) : NULL;
	row.doc = doc;
	/* An ended session has no use for its secrets any more. */
	row.secrets = s->machine.state == M_ENDED ? NULL : secrets;
	rc = later ? inis_store_session_put_later(s->registry->config.store, &row, on_stored_later, s, err)
		   : inis_store_session_put(s->registry->config.store, &row, on_stored, s, err);
	if (secrets)
		explicit_bzero(secrets, strlen(secrets));
	return rc;
}

void session_persist(struct session *s)
{
	/* A create that failed before anybody was told of it never happened. */
	if (session_over(s) && !s->was_ready && !s->answered) {
		if (s->stored)
			inis_store_session_forget(s->registry->config.store, &s->id);
		s->stored = s->dirty = false;
		return;
	}
	s->stored = true;
	s->dirty = false;
	memset(&s->write_error, 0, sizeof(s->write_error));
	session_ref(s);
	s->writes++;
	if (put(s, false, &s->write_error) < 0) {
		s->writes--;
		s->dirty = true;
		session_unref(s);
	}
}

void session_persist_later(struct session *s)
{
	session_ref(s);
	if (put(s, true, NULL) < 0) {
		s->dirty = true;
		session_unref(s);
	}
}

static void copy_failure(struct session *s, const json_t *doc)
{
	const char *text = json_string_value(json_object_get(doc, "status_reason"));

	if (text)
		inis_fail(&s->failure, INIS_UNAVAILABLE, "%s", text);
}

static void copy_owner(struct session *s, const json_t *doc)
{
	const char *owner = json_string_value(json_object_get(doc, "owner"));

	if (owner && strlen(owner) == sizeof(s->owner) - 1)
		memcpy(s->owner, owner, sizeof(s->owner));
}

static int copy_key(struct session *s, const json_t *doc, struct inis_error *err)
{
	const char *key = json_string_value(json_object_get(doc, "idempotency_key"));
	const char *hash = json_string_value(json_object_get(doc, "idempotency_hash"));

	if (!key || !hash || strlen(hash) != sizeof(s->idempotency_hash) - 1)
		return 0;
	s->idempotency_key = strdup(key);
	if (!s->idempotency_key)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	memcpy(s->idempotency_hash, hash, sizeof(s->idempotency_hash));
	return 0;
}

static int read_doc(struct session *s, const json_t *doc, const char *secrets, struct inis_error *err)
{
	if (spec_from_json(&s->spec, json_object_get(doc, "spec"), secrets, err) < 0 || copy_key(s, doc, err) < 0)
		return -1;
	s->last_active_at = json_integer_value(json_object_get(doc, "last_active_at"));
	s->paused_at = json_integer_value(json_object_get(doc, "paused_at"));
	s->disk_kind = (uint32_t)json_integer_value(json_object_get(doc, "disk_kind"));
	s->disk_mb = (uint32_t)json_integer_value(json_object_get(doc, "disk_mb"));
	copy_owner(s, doc);
	copy_failure(s, doc);
	return 0;
}

struct session *session_from_row(const struct inis_session_row *row, struct inis_error *err)
{
	enum machine_state state = M_ENDED;
	enum end_reason reason = END_NONE;
	struct session *s = session_new(NULL, err);
	json_t *doc;
	int rc;

	if (!s)
		return NULL;
	doc = json_loads(row->doc, 0, NULL);
	rc = json_is_object(doc) ? read_doc(s, doc, row->secrets, err)
				 : inis_fail(err, INIS_INTERNAL, "stored session cannot be read");
	json_decref(doc);
	if (rc < 0) {
		session_unref(s);
		return NULL;
	}
	s->id = row->id;
	s->created_at = row->created_at;
	s->ended_at = row->ended_at;
	s->stored = s->answered = s->was_ready = true;
	if (row->end_reason)
		end_reason_parse(row->end_reason, &reason);
	machine_state_parse(row->state, &state);
	unit_id_parse(row->unit, &s->unit);
	session_set_timers(s);
	machine_restore(&s->machine, inis_now_ms(), state, s->unit.s[0] ? UNIT_PRESENT : UNIT_NONE, reason);
	return s;
}
