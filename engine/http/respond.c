/* SPDX-License-Identifier: Apache-2.0
 *
 * respond.c - answers in one piece.
 */
#include "http/respond.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "http/server.h"
#include "http/utf8.h"

#define HEAD_MAX      768
#define RETRY_AFTER_S 1

static const char *reason(int status)
{
	static const struct {
		int status;
		const char *text;
	} table[] = {
		{200, "OK"},
		{201, "Created"},
		{202, "Accepted"},
		{204, "No Content"},
		{206, "Partial Content"},
		{400, "Bad Request"},
		{401, "Unauthorized"},
		{403, "Forbidden"},
		{404, "Not Found"},
		{405, "Method Not Allowed"},
		{409, "Conflict"},
		{410, "Gone"},
		{429, "Too Many Requests"},
		{500, "Internal Server Error"},
		{501, "Not Implemented"},
		{502, "Bad Gateway"},
		{503, "Service Unavailable"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].status == status)
			return table[i].text;
	}
	return "Unknown";
}

struct head {
	int status;
	const char *id;
	const char *content_type;
	int64_t length;
	bool chunked;
	bool close;
};

/* Everything but the empty line that ends the head. */
static size_t format_head(char out[static HEAD_MAX], const struct head *h)
{
	int n = snprintf(out, HEAD_MAX, "HTTP/1.1 %d %s\r\nX-Inis-Request-Id: %s\r\n", h->status, reason(h->status),
			 h->id);

	if (h->content_type)
		n += snprintf(out + n, HEAD_MAX - (size_t)n, "Content-Type: %.200s\r\n", h->content_type);
	if (h->length >= 0)
		n += snprintf(out + n, HEAD_MAX - (size_t)n, "Content-Length: %" PRId64 "\r\n", h->length);
	if (h->chunked)
		n += snprintf(out + n, HEAD_MAX - (size_t)n, "Transfer-Encoding: chunked\r\n");
	if (h->close)
		n += snprintf(out + n, HEAD_MAX - (size_t)n, "Connection: close\r\n");
	return (size_t)n;
}

static uv_buf_t piece(const void *data, size_t n)
{
	return (uv_buf_t){.base = (char *)data, .len = n};
}

void http_write_answer(struct http_request *rq, int status, const char *content_type, int64_t length, const void *data,
		       size_t n)
{
	char text[HEAD_MAX];
	struct head h = {.status = status, .id = rq->id.s, .content_type = content_type, .length = length};
	uv_buf_t bufs[4];

	rq->bodiless = strcmp(rq->method, "HEAD") == 0;
	rq->chunked = length == HTTP_LENGTH_UNKNOWN && !rq->http10;
	h.chunked = rq->chunked;
	/* What of the body has not been read by now is not going to be. */
	if (!rq->received || rq->conn->server->draining)
		rq->keep_alive = false;
	h.close = !rq->keep_alive;
	bufs[0] = piece(text, format_head(text, &h));
	bufs[1] = piece(rq->extra.data, inis_buf_failed(&rq->extra) ? 0 : rq->extra.len);
	bufs[2] = piece("\r\n", 2);
	bufs[3] = piece(data, rq->bodiless ? 0 : n);
	http_sock_write(&rq->conn->sock, bufs, 4);
}

void http_finish(struct http_request *rq, bool cut)
{
	rq->answer = HTTP_ANSWER_DONE;
	if (rq->answered)
		rq->answered(rq, rq->status, inis_now_us() - rq->begun_us);
	if (rq->conn)
		http_conn_answered(rq->conn, cut);
	else
		http_request_put(rq);
}

/* An answer that comes after a stream has begun has no place any more: the stream is cut. */
static void respond(struct http_request *rq, int status, const char *content_type, int64_t length, const void *data,
		    size_t n)
{
	bool too_late = rq->answer != HTTP_ANSWER_NONE;

	rq->status = status;
	if (rq->conn && !too_late)
		http_write_answer(rq, status, content_type, length, data, n);
	http_finish(rq, too_late);
}

