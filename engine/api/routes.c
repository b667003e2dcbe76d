/* SPDX-License-Identifier: Apache-2.0
 *
 * routes.c - every route of the protocol, built or not.
 */
#include "api/api.h"
#include "api/handlers.h"

#define S "/v1/sessions/{id}"

const struct http_route API_ROUTES[] = {
	{"GET", "/v1/healthz", health_get, HTTP_NO_AUTH | HTTP_UNLIMITED, 0},
	{"GET", "/metrics", metrics_get, HTTP_LOCAL_OPEN | HTTP_UNLIMITED, 0},
	{"GET", "/v1/org", org_get, 0, 0},

	{"POST", "/v1/sessions", session_post, 0, 0},
	{"GET", "/v1/sessions", sessions_get, 0, 0},
	{"GET", S, session_get, 0, 0},
	{"DELETE", S, session_remove, 0, 0},
	{"POST", S "/pause", session_pause_post, 0, 0},
	{"POST", S "/resume", session_resume_post, 0, 0},
	{"POST", S "/lease", session_lease_post, HTTP_UNLIMITED, 0},
	{"GET", S "/egress", egress_get, 0, 0},

	{"POST", S "/exec", exec_post, 0, 0},
	{"DELETE", S "/execs/{exec_id}", exec_remove, 0, 0},
	{"POST", S "/execs/{exec_id}/stdin", exec_stdin_post, HTTP_STREAM_BODY | HTTP_SLOW_BODY, 0},
	{"POST", "/v1/sessions/batch/exec", batch_exec_post, 0, 0},
	{"POST", "/v1/sessions/exec", one_shot_post, 0, 0},
	{"GET", S "/audit", audit_get, 0, 0},
	{"GET", S "/pty", pty_get, HTTP_UPGRADE | HTTP_REPEATS, 0},
	{"GET", S "/ptys", ptys_get, 0, 0},
	{"DELETE", S "/ptys/{name}", pty_remove, 0, 0},

	{"POST", S "/processes", process_post, 0, 0},
	{"GET", S "/processes", processes_get, 0, 0},
	{"GET", S "/processes/{name}", process_get, 0, 0},
	{"DELETE", S "/processes/{name}", process_remove, 0, 0},
	{"GET", S "/processes/{name}/logs", process_logs_get, 0, 0},
	{"POST", S "/processes/{name}/stdin", process_stdin_post, HTTP_STREAM_BODY | HTTP_SLOW_BODY, 0},

	{"GET", S "/files", files_get, 0, 0},
	{"PUT", S "/files", files_put, 0, 0},
	{"POST", S "/files", files_post, 0, 0},
	{"DELETE", S "/files", files_remove, 0, 0},
	{"PUT", S "/files/batch", files_batch_put, 0, 0},
	{"POST", S "/files/mkdir", files_mkdir_post, 0, 0},
	{"POST", S "/files/rename", files_rename_post, 0, 0},
	{"PUT", S "/files/stream", upload_put, HTTP_STREAM_BODY, 0},
	{"GET", S "/files/stream", download_get, 0, 0},

	{"POST", S "/fork", planned, 0, 0},
	{"POST", S "/archive/retry", planned, 0, 0},
	{"GET", S "/usage", planned, 0, 0},
	{"POST", S "/checkpoints", planned, 0, 0},
	{"GET", S "/checkpoints", planned, 0, 0},
	{"POST", S "/restore", planned, 0, 0},
	{"GET", "/v1/checkpoints/{checkpoint_id}", planned, 0, 0},
	{"DELETE", "/v1/checkpoints/{checkpoint_id}", planned, 0, 0},
	{"POST", "/v1/checkpoints/{checkpoint_id}/sessions", planned, 0, 0},
	{"POST", S "/templates", planned, 0, 0},
	{"GET", "/v1/templates", templates_get, 0, 0},
	{"POST", "/v1/templates", planned, 0, 0},
	{"DELETE", "/v1/templates/{name}", template_remove, 0, 0},
	{"POST", S "/artifacts", planned, 0, 0},
	{"GET", S "/artifacts", planned, 0, 0},
	{"GET", "/v1/artifacts/{artifact_id}", planned, 0, 0},
	{"DELETE", "/v1/artifacts/{artifact_id}", planned, 0, 0},
	{"POST", "/v1/artifacts/{artifact_id}/extend", planned, 0, 0},
	{"POST", S "/expose", planned, 0, 0},
	{"POST", S "/unexpose", planned, 0, 0},
	{"POST", S "/egress", planned, 0, 0},
	{"GET", S "/connections", planned, 0, 0},
	{"POST", S "/connections", planned, 0, 0},
	{"PUT", S "/connections/{name}", planned, 0, 0},
	{"DELETE", S "/connections/{name}", planned, 0, 0},
	{"POST", S "/tokens", planned, 0, 0},
	{"GET", S "/tokens", planned, 0, 0},
	{"DELETE", S "/tokens/{token_id}", planned, 0, 0},
	{"GET", "/v1/registry-credentials", planned, 0, 0},
	{"POST", "/v1/registry-credentials", planned, 0, 0},
	{"DELETE", "/v1/registry-credentials/{name}", planned, 0, 0},
	{"GET", "/v1/connectors", planned, 0, 0},
	{"POST", "/v1/connectors", planned, 0, 0},
	{"DELETE", "/v1/connectors/{name}", planned, 0, 0},
	{"GET", "/v1/org/webhooks", planned, 0, 0},
	{"POST", "/v1/org/webhooks", planned, 0, 0},
	{"DELETE", "/v1/org/webhooks/{webhook_id}", planned, 0, 0},
	{"POST", "/v1/org/webhooks/{webhook_id}/test", planned, 0, 0},
	{"GET", "/v1/org/webhooks/{webhook_id}/deliveries", planned, 0, 0},
	{"GET", "/v1/org/domains", planned, 0, 0},
	{"POST", "/v1/org/domains", planned, 0, 0},
	{"DELETE", "/v1/org/domains/{domain_id}", planned, 0, 0},
	{"POST", "/v1/org/domains/{domain_id}/verify", planned, 0, 0},
	{"PUT", "/v1/org/domains/{domain_id}/route", planned, 0, 0},
	{"DELETE", "/v1/org/domains/{domain_id}/route", planned, 0, 0},
	{"GET", "/v1/volumes", planned, 0, 0},
	{"POST", "/v1/volumes", planned, 0, 0},
	{"GET", "/v1/volumes/{volume_id}", planned, 0, 0},
	{"PATCH", "/v1/volumes/{volume_id}", planned, 0, 0},
	{"DELETE", "/v1/volumes/{volume_id}", planned, 0, 0},
	{"GET", "/v1/usage", planned, 0, 0},
	{"GET", "/v1/events", planned, 0, 0},
};

const size_t API_ROUTE_COUNT = sizeof(API_ROUTES) / sizeof(API_ROUTES[0]);

int api_authenticate(void *app, const char *token)
{
	const struct api *api = app;

	return inis_store_key_find(api->store, token);
}
