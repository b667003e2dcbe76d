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
	http_respond_json(rq, 200, object_done(&o));
}
