/* SPDX-License-Identifier: Apache-2.0
 *
 * verbs.c - the verbs of the broker protocol.
 *
 * Each request is one struct from its arrival to its one reply. A unit that is being destroyed is known here only
 * by its id: further destroys of it wait for the same end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "broker/server.h"

struct request {
	struct server *s;
	uint64_t front_number;
	struct inis_broker_msg reply; /* verb and request id filled in */
	bool leads; /* DESTROY: the driver knows of this one */
	struct request *next;
};

static struct request *request_new(struct server *s, const struct inis_broker_msg *msg)
{
	struct request *r = s->request_count < SERVER_REQUESTS_MAX ? calloc(1, sizeof(*r)) : NULL;

	if (!r)
		return NULL;
	s->request_count++;
	r->s = s;
	r->front_number = s->front_number;
	inis_broker_msg_init(&r->reply, (enum inis_broker_verb)msg->verb, msg->request);
	r->reply.flags = INIS_B_REPLY;
	r->reply.unit_id = msg->unit_id;
	r->next = s->requests;
	s->requests = r;
	return r;
}

static void set_error(struct inis_broker_msg *reply, const struct inis_error *err)
{
	reply->code = err->code == INIS_OK ? INIS_INTERNAL : (uint32_t)err->code;
	snprintf(reply->message, sizeof(reply->message), "%.*s", (int)sizeof(reply->message) - 1, err->message);
}

static void request_end(struct request *r, const struct inis_error *err, int fd)
{
	struct server *s = r->s;
	struct request **at = &s->requests;

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	s->request_count--;
	if (err)
		set_error(&r->reply, err);
	if (fd >= 0)
		r->reply.flags |= INIS_B_HAS_FD;
	if (r->front_number == s->front_number)
		server_send(s, &r->reply, fd);
	else
		close_fd(&fd);
	free(r);
}

/* A verb that is done at once. */
static void answer(struct server *s, const struct inis_broker_msg *msg, const struct inis_broker_msg *body,
		   const struct inis_error *err, int fd)
{
	struct inis_broker_msg reply = *body;

	reply.magic = INIS_BROKER_MAGIC;
	reply.verb = msg->verb;
	reply.request = msg->request;
	reply.flags = (uint16_t)(INIS_B_REPLY | (body->flags & INIS_B_MORE) | (fd >= 0 ? INIS_B_HAS_FD : 0));
	reply.unit_id = msg->unit_id;
	if (err)
		set_error(&reply, err);
	server_send(s, &reply, fd);
}

static void refuse(struct server *s, const struct inis_broker_msg *msg, const struct inis_error *err)
{
	struct inis_broker_msg none = {0};

	answer(s, msg, &none, err, -1);
}

static void too_busy(struct server *s, const struct inis_broker_msg *msg)
{
	struct inis_error err = INIS_ERROR_INIT;

	inis_fail(&err, INIS_UNAVAILABLE, "the broker has no room for more requests");
	refuse(s, msg, &err);
}

static struct inis_unit *find(struct server *s, const struct unit_id *id)
{
	struct inis_unit *u = NULL;

	while ((u = s->driver->ops->next(s->driver, u))) {
		if (strcmp(u->id.s, id->s) == 0)
			return u;
	}
	return NULL;
}

/* The unit a request is about; answers not_found itself. */
static struct inis_unit *need_unit(struct server *s, const struct inis_broker_msg *msg)
{
	struct inis_unit *u = find(s, &msg->unit_id);
	struct inis_error err = INIS_ERROR_INIT;

	if (u)
		return u;
	inis_fail(&err, INIS_NOT_FOUND, "there is no unit %s", msg->unit_id.s);
	refuse(s, msg, &err);
	return NULL;
}

static void fill_row(struct inis_broker_unit *row, const struct inis_unit *u)
{
	row->id = u->id;
	row->session = u->session;
	row->pid = u->pid;
	row->alive = !u->exited;
	row->start_time = u->start_time;
	row->uid_base = u->uid_base;
	row->disk_kind = (uint32_t)u->disk_kind;
	row->disk_mb = u->disk_mb;
	row->frozen = u->frozen;
}

static void do_hello(struct server *s, const struct inis_broker_msg *msg)
{
	const struct inis_broker_hello *theirs = &msg->u.hello;
	struct inis_broker_msg body = {0};
	struct inis_error err = INIS_ERROR_INIT;

	if (theirs->version != INIS_BROKER_VERSION || theirs->struct_size != sizeof(struct inis_broker_msg)) {
		inis_fail(&err, INIS_INTERNAL, "front and broker are of different builds");
		refuse(s, msg, &err);
		return;
	}
	body.u.hello = (struct inis_broker_hello){
		.version = INIS_BROKER_VERSION,
		.struct_size = sizeof(struct inis_broker_msg),
		.pool_ready = s->driver->pool_ready,
		.pool_target = s->driver->pool_target,
		.host_mem_mb = s->host_mem_mb,
		.disk_kind = (uint32_t)s->driver->disk_kind,
	};
	for (struct inis_unit *u = NULL; (u = s->driver->ops->next(s->driver, u));)
		body.u.hello.units++;
	answer(s, msg, &body, NULL, -1);
}