void http_respond_bytes(struct http_request *rq, int status, const char *content_type, const void *data, size_t n)
{
	respond(rq, status, content_type, (int64_t)n, data, n);
}

void http_respond_empty(struct http_request *rq)
{
	respond(rq, 204, NULL, HTTP_LENGTH_NONE, NULL, 0);
}

static void respond_text(struct http_request *rq, int status, const char *text)
{
	http_respond_bytes(rq, status, "application/json", text, strlen(text));
}

#define NO_MEMORY_TEXT "{\"error\":\"out of memory\",\"code\":\"unavailable\"}"

void http_respond_json(struct http_request *rq, int status, json_t *body)
{
	cleanup_free char *text = body && rq->conn ? json_dumps(body, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	json_decref(body);
	if (text)
		respond_text(rq, status, text);
	else
		respond_text(rq, 503, NO_MEMORY_TEXT);
}

/* Error text may quote anything; what is not UTF-8 in it becomes '?'. */
static json_t *text_value(const char *text)
{
	char clean[sizeof(((struct inis_error *)0)->message)];
	size_t n = strnlen(text, sizeof(clean) - 1);
	size_t at;

	memcpy(clean, text, n);
	while ((at = http_utf8_prefix(clean, n)) < n)
		clean[at] = '?';
	return json_stringn(clean, n);
}

static char *error_text(const struct inis_error *err)
{
	json_t *body = json_object();
	char *text = NULL;
	int failed = json_object_set_new(body, "error", text_value(err->message));

	failed |= json_object_set_new(body, "code", json_string(inis_code_name(err->code)));
	if (err->field[0])
		failed |= json_object_set_new(body, "field", text_value(err->field));
	if (!failed)
		text = json_dumps(body, JSON_COMPACT);
	json_decref(body);
	return text;
}

void http_respond_error(struct http_request *rq, const struct inis_error *err)
{
	cleanup_free char *text = error_text(err);
	char seconds[16];

	if (inis_code_retryable(err->code)) {
		snprintf(seconds, sizeof(seconds), "%d", RETRY_AFTER_S);
		http_add_header(rq, "Retry-After", seconds);
	}
	if (text)
		respond_text(rq, inis_code_http_status(err->code), text);
	else
		respond_text(rq, 503, NO_MEMORY_TEXT);
}

/* The log learns of it too; a handler that knows of the request already has its own say. */
static void tell(const struct http_conn *c, const char *id, int status, const struct inis_error *err)
{
	const struct http_server *s = c->server;

	if (c->rq && !c->rq->dispatched && c->rq->answered)
		c->rq->answered(c->rq, status, inis_now_us() - c->rq->begun_us);
	if (c->rq)
		return;
	inis_count(&inis_metrics.malformed);
	if (s->malformed)
		s->malformed(s->app, id, err);
}

void http_refuse(struct http_conn *c, const struct inis_error *err)
{
	cleanup_free char *made = error_text(err);
	const char *text = made ? made : NO_MEMORY_TEXT;
	char head_text[HEAD_MAX];
	struct request_id id;
	struct head h = {.status = made ? inis_code_http_status(err->code) : 503,
			 .id = c->rq ? c->rq->id.s : id.s,
			 .content_type = "application/json",
			 .length = (int64_t)strlen(text),
			 .close = true};
	uv_buf_t bufs[3];

	request_id_new(&id);
	bufs[0] = piece(head_text, format_head(head_text, &h));
	bufs[1] = piece("\r\n", 2);
	bufs[2] = piece(text, strlen(text));
	http_sock_write(&c->sock, bufs, 3);
	tell(c, h.id, h.status, err);
}

/* A line break in a value would begin another header. */
static void append_clean(struct inis_buf *b, const char *value)
{
	for (; *value; value++)
		inis_buf_append(b, (unsigned char)*value < 0x20 || *value == 0x7f ? "?" : value, 1);
}

void http_add_header(struct http_request *rq, const char *name, const char *value)
{
	inis_buf_puts(&rq->extra, name);
	inis_buf_puts(&rq->extra, ": ");
	append_clean(&rq->extra, value);
	inis_buf_puts(&rq->extra, "\r\n");
}
