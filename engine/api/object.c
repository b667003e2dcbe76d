/* SPDX-License-Identifier: Apache-2.0
 *
 * object.c - building the JSON objects of answers.
 */
#include "api/object.h"

struct object object_new(void)
{
	struct object o = {.json = json_object()};

	o.failed = !o.json;
	return o;
}

json_t *object_done(struct object *o)
{
	json_t *json = o->json;

	o->json = NULL;
	if (!o->failed)
		return json;
	json_decref(json);
	return NULL;
}

void object_take(struct object *o, const char *name, json_t *value)
{
	if (json_object_set_new(o->json, name, value) < 0)
		o->failed = true;
}

void object_share(struct object *o, const char *name, json_t *value)
{
	if (value)
		object_take(o, name, json_incref(value));
}

void object_text(struct object *o, const char *name, const char *value)
{
	if (value)
		object_take(o, name, json_string(value));
}

void object_int(struct object *o, const char *name, int64_t value)
{
	object_take(o, name, json_integer(value));
}

void object_bool(struct object *o, const char *name, bool value)
{
	object_take(o, name, json_boolean(value));
}

void object_flag(struct object *o, const char *name, bool value)
{
	if (value)
		object_bool(o, name, true);
}

void object_time(struct object *o, const char *name, inis_ms wall_ms)
{
	char text[INIS_RFC3339_SIZE];

	if (wall_ms <= 0)
		return;
	inis_rfc3339(wall_ms, text);
	object_text(o, name, text);
}
