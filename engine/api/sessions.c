/* SPDX-License-Identifier: Apache-2.0
 *
 * sessions.c - GET /v1/sessions, GET and DELETE /v1/sessions/{id}.
 *
 * Sessions that have not ended are read from memory, ended ones from the store.
 * A cursor is base64url of "created_at,id" of the last row of a page.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/fields.h"
#include "api/handlers.h"
#include "api/object.h"
#include "api/op.h"
#include "api/session_json.h"
#include "base/base64.h"

#define LIMIT_DEFAULT 50
#define LIMIT_MAX     200

struct page {
	struct http_request *rq;
	const char *state; /* NULL = all that have not ended */
	const char *external_id; /* NULL = any */
	int64_t limit;
	inis_ms before_created;
	char before_id[INIS_SESSION_ID_LEN + 1]; /* "" = first page */
	json_t *list;
	bool failed;
	char next[96]; /* "" = last page */
};

/* ---- cursor ---- */

static void to_url_alphabet(char *text, const char *from, const char *to)
{
	for (char *p = text; *p; p++) {
		for (int i = 0; from[i]; i++) {
			if (*p == from[i])
				*p = to[i];
		}
	}
}

static void make_cursor(char out[static 96], const struct session *s)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	char plain[64];
	int n = snprintf(plain, sizeof(plain), "%" PRId64 ",%s", s->created_at, s->id.s);

	inis_base64_encode(&b, plain, (size_t)n);
	if (!inis_buf_cstr(&b))
		return;
	snprintf(out, 96, "%.*s", (int)strcspn((char *)b.data, "="), (char *)b.data);
	to_url_alphabet(out, "+/", "-_");
}

static int read_cursor(struct page *p, const char *cursor, struct inis_error *err)
{
	cleanup_buf struct inis_buf plain = INIS_BUF_INIT(0);
	struct session_id id;
	char padded[128];
	char *comma, *end;
	size_t n = strlen(cursor);

	if (n < 1 || n > 96 || strpbrk(cursor, "+/="))
		return inis_fail_field(err, "cursor", "is malformed");
	snprintf(padded, sizeof(padded), "%s%s", cursor, n % 4 == 2 ? "==" : n % 4 == 3 ? "=" : "");
	to_url_alphabet(padded, "-_", "+/");
	if (!inis_base64_decode(&plain, padded, strlen(padded)) || !inis_buf_cstr(&plain))
		return inis_fail_field(err, "cursor", "is malformed");
	comma = strchr((char *)plain.data, ',');
	if (!comma || strlen((char *)plain.data) != plain.len || !session_id_parse(comma + 1, &id) ||
	    strspn((char *)plain.data, "0123456789") != (size_t)(comma - (char *)plain.data))
		return inis_fail_field(err, "cursor", "is malformed");
	p->before_created = strtoll((char *)plain.data, &end, 10);
	memcpy(p->before_id, id.s, sizeof(p->before_id));
	return 0;
}

/* ---- list ---- */

static int read_page(struct page *p, struct inis_error *err)
{
	static const char *const states[] = {"creating", "live", "paused", "lifetime_expired", "failed", "ended", NULL};
	const char *cursor = http_query(p->rq, "cursor");
	int state = -1;

	p->limit = LIMIT_DEFAULT;
	p->external_id = http_query(p->rq, "external_id");
	if (query_choice(p->rq, "state", states, &state, err) < 0 ||
	    query_int(p->rq, "limit", 1, FIELD_INT_MAX, &p->limit, err) < 0)
		return -1;
	if (p->external_id && (p->external_id[0] == '\0' || strlen(p->external_id) > 255))
		return inis_fail_field(err, "external_id", "must be 1 to 255 bytes long");
	if (p->limit > LIMIT_MAX)
		p->limit = LIMIT_MAX;
	p->state = state < 0 ? NULL : states[state];
	return cursor ? read_cursor(p, cursor, err) : 0;
}

/* false: the page was full before; p->next then leads on. */
static bool add(struct page *p, const struct session *s, const struct session *last)
{
	if ((int64_t)json_array_size(p->list) == p->limit) {
		make_cursor(p->next, last);
		return false;
	}
	if (json_array_append_new(p->list, session_json(s)) < 0)
		p->failed = true;
	return true;
}

