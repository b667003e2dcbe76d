/* SPDX-License-Identifier: Apache-2.0
 *
 * create_fields.c - reads and checks a create request, before anything is made.
 */
#include "api/create_fields.h"

#include <stdlib.h>
#include <string.h>

#include "api/fields.h"
#include "base/id.h"

#define TIMER_MIN_MS 1000
#define TIMER_MAX_MS 3153600000000LL /* a hundred years */

static int copy(const char *text, char **to, struct inis_error *err)
{
	if (!text)
		return 0;
	*to = strdup(text);
	return *to ? 0 : inis_fail(err, INIS_UNAVAILABLE, "out of memory");
}

static int read_identity(const json_t *b, struct session_spec *s, struct inis_error *err)
{
	const char *name = NULL, *external_id = NULL;
	json_t *labels = NULL;

	if (field_text(b, "name", 1, 128, &name, err) < 0 ||
	    field_text(b, "external_id", 1, 255, &external_id, err) < 0 || field_labels(b, "labels", &labels, err) < 0)
		return -1;
	if (name && !text_printable(name))
		return inis_fail_field(err, "name", "must be printable text");
	s->labels = json_incref(labels);
	return copy(name, &s->name, err) < 0 || copy(external_id, &s->external_id, err) < 0 ? -1 : 0;
}

static int read_timers(const json_t *b, struct session_spec *s, struct inis_error *err)
{
	if (field_int(b, "max_lifetime_ms", TIMER_MIN_MS, TIMER_MAX_MS, &s->max_lifetime_ms, err) < 0 ||
	    field_int(b, "idle_timeout_ms", TIMER_MIN_MS, TIMER_MAX_MS, &s->idle_timeout_ms, err) < 0 ||
	    field_choice(b, "idle_mode", SPEC_IDLE_MODES, &s->idle_mode, err) < 0 ||
	    field_int(b, "idle_busy_cpu_threshold_pct", 0, 6400, &s->idle_cpu_pct, err) < 0 ||
	    field_int(b, "idle_busy_network_bytes_per_sec", 0, FIELD_INT_MAX, &s->idle_net_bytes, err) < 0 ||
	    field_int(b, "paused_ttl_ms", -FIELD_INT_MAX, TIMER_MAX_MS, &s->paused_ttl_ms, err) < 0 ||
	    field_int(b, "lease_ms", TIMER_MIN_MS, TIMER_MAX_MS, &s->lease_ms, err) < 0 ||
	    field_choice(b, "on_pty_detach", SPEC_DETACHES, &s->on_pty_detach, err) < 0)
		return -1;
	if (s->idle_mode == IDLE_ACTIVITY && s->idle_timeout_ms < SPEC_ACTIVITY_IDLE_MS)
		s->idle_timeout_ms = SPEC_ACTIVITY_IDLE_MS;
	return 0;
}

static int read_switches(const json_t *b, struct session_spec *s, struct inis_error *err)
{
	if (field_choice(b, "size", SPEC_SIZES, &s->size, err) < 0 || field_bool(b, "no_sudo", &s->no_sudo, err) < 0 ||
	    field_bool(b, "wake_on_http", &s->wake_on_http, err) < 0 ||
	    field_bool(b, "destroy_on_completion", &s->destroy_on_completion, err) < 0)
		return -1;
	return field_choice(b, "command_capture", SPEC_CAPTURES, &s->command_capture, err);
}

static int read_env(const json_t *b, struct session_spec *s, struct inis_error *err)
{
	json_t *env = NULL, *secrets = NULL;

	if (field_env(b, "env", &env, err) < 0 || field_env(b, "secrets", &secrets, err) < 0)
		return -1;
	if (json_object_size(env) + json_object_size(secrets) > ENV_NAMES_MAX)
		return inis_fail_field(err, "secrets", "`env` and `secrets` must have at most %d members together",
				       ENV_NAMES_MAX);
	s->env = json_incref(env);
	/* A copy of its own: it is wiped when the session goes. */
	s->secrets = secrets ? json_deep_copy(secrets) : NULL;
	return secrets && !s->secrets ? inis_fail(err, INIS_UNAVAILABLE, "out of memory") : 0;
}

static bool template_well_formed(const char *ref)
{
	const char *at = strchr(ref, '@');
	char name[64];
	size_t n = at ? (size_t)(at - ref) : strlen(ref);

	if (n >= sizeof(name))
		return false;
	memcpy(name, ref, n);
	name[n] = '\0';
	return text_is_name(name) && (!at || (strlen(at + 1) <= 62 && proc_name_valid(at + 1)));
}

