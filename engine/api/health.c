/* SPDX-License-Identifier: Apache-2.0
 *
 * health.c - GET /v1/healthz: that the server works, and which extensions it has.
 */
#include "api/handlers.h"
#include "api/object.h"

static const char *const EXTENSIONS[] = {
	"server.metrics",  "org.limits",    "exec.env",        "exec.stdin",   "exec.id",           "exec.oom",
	"process.env",     "process.stdin", "process.timeout", "process.kill", "process.logs.from", "process.ended",
	"files.mode",      "files.stat",    "files.range",     "files.find",   "session.lease",     "exec.stdin.stream",
	"session.archive", "pty.name",      "exec.usage",      "exec.batch",   "session.audit",
};

static json_t *extensions(void)
{
	json_t *list = json_array();
	int failed = 0;

	for (size_t i = 0; i < sizeof(EXTENSIONS) / sizeof(EXTENSIONS[0]); i++)
		failed |= json_array_append_new(list, json_string(EXTENSIONS[i]));
	if (!failed)
		return list;
	json_decref(list);
	return NULL;
}

void health_get(struct http_request *rq)
{
	struct object o = object_new();

	object_text(&o, "status", "ok");
	object_text(&o, "version", INIS_VERSION);
	object_take(&o, "extensions", extensions());
	http_respond_json(rq, 200, object_done(&o));
}
