/* SPDX-License-Identifier: Apache-2.0
 *
 * request.c - what a handler can ask a request.
 */
#include "http/request.h"

#include <stdlib.h>
#include <string.h>

#include "http/json.h"
#include "http/upgrade.h"

struct http_request *http_request_new(size_t n)
{
	struct http_request *rq = malloc(sizeof(*rq) + n);

	if (!rq)
		return NULL;
	memset(rq, 0, sizeof(*rq));
	rq->refs = 1;
	rq->key = -1;
	request_id_new(&rq->id);
	return rq;
}

void http_request_get(struct http_request *rq)
{
	rq->refs++;
}

void http_request_put(struct http_request *rq)
{
	if (--rq->refs > 0)
		return;
	inis_buf_free(&rq->body);
	inis_buf_free(&rq->held);
	inis_buf_free(&rq->extra);
	http_socket_free(rq->websocket);
	free(rq);
}

void http_request_abandon(struct http_request *rq)
{
	void (*on_close)(struct http_request *, void *) = rq->on_close;

	rq->conn = NULL;
	inis_buf_free(&rq->held);
	if (!rq->dispatched) {
		http_request_put(rq);
		return;
	}
	rq->on_close = NULL;
	if (on_close)
		on_close(rq, rq->context);
}

const struct http_route *http_route(const struct http_request *rq)
{
	return rq->route;
}

int http_key(const struct http_request *rq)
{
	return rq->key;
}

const char *http_route_pattern(const struct http_request *rq)
{
	return rq->route ? rq->route->pattern : "";
}

void *http_app(struct http_request *rq)
{
	return rq->app;
}

const char *http_method(const struct http_request *rq)
{
	return rq->method;
}

const char *http_path(const struct http_request *rq)
{
	return rq->path;
}

const char *http_request_id(const struct http_request *rq)
{
	return rq->id.s;
}

static const char *look_up(const struct http_pair *pairs, int count, const char *name)
{
	for (int i = 0; i < count; i++) {
		if (strcmp(pairs[i].name, name) == 0)
			return pairs[i].value;
	}
	return NULL;
}

const char *http_param(const struct http_request *rq, const char *name)
{
	return look_up(rq->params, rq->param_count, name);
}

const char *http_query(const struct http_request *rq, const char *name)
{
	return look_up(rq->query, rq->query_count, name);
}

int http_query_all(const struct http_request *rq, const char *name, const char **values, int max)
{
	int count = 0;

	for (int i = 0; i < rq->query_count && count < max; i++) {
		if (strcmp(rq->query[i].name, name) == 0)
			values[count++] = rq->query[i].value;
	}
	return count;
}

const char *http_header(const struct http_request *rq, const char *lower_case_name)
{
	return look_up(rq->headers, rq->header_count, lower_case_name);
}

int http_header_count(const struct http_request *rq, const char *lower_case_name)
{
	int count = 0;

	for (int i = 0; i < rq->header_count; i++)
		count += strcmp(rq->headers[i].name, lower_case_name) == 0;
	return count;
}

const uint8_t *http_body(const struct http_request *rq, size_t *n)
{
	*n = rq->body.len;
	return rq->body.data;
}

json_t *http_body_json(struct http_request *rq, struct inis_error *err)
{
	return http_json_object(rq->body.data, rq->body.len, err);
}

int64_t http_content_length(const struct http_request *rq)
{
	return rq->content_length;
}

void http_set_context(struct http_request *rq, void *ctx, void (*on_close)(struct http_request *rq, void *ctx))
{
	rq->context = ctx;
	rq->on_close = on_close;
}

void *http_context(const struct http_request *rq)
{
	return rq->context;
}