static int read_template(const json_t *b, struct session_spec *s, struct inis_error *err)
{
	const char *ref = NULL;

	if (field_text(b, "template", 1, 128, &ref, err) < 0)
		return -1;
	if (!ref || strcmp(ref, "base") == 0)
		return 0;
	if (!template_well_formed(ref))
		return inis_fail_field(err, "template", "must be NAME or NAME@VERSION");
	return copy(ref, &s->template_name, err);
}

static int check_hosts(json_t *hosts, struct inis_error *err)
{
	size_t i;
	json_t *host;

	json_array_foreach (hosts, i, host) {
		if (!json_is_string(host) || json_string_length(host) < 1 || json_string_length(host) > 255 ||
		    strlen(json_string_value(host)) != json_string_length(host))
			return inis_fail_field(err, "egress.allow", "items must be hosts of 1 to 255 bytes");
	}
	return 0;
}

static int read_egress(const json_t *b, struct session_spec *s, struct inis_error *err)
{
	static const char *const modes[] = {"allow", "deny", NULL};
	json_t *egress = json_object_get(b, "egress");
	json_t *hosts = NULL;
	const char *name = json_object_get(egress, "mode") ? "mode" : "default"; /* older spelling */
	int mode = 0;

	if (!egress || json_is_null(egress))
		return 0;
	if (!json_is_object(egress))
		return inis_fail_field(err, "egress", "must be an object");
	if (field_required(egress, name, NULL) < 0)
		return inis_fail_field(err, "egress.mode", "is required");
	if (field_choice(egress, name, modes, &mode, NULL) < 0)
		return inis_fail_field(err, "egress.mode", "must be one of: allow, deny");
	if (field_array(egress, "allow", 1024, &hosts, NULL) < 0)
		return inis_fail_field(err, "egress.allow", "must be an array of at most 1024 hosts");
	if (check_hosts(hosts, err) < 0)
		return -1;
	s->egress = json_pack("{s:s, s:O*}", "mode", modes[mode], "allow", hosts);
	return s->egress ? 0 : inis_fail(err, INIS_UNAVAILABLE, "out of memory");
}

/* Members that name something which cannot exist here, or a part that is not built. */
static int refuse_unbuilt(const json_t *b, struct inis_error *err)
{
	const char *volume = NULL, *checkpoint = NULL;
	json_t *connectors = NULL, *connections = NULL;
	const json_t *artifacts = json_object_get(b, "artifacts");
	bool events = false;

	if (field_text(b, "volume_id", 1, 64, &volume, err) < 0 ||
	    field_text(b, "from_checkpoint", 1, 64, &checkpoint, err) < 0 ||
	    field_array(b, "connectors", 64, &connectors, err) < 0 ||
	    field_array(b, "connections", 16, &connections, err) < 0 || field_bool(b, "events", &events, err) < 0)
		return -1;
	if (artifacts && !json_is_null(artifacts) && !json_is_object(artifacts))
		return inis_fail_field(err, "artifacts", "must be an object");
	if (volume)
		return inis_fail(err, INIS_NOT_FOUND, "volume \"%s\" does not exist", volume);
	if (checkpoint)
		return inis_fail(err, INIS_NOT_FOUND, "checkpoint \"%s\" does not exist", checkpoint);
	if (json_array_size(connectors) > 0)
		return inis_fail(err, INIS_NOT_FOUND, "a connector of `connectors` does not exist");
	if (json_array_size(connections) > 0)
		return inis_fail(err, INIS_NOT_IMPLEMENTED, "connections are not built yet");
	if (events)
		return inis_fail(err, INIS_NOT_IMPLEMENTED, "events of the guest are not built yet");
	if (json_object_size(artifacts) > 0)
		return inis_fail(err, INIS_NOT_IMPLEMENTED, "artifacts are not built yet");
	return 0;
}

int create_fields(const json_t *b, struct session_spec *spec, struct inis_error *err)
{
	spec_init(spec);
	if (read_identity(b, spec, err) < 0 || read_timers(b, spec, err) < 0 || read_switches(b, spec, err) < 0 ||
	    read_env(b, spec, err) < 0 || read_egress(b, spec, err) < 0 || read_template(b, spec, err) < 0 ||
	    refuse_unbuilt(b, err) < 0) {
		spec_free(spec);
		return -1;
	}
	return 0;
}
