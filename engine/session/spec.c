/* SPDX-License-Identifier: Apache-2.0
 *
 * spec.c - session descriptions and their JSON form.
 */
#include "session/spec.h"

#include <stdlib.h>
#include <string.h>

const char *const SPEC_SIZES[] = {"small", "medium", "large", "xlarge", NULL};
const char *const SPEC_IDLE_MODES[] = {"ops", "activity", NULL};
const char *const SPEC_DETACHES[] = {"keep_live", "pause", "destroy", NULL};
const char *const SPEC_CAPTURES[] = {"hash", "executable", "full", NULL};

const struct size_info SIZE_INFO[SIZE_COUNT] = {
	[SIZE_SMALL] = {1, 1024},
	[SIZE_MEDIUM] = {2, 4096},
	[SIZE_LARGE] = {4, 8192},
	[SIZE_XLARGE] = {8, 16384},
};

void spec_init(struct session_spec *s)
{
	*s = (struct session_spec){
		.size = SIZE_SMALL,
		.idle_mode = IDLE_OPS,
		.on_pty_detach = DETACH_PAUSE,
		.command_capture = CAPTURE_HASH,
		.idle_timeout_ms = SPEC_IDLE_TIMEOUT_MS,
		.wake_on_http = true,
	};
}

void spec_wipe_map(json_t *map)
{
	const char *key;
	json_t *value;

	json_object_foreach (map, key, value) {
		if (json_is_string(value))
			explicit_bzero((char *)(uintptr_t)json_string_value(value), json_string_length(value));
	}
}

void spec_free(struct session_spec *s)
{
	spec_wipe_map(s->secrets);
	free(s->name);
	free(s->external_id);
	free(s->template_name);
	json_decref(s->labels);
	json_decref(s->env);
	json_decref(s->secrets);
	json_decref(s->egress);
	memset(s, 0, sizeof(*s));
}

json_t *spec_to_json(const struct session_spec *s)
{
	return json_pack(
		"{s:s*, s:s*, s:s*, s:O*, s:O*, s:O*, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:b, s:b}",
		"name", s->name, "external_id", s->external_id, "template", s->template_name, "labels", s->labels,
		"env", s->env, "egress", s->egress, "size", s->size, "idle_mode", s->idle_mode, "on_pty_detach",
		s->on_pty_detach, "command_capture", s->command_capture, "idle_timeout_ms",
		(json_int_t)s->idle_timeout_ms, "idle_cpu_pct", (json_int_t)s->idle_cpu_pct, "idle_net_bytes",
		(json_int_t)s->idle_net_bytes, "max_lifetime_ms", (json_int_t)s->max_lifetime_ms, "paused_ttl_ms",
		(json_int_t)s->paused_ttl_ms, "lease_ms", (json_int_t)s->lease_ms, "no_sudo", s->no_sudo,
		"wake_on_http", s->wake_on_http, "destroy_on_completion", s->destroy_on_completion, "one_shot",
		s->one_shot);
}

static int copy_text(const json_t *doc, const char *name, char **to)
{
	const char *text = json_string_value(json_object_get(doc, name));

	if (!text)
		return 0;
	*to = strdup(text);
	return *to ? 0 : -1;
}

static json_t *copy_map(const json_t *doc, const char *name)
{
	json_t *map = json_object_get(doc, name);

	return json_is_object(map) ? json_incref(map) : NULL;
}

static void copy_int(const json_t *doc, const char *name, int64_t *to)
{
	const json_t *v = json_object_get(doc, name);

	if (json_is_integer(v))
		*to = json_integer_value(v);
}

static void copy_choice(const json_t *doc, const char *name, int count, int *to)
{
	const json_t *v = json_object_get(doc, name);

	if (json_is_integer(v) && json_integer_value(v) >= 0 && json_integer_value(v) < count)
		*to = (int)json_integer_value(v);
}

static void copy_bool(const json_t *doc, const char *name, bool *to)
{
	const json_t *v = json_object_get(doc, name);

	if (json_is_boolean(v))
		*to = json_is_true(v);
}

int spec_from_json(struct session_spec *s, const json_t *doc, const char *secrets, struct inis_error *err)
{
	spec_init(s);
	if (copy_text(doc, "name", &s->name) < 0 || copy_text(doc, "external_id", &s->external_id) < 0 ||
	    copy_text(doc, "template", &s->template_name) < 0) {
		spec_free(s);
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	}
	s->labels = copy_map(doc, "labels");
	s->env = copy_map(doc, "env");
	s->egress = copy_map(doc, "egress");
	s->secrets = secrets ? json_loads(secrets, 0, NULL) : NULL;
	copy_choice(doc, "size", SIZE_COUNT, &s->size);
	copy_choice(doc, "idle_mode", IDLE_MODE_COUNT, &s->idle_mode);
	copy_choice(doc, "on_pty_detach", DETACH_COUNT, &s->on_pty_detach);
	copy_choice(doc, "command_capture", CAPTURE_COUNT, &s->command_capture);
	copy_int(doc, "idle_timeout_ms", &s->idle_timeout_ms);
	copy_int(doc, "idle_cpu_pct", &s->idle_cpu_pct);
	copy_int(doc, "idle_net_bytes", &s->idle_net_bytes);
	copy_int(doc, "max_lifetime_ms", &s->max_lifetime_ms);
	copy_int(doc, "paused_ttl_ms", &s->paused_ttl_ms);
	copy_int(doc, "lease_ms", &s->lease_ms);
	copy_bool(doc, "no_sudo", &s->no_sudo);
	copy_bool(doc, "wake_on_http", &s->wake_on_http);
	copy_bool(doc, "destroy_on_completion", &s->destroy_on_completion);
	copy_bool(doc, "one_shot", &s->one_shot);
	return 0;
}

char *spec_secrets_text(const struct session_spec *s)
{
	return s->secrets ? json_dumps(s->secrets, JSON_COMPACT) : NULL;
}
