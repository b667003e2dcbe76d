/* SPDX-License-Identifier: Apache-2.0
 *
 * op.c - a request about one session, from its head to its answer.
 */
#include "api/op.h"

#include <stdlib.h>
#include <string.h>

#include "base/metrics.h"

/* ---- finding ---- */

struct search {
	struct http_request *rq;
	struct session_id id;
	op_missing missing;
	void *ctx;
	bool deleted_too; /* is shown to missing() */
};

static void not_found(struct inis_error *err, const char *id)
{
	inis_fail(err, INIS_NOT_FOUND, "session \"%.64s\" does not exist", id);
}

static void show_history(struct search *q, const struct inis_session_row *row)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct session *s = session_from_row(row, &err);

	if (!s) {
		q->missing(q->rq, q->ctx, NULL, &err);
		return;
	}
	session_check(s, &err);
	q->missing(q->rq, q->ctx, machine_deleted(&s->machine) && !q->deleted_too ? NULL : s, &err);
	session_unref(s);
}

static void on_history(void *ctx, const struct inis_session_row *rows, size_t count, const struct inis_error *err)
{
	struct inis_error none = INIS_ERROR_INIT;
	struct search *q = ctx;

	if (!err && count > 0) {
		show_history(q, rows);
	} else {
		not_found(&none, q->id.s);
		q->missing(q->rq, q->ctx, NULL, err ? err : &none);
	}
	free(q);
}

static void search_history(const struct search *what)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct search *q = malloc(sizeof(*q));

	if (!q) {
		inis_fail(&err, INIS_UNAVAILABLE, "out of memory");
		what->missing(what->rq, what->ctx, NULL, &err);
		return;
	}
	*q = *what;
	if (inis_store_history_get(api_of(q->rq)->store, &q->id, on_history, q, &err) < 0) {
		free(q);
		what->missing(what->rq, what->ctx, NULL, &err);
	}
}

void op_find(struct http_request *rq, const char *text, op_found found, op_missing missing, void *ctx)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct session_id id;
	struct session *s;

	if (!session_id_parse(text, &id)) {
		not_found(&err, text);
		missing(rq, ctx, NULL, &err);
		return;
	}
	s = registry_find(api_of(rq)->registry, &id);
	if (!s) {
		search_history(&(struct search){rq, id, missing, ctx, false});
	} else if (machine_deleted(&s->machine)) {
		not_found(&err, text);
		missing(rq, ctx, NULL, &err);
	} else {
		found(rq, ctx, s);
	}
}

void op_find_session(struct http_request *rq, op_found found, op_missing missing, void *ctx)
{
	op_find(rq, http_param(rq, "id"), found, missing, ctx);
}

/* ---- life ---- */

static void on_close(struct http_request *rq, void *ctx)
{
	struct op *op = ctx;

	(void)rq;
	op->gone = true;
	/* Without a call nothing has begun, or a thread is at work: who is called next will see it. */
	if (op->closed && (op->call || op->parked))
		op->closed(op);
}

void *op_new(struct http_request *rq, size_t size, json_t *body, void (*go)(struct op *op))
{
	struct inis_error err = INIS_ERROR_INIT;
	struct op *op = calloc(1, size);

	if (!op) {
		json_decref(body);
		inis_fail(&err, INIS_UNAVAILABLE, "out of memory");
		http_respond_error(rq, &err);
		return NULL;
	}
	op->rq = rq;
	op->body = body;
	op->begun_us = inis_now_us();
	op->go = go;
	http_set_context(rq, op, on_close);
	return op;
}

static void op_free(struct op *op)
{
	if (op->cleanup)
		op->cleanup(op);
	if (op->uses)
		session_use_end(op->session);
	session_unref(op->session);
	json_decref(op->body);
	free(op);
}

void op_json(struct op *op, int status, json_t *body)
{
	struct http_request *rq = op->rq;

	op_free(op);
	http_respond_json(rq, status, body);
}

void op_empty(struct op *op)
{
	struct http_request *rq = op->rq;

	op_free(op);
	http_respond_empty(rq);
}

