/* SPDX-License-Identifier: Apache-2.0
 *
 * op.h - a request about one session, from its head to its answer.
 *
 * A handler checks its request, makes an op (its own struct begins with one) and
 * hands it to op_begin(), which finds the session, resumes it or waits for it
 * within a bound, and calls go(). Exactly one of op_json(), op_empty(), op_fail(),
 * op_leave() or op_end() ends the op: it answers and frees.
 */
#ifndef INIS_API_OP_H
#define INIS_API_OP_H

#include "api/api.h"

struct op {
	struct http_request *rq;
	struct session *session; /* from go() on */
	struct agent_call *call; /* what runs for it, or NULL */
	json_t *body; /* owned; texts borrowed from it stay valid */
	int64_t begun_us;
	bool uses; /* counted by the session as going on */
	bool gone; /* the client has left: what is answered is dropped */
	bool parked; /* nothing runs for it: it waits for room in its answer */
	void (*go)(struct op *op);
	/* In place of go() for a session that has ended, deleted ones too; op->session is it. NULL: that is an error. */
	void (*ended)(struct op *op);
	/* The client has left. May end the op. NULL: the work goes on without it; else go() is not called any more. */
	void (*closed)(struct op *op);
	void (*cleanup)(struct op *op); /* of the handler's own part; may be NULL */
};

/* size >= sizeof(struct op), zeroed. NULL: no memory, and the request has been answered. Takes body. */
void *op_new(struct http_request *rq, size_t size, json_t *body, void (*go)(struct op *op));
void op_begin(struct op *op);

void op_json(struct op *op, int status, json_t *body);
void op_empty(struct op *op);
void op_fail(struct op *op, const struct inis_error *err);
void op_leave(struct op *op); /* fails it for a client that has left */
void op_end(struct op *op); /* the answer has been given otherwise */

/* The agent of a usable session; never NULL in go(). */
struct agent *op_agent(const struct op *op);
/* Ends the op with err when call is NULL; else keeps it. */
void op_call(struct op *op, struct agent_call *call, const struct inis_error *err);
int64_t op_ms(const struct op *op); /* since it began */

/* Body as JSON; NULL: answered. */
json_t *op_body(struct http_request *rq);

/* Finds the session of path parameter "id" in memory or history; exactly one callback. */
typedef void (*op_found)(struct http_request *rq, void *ctx, struct session *s);
/* missing: not_found or session_ended; the callee answers. gone: an ended session that may be shown, or NULL. */
typedef void (*op_missing)(struct http_request *rq, void *ctx, struct session *gone, const struct inis_error *err);
void op_find_session(struct http_request *rq, op_found found, op_missing missing, void *ctx);
/* The same with an id from elsewhere. */
void op_find(struct http_request *rq, const char *id, op_found found, op_missing missing, void *ctx);

#endif
