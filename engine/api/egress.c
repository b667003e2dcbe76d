/* SPDX-License-Identifier: Apache-2.0
 *
 * egress.c - GET /v1/sessions/{id}/egress: the policy in force. It needs no guest.
 */
#include "api/handlers.h"
#include "api/op.h"
#include "api/session_json.h"

static void show(struct http_request *rq, void *ctx, struct session *s)
{
	json_t *egress = egress_json(s);

	(void)ctx;
	if (egress && json_object_set_new(egress, "session_id", json_string(s->id.s)) < 0) {
		json_decref(egress);
		egress = NULL;
	}
	http_respond_json(rq, 200, egress);
}

static void gone(struct http_request *rq, void *ctx, struct session *s, const struct inis_error *err)
{
	(void)ctx;
	(void)s;
	http_respond_error(rq, err);
}

void egress_get(struct http_request *rq)
{
	op_find_session(rq, show, gone, NULL);
}
