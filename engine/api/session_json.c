/* SPDX-License-Identifier: Apache-2.0
 *
 * session_json.c - the session object of the API.
 */
#include "api/session_json.h"

#include <string.h>

#include "api/object.h"

json_t *egress_json(const struct session *s)
{
	(void)s;
	/* A unit has no network but its own loopback: that is the truth whatever was asked for. */
	return json_pack("{s:s, s:[]}", "mode", "deny", "allow");
}

static json_t *names_of(json_t *map)
{
	json_t *list = json_array();
	const char *key;
	json_t *value;
	int failed = 0;

	json_object_foreach (map, key, value)
		failed |= json_array_append_new(list, json_string(key));
	if (!failed)
		return list;
	json_decref(list);
	return NULL;
}

static void put_state(struct object *o, const struct session *s)
{
	const char *state = session_state(s);

	object_text(o, "state", state);
	if (strcmp(state, "creating") == 0)
		object_text(o, "status_detail", "starting");
	else if (strcmp(state, "failed") == 0)
		object_text(o, "status_reason", s->failure.message[0] ? s->failure.message : "provisioning failed");
	else if (strcmp(state, "lifetime_expired") == 0)
		object_text(o, "status_reason", "the session is past its max_lifetime_ms");
	if (strcmp(state, "paused") == 0)
		object_text(o, "snapshot_tier", "hot");
	if (strcmp(state, "ended") != 0)
		return;
	object_time(o, "ended_at", s->ended_at ? s->ended_at : s->last_active_at);
	object_text(o, "end_reason", end_reason_name(s->machine.reason ? s->machine.reason : END_ERROR));
}

static void put_identity(struct object *o, const struct session *s)
{
	object_text(o, "name", s->spec.name);
	object_share(o, "labels", s->spec.labels);
	object_text(o, "external_id", s->spec.external_id);
	object_time(o, "created_at", s->created_at);
	object_time(o, "last_active_at", s->last_active_at);
}

static void put_timers(struct object *o, const struct session_spec *spec)
{
	object_int(o, "idle_timeout_ms", spec->idle_timeout_ms);
	object_text(o, "idle_mode", SPEC_IDLE_MODES[spec->idle_mode]);
	if (spec->idle_cpu_pct)
		object_int(o, "idle_busy_cpu_threshold_pct", spec->idle_cpu_pct);
	if (spec->idle_net_bytes)
		object_int(o, "idle_busy_network_bytes_per_sec", spec->idle_net_bytes);
	if (spec->max_lifetime_ms)
		object_int(o, "max_lifetime_ms", spec->max_lifetime_ms);
	object_text(o, "on_pty_detach", SPEC_DETACHES[spec->on_pty_detach]);
	object_int(o, "paused_ttl_ms", spec->paused_ttl_ms);
	if (spec->lease_ms)
		object_int(o, "lease_ms", spec->lease_ms);
}

static void put_machine(struct object *o, const struct session *s)
{
	const struct size_info *size = &SIZE_INFO[s->spec.size];

	object_bool(o, "no_sudo", s->spec.no_sudo);
	object_bool(o, "wake_on_http", s->spec.wake_on_http);
	object_text(o, "size", SPEC_SIZES[s->spec.size]);
	object_int(o, "vcpus", size->vcpus);
	object_int(o, "mem_mb", size->mem_mb);
	object_int(o, "disk_mb", s->disk_mb);
	object_text(o, "disk", s->disk_kind == INIS_DISK_HARD ? "hard" : "soft");
	object_text(o, "isolation", "container");
	object_text(o, "template", s->spec.template_name);
	object_take(o, "egress", egress_json(s));
}

json_t *session_json(const struct session *s)
{
	struct object o = object_new();

	object_text(&o, "session_id", s->id.s);
	put_state(&o, s);
	put_identity(&o, s);
	put_timers(&o, &s->spec);
	put_machine(&o, s);
	object_share(&o, "env", s->spec.env);
	if (s->spec.secrets)
		object_take(&o, "secret_names", names_of(s->spec.secrets));
	return object_done(&o);
}
