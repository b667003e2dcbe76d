/* SPDX-License-Identifier: Apache-2.0
 *
 * org.c - GET /v1/org: how much of the capacity is in use.
 */
#include "api/api.h"
#include "api/handlers.h"
#include "api/object.h"

static json_t *counts(unsigned running, unsigned warm)
{
	return json_pack("{s:i, s:i}", "running", (int)running, "warm", (int)warm);
}

/* Only the limits there are. */
static json_t *limits(const struct api_limits *l)
{
	struct object o = object_new();
	const struct {
		const char *name;
		uint32_t value;
	} all[] = {
		{"sessions", l->sessions},        {"sessions_per_key", l->key_sessions},
		{"requests", l->requests},        {"requests_per_session", l->session_requests},
		{"requests_per_second", l->rate}, {"request_burst", l->rate ? l->burst : 0},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i].value)
			object_int(&o, all[i].name, all[i].value);
	}
	return object_done(&o);
}

void org_get(struct http_request *rq)
{
	struct object o = object_new();
	struct registry_load load;
	json_t *capacity;

	registry_load(api_of(rq)->registry, &load);
	capacity = counts(load.running, load.paused);
	if (capacity && load.limit)
		json_object_set_new(capacity, "limits", counts(load.limit, load.limit));
	object_take(&o, "capacity", capacity);
	object_take(&o, "limits", limits(&api_of(rq)->limits));
	http_respond_json(rq, 200, object_done(&o));
}
