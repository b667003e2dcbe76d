/* SPDX-License-Identifier: Apache-2.0
 *
 * pause.c - POST /v1/sessions/{id}/pause, resume and lease.
 *
 * Bodies are ignored. None of them counts as an operation on the guest.
 */
#include "api/handlers.h"
#include "api/object.h"
#include "api/op.h"
#include "api/session_json.h"

static void on_done(struct session *s, void *ctx, const struct inis_error *err)
{
	struct http_request *rq = ctx;

	if (err)
		http_respond_error(rq, err);
	else
		http_respond_json(rq, 200, session_json(s));
}

static void on_missing(struct http_request *rq, void *ctx, struct session *gone, const struct inis_error *err)
{
	(void)ctx;
	(void)gone;
	http_respond_error(rq, err);
}

static void pause_it(struct http_request *rq, void *ctx, struct session *s)
{
	(void)ctx;
	session_pause(s, SESSION_WAIT_MS, on_done, rq);
}

static void resume_it(struct http_request *rq, void *ctx, struct session *s)
{
	(void)ctx;
	session_resume(s, SESSION_WAIT_MS, on_done, rq);
}

static void renew(struct http_request *rq, void *ctx, struct session *s)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct object o;

	(void)ctx;
	if (session_check(s, &err) < 0 && err.code != INIS_SESSION_NOT_LIVE) {
		http_respond_error(rq, &err);
		return;
	}
	if (!s->spec.lease_ms) {
		inis_fail(&err, INIS_CONFLICT, "session %s was created without `lease_ms`", s->id.s);
		http_respond_error(rq, &err);
		return;
	}
	o = object_new();
	object_text(&o, "session_id", s->id.s);
	object_int(&o, "lease_ms", s->spec.lease_ms);
	object_time(&o, "expires_at", session_renew_lease(s));
	http_respond_json(rq, 200, object_done(&o));
}

void session_pause_post(struct http_request *rq)
{
	op_find_session(rq, pause_it, on_missing, NULL);
}

void session_resume_post(struct http_request *rq)
{
	op_find_session(rq, resume_it, on_missing, NULL);
}

void session_lease_post(struct http_request *rq)
{
	op_find_session(rq, renew, on_missing, NULL);
}
