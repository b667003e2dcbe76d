/* SPDX-License-Identifier: Apache-2.0
 *
 * batch_exec.c - POST /v1/sessions/batch/exec: one command in several sessions.
 *
 * A few at a time, in the order of the request. What is kept of output is bounded over all of them: each stream may
 * have an equal part. A session that cannot be used is an item of the answer; only the request itself can fail.
 */
#include <stdlib.h>
#include <string.h>

#include "api/capture.h"
#include "api/encode.h"
#include "api/exec_json.h"
#include "api/fields.h"
#include "api/handlers.h"
#include "api/op.h"

#define SESSIONS_MAX   100
#define SESSION_ID_MAX 64
#define AT_ONCE        8
#define KEPT_MAX       ((size_t)32 * 1024 * 1024) /* bytes of output, all sessions together */

struct batch;

struct item {
	struct capture capture; /* first */
	struct batch *batch;
	const char *id; /* as asked for */
	json_t *result;
};

struct batch {
	struct http_request *rq;
	json_t *body;
	struct command command;
	int64_t timeout_ms;
	bool busy; /* starting some */
	bool failed; /* no memory for a result */
	size_t count;
	size_t next; /* to be started */
	size_t running;
	struct item items[];
};

static void batch_free(struct batch *b)
{
	for (size_t i = 0; i < b->count; i++)
		json_decref(b->items[i].result);
	command_free(&b->command);
	json_decref(b->body);
	free(b);
}

static void answer(struct batch *b)
{
	struct http_request *rq = b->rq;
	struct object o = object_new();
	json_t *list = json_array();

	for (size_t i = 0; i < b->count; i++)
		o.failed |= json_array_append_new(list, json_incref(b->items[i].result)) < 0;
	object_take(&o, "results", list);
	o.failed |= b->failed;
	batch_free(b);
	http_respond_json(rq, 200, object_done(&o));
}

static void proceed(struct batch *b);

static void on_done(struct capture *c, const struct inis_exited *e, const struct inis_error *err)
{
	struct item *it = (struct item *)c;
	struct batch *b = it->batch;
	struct object o = object_new();

	object_text(&o, "session_id", it->id);
	if (e)
		exec_json_result(&o, c->out, c->cap, e);
	else
		object_text(&o, "error", err->message);
	capture_free(c);
	it->result = object_done(&o);
	b->failed |= !it->result;
	b->running--;
	proceed(b);
}

static void on_found(struct http_request *rq, void *ctx, struct session *s)
{
	struct capture *c = ctx;

	(void)rq;
	c->session = s;
	capture_start(c);
}

static void on_missing(struct http_request *rq, void *ctx, struct session *gone, const struct inis_error *err)
{
	(void)rq;
	(void)gone;
	on_done(ctx, NULL, err);
}

static void proceed(struct batch *b)
{
	if (b->busy)
		return;
	b->busy = true;
	/* One may be over before op_find() returns. */
	while (b->next < b->count && b->running < AT_ONCE) {
		struct item *it = &b->items[b->next++];

		b->running++;
		op_find(b->rq, it->id, on_found, on_missing, &it->capture);
	}
	b->busy = false;
	if (b->running == 0)
		answer(b);
}

static int read_ids(const json_t *body, json_t **ids, struct inis_error *err)
{
	size_t i;
	json_t *id;

	*ids = NULL;
	if (field_required(body, "session_ids", err) < 0 ||
	    field_array(body, "session_ids", SESSIONS_MAX, ids, err) < 0)
		return -1;
	if (json_array_size(*ids) == 0)
		return inis_fail_field(err, "session_ids", "must have 1 to %d items", SESSIONS_MAX);
	json_array_foreach (*ids, i, id) {
		size_t n = json_string_length(id);

		if (!json_is_string(id) || n < 1 || n > SESSION_ID_MAX || strlen(json_string_value(id)) != n)
			return inis_fail_field(err, "session_ids", "items must be strings of 1 to %d bytes",
					       SESSION_ID_MAX);
	}
	return 0;
}

static struct batch *batch_new(struct http_request *rq, json_t *body, struct inis_error *err)
{
	struct batch *b;
	size_t count, i;
	json_t *ids, *id;

	if (read_ids(body, &ids, err) < 0)
		return NULL;
	count = json_array_size(ids);
	b = calloc(1, sizeof(*b) + count * sizeof(b->items[0]));
	if (!b) {
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		return NULL;
	}
	b->rq = rq;
	b->body = json_incref(body);
	b->count = count;
	if (command_read(&b->command, body, err) < 0 || command_timeout(body, &b->timeout_ms, err) < 0) {
		batch_free(b);
		return NULL;
	}
	json_array_foreach (ids, i, id) {
		size_t part = KEPT_MAX / AGENT_STREAM_COUNT / count;

		b->items[i].batch = b;
		b->items[i].id = json_string_value(id);
		b->items[i].capture = (struct capture){.rq = rq,
						       .command = &b->command,
						       .timeout_ms = b->timeout_ms,
						       .cap = part < ENCODE_CAP ? part : ENCODE_CAP,
						       .kind = AUDIT_BATCH_EXEC,
						       .done = on_done};
	}
	return b;
}

void batch_exec_post(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	json_t *body = op_body(rq);
	struct batch *b;

	if (!body)
		return;
	b = batch_new(rq, body, &err);
	json_decref(body);
	if (b)
		proceed(b);
	else
		http_respond_error(rq, &err);
}