static void answer_page(struct page *p)
{
	struct object o = object_new();

	object_take(&o, "sessions", p->list);
	if (p->next[0])
		object_text(&o, "next_cursor", p->next);
	o.failed |= p->failed;
	http_respond_json(p->rq, 200, object_done(&o));
}

static bool wanted(const struct page *p, const struct session *s)
{
	if (session_ended(s) || (p->state && strcmp(p->state, session_state(s)) != 0))
		return false;
	return !p->external_id || (s->spec.external_id && strcmp(p->external_id, s->spec.external_id) == 0);
}

static void list_known(struct page *p)
{
	struct registry *r = api_of(p->rq)->registry;
	struct session *s = registry_next(r, p->before_created, p->before_id[0] ? p->before_id : NULL);
	struct session *last = NULL;

	for (; s; s = session_next(s)) {
		if (!wanted(p, s))
			continue;
		if (!add(p, s, last))
			break;
		last = s;
	}
	answer_page(p);
}

static void on_rows(void *ctx, const struct inis_session_row *rows, size_t count, const struct inis_error *err)
{
	struct page *p = ctx;
	struct session *last = NULL;

	for (size_t i = 0; !err && i < count; i++) {
		struct session *s = session_from_row(&rows[i], NULL);
		bool more = s && add(p, s, last ? last : s);

		session_unref(last);
		last = s;
		if (s && !more)
			break;
	}
	session_unref(last);
	if (err) {
		json_decref(p->list);
		http_respond_error(p->rq, err);
	} else {
		answer_page(p);
	}
	free(p);
}

static void list_history(const struct page *page)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct page *p = malloc(sizeof(*p));
	struct inis_history_query q = {.external_id = page->external_id,
				       .before_created_at = page->before_created,
				       .limit = (unsigned)page->limit + 1};

	memcpy(q.before_id, page->before_id, sizeof(q.before_id));
	inis_fail(&err, INIS_UNAVAILABLE, "out of memory");
	if (p)
		*p = *page;
	if (p && inis_store_history(api_of(page->rq)->store, &q, on_rows, p, &err) == 0)
		return;
	free(p);
	json_decref(page->list);
	http_respond_error(page->rq, &err);
}

void sessions_get(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct page p = {.rq = rq};

	if (read_page(&p, &err) < 0) {
		http_respond_error(rq, &err);
		return;
	}
	p.list = json_array();
	if (p.state && strcmp(p.state, "ended") == 0)
		list_history(&p);
	else
		list_known(&p);
}

/* ---- one ---- */

static void show(struct http_request *rq, void *ctx, struct session *s)
{
	(void)ctx;
	http_respond_json(rq, 200, session_json(s));
}

static void show_gone(struct http_request *rq, void *ctx, struct session *gone, const struct inis_error *err)
{
	(void)ctx;
	if (gone)
		http_respond_json(rq, 200, session_json(gone));
	else
		http_respond_error(rq, err);
}

void session_get(struct http_request *rq)
{
	op_find_session(rq, show, show_gone, NULL);
}

static void on_deleted(struct session *s, void *ctx, const struct inis_error *err)
{
	struct http_request *rq = ctx;

	(void)s;
	if (err)
		http_respond_error(rq, err);
	else
		http_respond_empty(rq);
}

static enum end_reason reason_of(const struct http_request *rq)
{
	const char *text = http_query(rq, "reason");

	return text && strcmp(text, "shell_exit") == 0 ? END_SHELL_EXIT : END_CLIENT_DESTROY;
}

static void destroy(struct http_request *rq, void *ctx, struct session *s)
{
	(void)ctx;
	session_delete(s, reason_of(rq), on_deleted, rq);
}

/* One that ended by its life cycle has nothing left to destroy, which is what the caller wants. */
static void destroy_gone(struct http_request *rq, void *ctx, struct session *gone, const struct inis_error *err)
{
	(void)ctx;
	if (gone)
		http_respond_empty(rq);
	else
		http_respond_error(rq, err);
}

void session_remove(struct http_request *rq)
{
	static const char *const reasons[] = {"client_destroy", "shell_exit", NULL};
	struct inis_error err = INIS_ERROR_INIT;
	int reason = 0;

	if (query_choice(rq, "reason", reasons, &reason, &err) < 0) {
		http_respond_error(rq, &err);
		return;
	}
	op_find_session(rq, destroy, destroy_gone, NULL);
}
