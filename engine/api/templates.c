/* SPDX-License-Identifier: Apache-2.0
 *
 * templates.c - GET /v1/templates and DELETE /v1/templates/{name}.
 *
 * All templates there are come from the server's administrator: clients see them and cannot remove them.
 */
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "api/handlers.h"
#include "api/object.h"

struct rows {
	const struct inis_broker_template *list;
	size_t count;
};

/* Whether another row of the same name is the current one. */
static bool superseded(const struct rows *rows, size_t at)
{
	const struct inis_broker_template *t = &rows->list[at];

	for (size_t i = 0; i < rows->count; i++) {
		const struct inis_broker_template *other = &rows->list[i];

		if (i != at && strcmp(other->name, t->name) == 0 &&
		    (other->built_at > t->built_at || (other->built_at == t->built_at && i < at)))
			return true;
	}
	return false;
}

static json_t *versions_of(const struct rows *rows, const char *name)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < rows->count; i++) {
		if (strcmp(rows->list[i].name, name) == 0)
			json_array_append_new(list, json_string(rows->list[i].version));
	}
	return list;
}

static const char *describe(const struct inis_broker_template *t, char *buf, size_t size)
{
	if (t->built_at == 0)
		return "this machine's own programs, read-only";
	snprintf(buf, size, "Debian %s, %u packages", t->suite, t->packages);
	return buf;
}

static json_t *template_json(const struct rows *rows, size_t at)
{
	const struct inis_broker_template *t = &rows->list[at];
	struct object o = object_new();
	char text[128];

	object_text(&o, "name", t->name);
	object_text(&o, "kind", "official");
	object_text(&o, "status", "ready");
	object_text(&o, "description", describe(t, text, sizeof(text)));
	object_flag(&o, "default", at == 0);
	if (t->version[0]) {
		object_text(&o, "version", t->version);
		object_take(&o, "versions", versions_of(rows, t->name));
		snprintf(text, sizeof(text), "sha256:%s", t->content);
		object_text(&o, "content_hash", text);
		object_time(&o, "built_at", t->built_at);
	}
	return object_done(&o);
}

void templates_get(struct http_request *rq)
{
	struct object o = object_new();
	json_t *list = json_array();
	struct rows rows;
	bool failed = list == NULL;

	rows.list = registry_templates(api_of(rq)->registry, &rows.count);
	for (size_t i = 0; i < rows.count; i++) {
		if (!superseded(&rows, i))
			failed |= json_array_append_new(list, template_json(&rows, i)) < 0;
	}
	if (failed) {
		json_decref(list);
		list = NULL;
	}
	object_take(&o, "templates", list);
	http_respond_json(rq, 200, object_done(&o));
}

void template_remove(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	const char *name = http_param(rq, "name");

	if (registry_check_template(api_of(rq)->registry, name, &err) == 0 || err.code != INIS_NOT_FOUND)
		inis_fail(&err, INIS_FORBIDDEN, "template \"%s\" belongs to the server, not to you", name);
	http_respond_error(rq, &err);
}
