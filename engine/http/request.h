/* SPDX-License-Identifier: Apache-2.0
 *
 * request.h - one request, as the files of this layer share it.
 *
 * Two own it: the handler, from the head until it has answered, and whoever is
 * in the middle of calling it (http_request_get/put), because an answer may be
 * given inside any callback. `conn` is NULL from the moment the client is gone.
 */
#ifndef INIS_HTTP_REQUEST_H
#define INIS_HTTP_REQUEST_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/id.h"
#include "http/http.h"
#include "http/url.h"

#define HTTP_HEADERS_MAX 100

struct http_conn;
struct http_spans;
struct websocket;

enum http_answer {
	HTTP_ANSWER_NONE, /* nothing sent yet */
	HTTP_ANSWER_STREAM, /* head sent, pieces follow */
	HTTP_ANSWER_DONE,
};

struct http_request {
	unsigned refs;
	struct http_conn *conn;
	void *app;
	struct request_id id;
	int key; /* number of its key; -1: none */

	/* Head. Strings point into text. */
	struct http_spans *spans; /* while the head is parsed */
	const char *method;
	char *path;
	struct http_pair headers[HTTP_HEADERS_MAX];
	int header_count;
	struct http_pair query[HTTP_QUERY_MAX];
	int query_count;
	struct http_pair params[HTTP_SEGMENTS_MAX];
	int param_count;
	bool http10;
	bool keep_alive;
	bool expects_continue;
	int64_t content_length; /* -1: chunked */

	/* Body: gathered in `body`, or handed on by `events`. */
	const struct http_route *route;
	struct inis_buf body;
	size_t charged; /* of the server's memory for bodies */
	size_t trailing_bytes; /* chunk extensions and trailers, which count but are not used */
	bool received; /* all of it was read from the connection */
	bool dispatched; /* the handler was called */
	bool paused;
	size_t came; /* body bytes since the last tick */
	uint64_t patience_ms; /* how much longer its body may be late */
	struct inis_error body_error; /* why the body is refused, when it is */
	const struct http_body_events *events;
	void *events_ctx;
	struct inis_buf held; /* parsed while paused */

	void *context;
	void (*on_close)(struct http_request *rq, void *ctx);

	/* Answer. */
	enum http_answer answer;
	int status;
	int64_t begun_us;
	void (*answered)(const struct http_request *rq, int status, int64_t duration_us);
	struct inis_buf extra; /* header lines the handler added */
	bool chunked;
	bool bodiless; /* to a HEAD request: headers only */
	bool sse;
	bool full; /* a write was refused more; on_drain is owed */
	int64_t announced; /* bytes, -1: unknown */
	uint64_t sent;
	uint64_t written_at; /* loop time of the last write of a stream */
	void (*on_drain)(struct http_request *rq, void *ctx);
	struct websocket *websocket; /* what it has become, or NULL */

	char *room; /* behind the head, for the decoded path */
	char text[]; /* the head with its strings terminated */
};

/* A request with room for n bytes of text; refs is 1, the handler's. NULL: no memory. */
struct http_request *http_request_new(size_t n);
void http_request_get(struct http_request *rq);
void http_request_put(struct http_request *rq);
/* The client is gone: says so to the handler, or frees when it was never called. */
void http_request_abandon(struct http_request *rq);
int http_header_count(const struct http_request *rq, const char *lower_case_name);

#endif