void op_fail(struct op *op, const struct inis_error *err)
{
	struct http_request *rq = op->rq;

	http_respond_error(rq, err);
	op_free(op);
}

void op_leave(struct op *op)
{
	static const struct inis_error left = {.code = INIS_BAD_REQUEST, .message = "the client has left"};

	op_fail(op, &left);
}

void op_end(struct op *op)
{
	op_free(op);
}

/* ---- beginning ---- */

/* What is kept is complete when nothing of the session is left. */
static void on_over(struct session *s, void *ctx, const struct inis_error *err)
{
	struct inis_error late = INIS_ERROR_INIT;
	struct op *op = ctx;

	(void)err;
	if (s->machine.state != M_ENDED) {
		inis_fail(&late, INIS_SESSION_NOT_LIVE, "session %s is still ending", s->id.s);
		op_fail(op, &late);
	} else if (op->gone && op->closed) {
		op_leave(op);
	} else {
		op->ended(op);
	}
}

/* One session's clients must not use up what all share; what ends something is never held back. */
static int check_room(const struct op *op, struct inis_error *err)
{
	unsigned max = api_of(op->rq)->limits.session_requests;

	if (max == 0 || op->session->uses < max || strcmp(http_method(op->rq), "DELETE") == 0)
		return 0;
	inis_count(&inis_metrics.limited[LIMIT_SESSION_REQUESTS]);
	return inis_fail(err, INIS_RATE_LIMITED, "%u operations are going on in session %s, which is the limit",
			 op->session->uses, op->session->id.s);
}

static void on_ready(struct session *s, void *ctx, const struct inis_error *err)
{
	struct inis_error broken = INIS_ERROR_INIT;
	struct op *op = ctx;

	if (err && op->ended && session_ended(s)) {
		session_wait_gone(s, SESSION_WAIT_MS, on_over, op);
		return;
	}
	if (err) {
		op_fail(op, err);
		return;
	}
	if (!s->agent) {
		inis_fail(&broken, INIS_SESSION_UNAVAILABLE, "the sandbox cannot be reached");
		op_fail(op, &broken);
		return;
	}
	if (op->gone && op->closed) {
		op_leave(op);
		return;
	}
	if (check_room(op, &broken) < 0) {
		op_fail(op, &broken);
		return;
	}
	op->uses = true;
	session_use_begin(s);
	op->go(op);
}

static void on_found(struct http_request *rq, void *ctx, struct session *s)
{
	struct op *op = ctx;

	(void)rq;
	session_ref(s);
	op->session = s;
	session_wait_ready(s, SESSION_WAIT_MS, on_ready, op);
}

static void on_missing(struct http_request *rq, void *ctx, struct session *gone, const struct inis_error *err)
{
	struct op *op = ctx;

	(void)rq;
	if (!op->ended || !gone) {
		op_fail(op, err);
		return;
	}
	session_ref(gone);
	op->session = gone;
	on_over(gone, op, NULL);
}

/* As op_find_session(), but a session that was deleted is one that has ended. */
static void find_ended_too(struct op *op)
{
	struct session_id id;
	struct session *s;

	if (!session_id_parse(http_param(op->rq, "id"), &id)) {
		op_find_session(op->rq, on_found, on_missing, op);
		return;
	}
	s = registry_find(api_of(op->rq)->registry, &id);
	if (s)
		on_found(op->rq, op, s);
	else
		search_history(&(struct search){op->rq, id, on_missing, op, true});
}

void op_begin(struct op *op)
{
	if (op->ended)
		find_ended_too(op);
	else
		op_find_session(op->rq, on_found, on_missing, op);
}

struct agent *op_agent(const struct op *op)
{
	return op->session->agent;
}

void op_call(struct op *op, struct agent_call *call, const struct inis_error *err)
{
	op->call = call;
	if (!call)
		op_fail(op, err);
}

int64_t op_ms(const struct op *op)
{
	return (inis_now_us() - op->begun_us) / 1000;
}

json_t *op_body(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	json_t *body = http_body_json(rq, &err);

	if (!body)
		http_respond_error(rq, &err);
	return body;
}
