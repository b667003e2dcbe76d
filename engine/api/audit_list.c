/* SPDX-License-Identifier: Apache-2.0
 *
 * audit_list.c - GET /v1/sessions/{id}/audit: what was run in a session, the latest first.
 *
 * A session that has ended is found whatever ended it: to know what a destroyed one has done is what the log is for.
 * A cursor is the number of the last entry of a page.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/fields.h"
#include "api/handlers.h"
#include "api/object.h"
#include "store/audit.h"

#define LIMIT_DEFAULT 50
#define LIMIT_MAX     200

struct page {
	struct http_request *rq;
	struct session_id session;
	int64_t before;
	int64_t limit;
};

static void fail(struct page *p, const struct inis_error *err)
{
	http_respond_error(p->rq, err);
	free(p);
}

static json_t *entry(const struct inis_audit_row *row)
{
	struct object o = object_new();
	json_t *doc = json_loads(row->doc, 0, NULL);

	object_int(&o, "seq", row->seq);
	object_time(&o, "started_at", row->at);
	object_time(&o, "ended_at", row->ended_at);
	if (json_object_update(o.json, doc) < 0)
		o.failed = true;
	json_decref(doc);
	return object_done(&o);
}

static void on_rows(void *ctx, const struct inis_audit_row *rows, size_t count, const struct inis_error *err)
{
	struct page *p = ctx;
	size_t shown = count > (size_t)p->limit ? (size_t)p->limit : count;
	struct object o = object_new();
	json_t *list = json_array();
	char cursor[24];

	if (err) {
		json_decref(list);
		json_decref(object_done(&o));
		fail(p, err);
		return;
	}
	for (size_t i = 0; i < shown; i++)
		o.failed |= json_array_append_new(list, entry(&rows[i])) < 0;
	object_take(&o, "entries", list);
	if (count > shown) {
		snprintf(cursor, sizeof(cursor), "%" PRId64, rows[shown - 1].seq);
		object_text(&o, "next_cursor", cursor);
	}
	http_respond_json(p->rq, 200, object_done(&o));
	free(p);
}

static void list(struct page *p)
{
	struct inis_error err = INIS_ERROR_INIT;

	/* One more, to know whether that is all. */
	if (inis_store_audit_list(api_of(p->rq)->store, &p->session, p->before, (unsigned)p->limit + 1, on_rows, p,
				  &err) < 0)
		fail(p, &err);
}

static void not_found(struct page *p)
{
	struct inis_error err = INIS_ERROR_INIT;

	inis_fail(&err, INIS_NOT_FOUND, "session \"%.64s\" does not exist", http_param(p->rq, "id"));
	fail(p, &err);
}

static void on_history(void *ctx, const struct inis_session_row *rows, size_t count, const struct inis_error *err)
{
	struct page *p = ctx;

	(void)rows;
	if (err)
		fail(p, err);
	else if (count == 0)
		not_found(p);
	else
		list(p);
}

static void find(struct page *p)
{
	struct api *api = api_of(p->rq);
	struct inis_error err = INIS_ERROR_INIT;

	if (!session_id_parse(http_param(p->rq, "id"), &p->session))
		not_found(p);
	else if (registry_find(api->registry, &p->session))
		list(p);
	else if (inis_store_history_get(api->store, &p->session, on_history, p, &err) < 0)
		fail(p, &err);
}

static int read_query(struct page *p, struct inis_error *err)
{
	const char *cursor = http_query(p->rq, "cursor");
	size_t n = cursor ? strlen(cursor) : 0;

	p->limit = LIMIT_DEFAULT;
	p->before = INT64_MAX;
	if (query_int(p->rq, "limit", 1, FIELD_INT_MAX, &p->limit, err) < 0)
		return -1;
	if (p->limit > LIMIT_MAX)
		p->limit = LIMIT_MAX;
	if (!cursor)
		return 0;
	if (n < 1 || n > 18 || strspn(cursor, "0123456789") != n)
		return inis_fail_field(err, "cursor", "is malformed");
	p->before = strtoll(cursor, NULL, 10);
	return 0;
}

void audit_get(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct page *p = malloc(sizeof(*p));

	if (!p) {
		inis_fail(&err, INIS_UNAVAILABLE, "out of memory");
		http_respond_error(rq, &err);
		return;
	}
	p->rq = rq;
	if (read_query(p, &err) < 0)
		fail(p, &err);
	else
		find(p);
}
