/* SPDX-License-Identifier: Apache-2.0
 *
 * spec.h - what a session was asked to be: the checked content of its create request.
 *
 * Owned by its session; written once. Its JSON form is the part "spec" of the
 * stored document, without secrets, which travel on their own.
 */
#ifndef INIS_SESSION_SPEC_H
#define INIS_SESSION_SPEC_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define SPEC_IDLE_TIMEOUT_MS  600000
#define SPEC_ACTIVITY_IDLE_MS 30000
#define SPEC_PAUSED_TTL_MS    (7LL * 24 * 3600 * 1000)

enum spec_size { SIZE_SMALL, SIZE_MEDIUM, SIZE_LARGE, SIZE_XLARGE, SIZE_COUNT };
enum spec_idle_mode { IDLE_OPS, IDLE_ACTIVITY, IDLE_MODE_COUNT };
enum spec_detach { DETACH_KEEP_LIVE, DETACH_PAUSE, DETACH_DESTROY, DETACH_COUNT };
enum spec_capture { CAPTURE_HASH, CAPTURE_EXECUTABLE, CAPTURE_FULL, CAPTURE_COUNT };

/* Names as in the API; NULL-terminated. */
extern const char *const SPEC_SIZES[];
extern const char *const SPEC_IDLE_MODES[];
extern const char *const SPEC_DETACHES[];
extern const char *const SPEC_CAPTURES[];

struct size_info {
	uint32_t vcpus;
	uint32_t mem_mb;
};
extern const struct size_info SIZE_INFO[SIZE_COUNT];

struct session_spec {
	char *name; /* NULL = none, likewise below */
	char *external_id;
	char *template_name; /* NULL = the default one */
	json_t *labels; /* object of strings or NULL, likewise below */
	json_t *env;
	json_t *secrets;
	json_t *egress; /* as asked for; {"mode","allow"} */
	int size; /* enum spec_size; ints, because the field readers fill them */
	int idle_mode;
	int on_pty_detach;
	int command_capture;
	int64_t idle_timeout_ms;
	int64_t idle_cpu_pct; /* 0 = the server decides */
	int64_t idle_net_bytes;
	int64_t max_lifetime_ms; /* 0 = no cap */
	int64_t paused_ttl_ms; /* 0 = default, negative = never */
	int64_t lease_ms; /* 0 = none */
	bool no_sudo;
	bool wake_on_http;
	bool destroy_on_completion;
	bool one_shot; /* serves one request of this server's life and does not outlive either */
};

void spec_init(struct session_spec *s);
void spec_free(struct session_spec *s); /* secrets are wiped */

/* New reference or NULL (no memory). */
json_t *spec_to_json(const struct session_spec *s);
/* Of a stored document: trusted for its shape, but every member is looked at. secrets may be NULL. */
int spec_from_json(struct session_spec *s, const json_t *doc, const char *secrets, struct inis_error *err);
/* malloc'ed JSON text of the secrets; NULL when there are none or no memory. Wipe it after use. */
char *spec_secrets_text(const struct session_spec *s);

/* Overwrites the values of a map of secrets before it goes. */
void spec_wipe_map(json_t *map);

#endif
