/* SPDX-License-Identifier: Apache-2.0
 *
 * op.c - a request about one session, from its head to its answer.
 */
#include "api/op.h"

#include <stdlib.h>

/* ---- finding ---- */

struct search {
	struct http_request *rq;
	op_missing missing;
	void *ctx;
};

static void not_found(struct inis_error *err, struct http_request *rq)
{
	inis_fail(err, INIS_NOT_FOUND, "session \"%.64s\" does not exist", http_param(rq, "id"));
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
	q->missing(q->rq, q->ctx, machine_deleted(&s->machine) ? NULL : s, &err);
	session_unref(s);
}

static void on_history(void *ctx, const struct inis_session_row *rows, size_t count, const struct inis_error *err)
{
	struct inis_error none = INIS_ERROR_INIT;
	struct search *q = ctx;

	if (!err && count > 0) {
		show_history(q, rows);
	} else {
		not_found(&none, q->rq);
		q->missing(q->rq, q->ctx, NULL, err ? err : &none);
	}
	free(q);
}

static void search_history(struct http_request *rq, const struct session_id *id, op_missing missing, void *ctx)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct search *q = malloc(sizeof(*q));

	if (!q) {
		inis_fail(&err, INIS_UNAVAILABLE, "out of memory");
		missing(rq, ctx, NULL, &err);
		return;
	}
	*q = (struct search){rq, missing, ctx};
	if (inis_store_history_get(api_of(rq)->store, id, on_history, q, &err) < 0) {
		free(q);
		missing(rq, ctx, NULL, &err);
	}
}

void op_find_session(struct http_request *rq, op_found found, op_missing missing, void *ctx)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct session_id id;
	struct session *s;

	if (!session_id_parse(http_param(rq, "id"), &id)) {
		not_found(&err, rq);
		missing(rq, ctx, NULL, &err);
		return;
	}
	s = registry_find(api_of(rq)->registry, &id);
	if (!s) {
		search_history(rq, &id, missing, ctx);
	} else if (machine_deleted(&s->machine)) {
		not_found(&err, rq);
		missing(rq, ctx, NULL, &err);
	} else {
		found(rq, ctx, s);
	}
}

/* ---- life ---- */

static void on_close(struct http_request *rq, void *ctx)
{
	struct op *op = ctx;

	(void)rq;
	op->gone = true;
	/* Without a call nothing has begun: on_ready() will see it. */
	if (op->closed && op->call)
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

void op_end(struct op *op)
{
	op_free(op);
}

/* ---- beginning ---- */

static void on_ready(struct session *s, void *ctx, const struct inis_error *err)
{
	struct inis_error broken = INIS_ERROR_INIT;
	struct op *op = ctx;

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
		inis_fail(&broken, INIS_BAD_REQUEST, "the client has left");
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
	(void)rq;
	(void)gone;
	op_fail(ctx, err);
}

void op_begin(struct op *op)
{
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