static void on_created(void *ctx, struct inis_unit *u, int agent, const struct inis_error *err)
{
	struct request *r = ctx;
	struct server *s = r->s;

	if (u) {
		r->reply.unit_id = u->id;
		fill_row(&r->reply.u.unit, u);
		r->reply.u.unit.pooled = u->pooled;
	} else {
		inis_log(INIS_LOG_WARN, "no unit for a session", "reason", err->message, NULL);
	}
	request_end(r, err, agent);
	server_want_refill(s);
}

static void do_create(struct server *s, const struct inis_broker_msg *msg)
{
	struct request *r = request_new(s, msg);

	if (r)
		s->driver->ops->create(s->driver, &msg->u.create, on_created, r);
	else
		too_busy(s, msg);
}

static void do_connect(struct server *s, const struct inis_broker_msg *msg)
{
	struct inis_unit *u = need_unit(s, msg);
	struct inis_broker_msg body = {0};
	struct inis_error err = INIS_ERROR_INIT;
	int fd;

	if (!u)
		return;
	fd = s->driver->ops->connect(s->driver, u, &err);
	answer(s, msg, &body, fd < 0 ? &err : NULL, fd);
}

static void on_destroyed(void *ctx, const struct unit_id *id, const struct inis_error *err)
{
	struct server *s = ctx;
	struct request *next;

	if (err)
		inis_log(INIS_LOG_ERROR, "unit not wholly removed", "unit", id->s, "reason", err->message, NULL);
	for (struct request *r = s->requests; r; r = next) {
		next = r->next;
		if (r->reply.verb == INIS_B_DESTROY && strcmp(r->reply.unit_id.s, id->s) == 0)
			request_end(r, err, -1);
	}
	server_want_refill(s);
}

static bool being_destroyed(struct server *s, const struct unit_id *id)
{
	for (const struct request *r = s->requests; r; r = r->next) {
		if (r->leads && strcmp(r->reply.unit_id.s, id->s) == 0)
			return true;
	}
	return false;
}

static void do_destroy(struct server *s, const struct inis_broker_msg *msg)
{
	struct inis_unit *u = find(s, &msg->unit_id);
	bool running = being_destroyed(s, &msg->unit_id);
	struct request *r = request_new(s, msg);

	if (!r) {
		too_busy(s, msg);
		return;
	}
	r->leads = u || (!running && s->driver->ops->await_end(s->driver, &msg->unit_id, on_destroyed, s));
	if (u)
		s->driver->ops->destroy(s->driver, u, on_destroyed, s);
	else if (!running && !r->leads)
		request_end(r, NULL, -1);
}

static void on_changed(void *ctx, const struct unit_id *id, const struct inis_error *err)
{
	(void)id;
	request_end(ctx, err, -1);
}

static void do_freeze(struct server *s, const struct inis_broker_msg *msg)
{
	struct inis_unit *u = need_unit(s, msg);
	struct request *r = u ? request_new(s, msg) : NULL;

	if (r && msg->verb == INIS_B_FREEZE)
		s->driver->ops->freeze(s->driver, u, on_changed, r);
	else if (r)
		s->driver->ops->thaw(s->driver, u, on_changed, r);
	else if (u)
		too_busy(s, msg);
}

static void do_stats(struct server *s, const struct inis_broker_msg *msg)
{
	struct inis_unit *u = need_unit(s, msg);
	struct inis_broker_msg body = {0};
	struct inis_error err = INIS_ERROR_INIT;
	int rc;

	if (!u)
		return;
	rc = s->driver->ops->stats(s->driver, u, &body.u.stats, &err);
	answer(s, msg, &body, rc < 0 ? &err : NULL, -1);
}

static void do_list(struct server *s, const struct inis_broker_msg *msg)
{
	struct inis_broker_msg last = {0};

	for (struct inis_unit *u = NULL; (u = s->driver->ops->next(s->driver, u));) {
		struct inis_broker_msg body = {.flags = INIS_B_MORE};

		fill_row(&body.u.unit, u);
		answer(s, msg, &body, NULL, -1);
	}
	answer(s, msg, &last, NULL, -1);
}

static void do_templates(struct server *s, const struct inis_broker_msg *msg)
{
	struct inis_broker_msg body = {.flags = INIS_B_MORE};
	struct inis_broker_msg last = {0};

	for (unsigned i = 0; s->driver->ops->describe(s->driver, i, &body.u.template); i++)
		answer(s, msg, &body, NULL, -1);
	answer(s, msg, &last, NULL, -1);
}

static void do_unbuilt(struct server *s, const struct inis_broker_msg *msg)
{
	struct inis_error err = INIS_ERROR_INIT;

	inis_fail(&err, INIS_NOT_IMPLEMENTED, "%s units cannot do this", s->driver->ops->isolation);
	refuse(s, msg, &err);
}

void server_handle(struct server *s, const struct inis_broker_msg *msg)
{
	static void (*const verbs[])(struct server *, const struct inis_broker_msg *) = {
		[INIS_B_HELLO] = do_hello,     [INIS_B_CREATE] = do_create, [INIS_B_CONNECT] = do_connect,
		[INIS_B_DESTROY] = do_destroy, [INIS_B_FREEZE] = do_freeze, [INIS_B_THAW] = do_freeze,
		[INIS_B_STATS] = do_stats,     [INIS_B_LIST] = do_list,     [INIS_B_TEMPLATES] = do_templates,
	};

	if (msg->verb < sizeof(verbs) / sizeof(verbs[0]) && verbs[msg->verb] && msg->flags == 0)
		verbs[msg->verb](s, msg);
	else if (msg->request != 0)
		do_unbuilt(s, msg);
}
