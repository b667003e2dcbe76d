/* SPDX-License-Identifier: Apache-2.0
 *
 * http.h - the HTTP/1.1 server as the API code sees it.
 *
 * DOC: How it works
 *
 * One libuv loop, one thread. The server parses a request head, finds the route,
 * checks method, key and limits, and calls the route's handler: after the whole
 * body has come (the usual kind) or right after the head (HTTP_STREAM_BODY).
 * The handler may answer at once or later. It answers exactly once: with one of
 * http_respond_*(), or http_stream_begin() … http_stream_end().
 *
 * A request handle is valid until it has been answered. When the client goes
 * away before that, on_close is called once; what is written afterwards is
 * dropped, but the handler must still end the request (respond or stream_end),
 * which frees it. on_close is not called once the answer is complete.
 *
 * Memory is bounded: per connection by the head limit, the route's body limit
 * and HTTP_WRITE_HIGH bytes of unsent answer for streams; a stream's producer
 * stops when http_stream_write() says so and goes on at on_drain. A streamed
 * body is read no faster than it is consumed: http_body_pause()/resume().
 */
#ifndef INIS_HTTP_HTTP_H
#define INIS_HTTP_HTTP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/error.h"

#define HTTP_WRITE_HIGH    (256 * 1024)
#define HTTP_JSON_BODY_MAX (64 * 1024 * 1024)

struct http_server;
struct http_request;

typedef void (*http_handler)(struct http_request *rq);

#define HTTP_NO_AUTH     0x1 /* no key needed */
#define HTTP_STREAM_BODY 0x2 /* call the handler after the head; body by http_body_start() */
#define HTTP_UPGRADE     0x4 /* only for WebSockets: the handler gets sound handshakes, see http/websocket.h */
#define HTTP_UNLIMITED   0x8 /* not held back by limits, as no DELETE is */
#define HTTP_LOCAL_OPEN  0x10 /* no key needed by clients of this machine, where the server is told so */
#define HTTP_REPEATS     0x40 /* query parameters may be repeated; elsewhere that is a mistake */
#define HTTP_SLOW_BODY   0x20 /* the body may come as slowly as its sender likes */

/* Pattern: literal segments and {name} captures, e.g. "/v1/sessions/{id}/exec"; literals win over captures. */
struct http_route {
	const char *method;
	const char *pattern;
	http_handler handler;
	unsigned flags; /* HTTP_* */
	size_t body_max; /* bytes, 0 = HTTP_JSON_BODY_MAX; larger: 400 payload_too_large; ignored with STREAM_BODY */
};

struct http_config {
	uv_loop_t *loop;
	int listen_fd; /* listening socket, taken over */
	const struct http_route *routes;
	size_t route_count;
	void *app; /* http_app() of every request */
	/* The number of the key that the bearer token is, from 0, or -1; comparing in constant time is the callee's
	   duty. NULL token: none sent. */
	int (*authenticate)(void *app, const char *token);
	/* Called once for each request that was answered, for the log; may be NULL. */
	void (*answered)(const struct http_request *rq, int status, int64_t duration_us);
	/* The same for what never became a request; may be NULL. */
	void (*malformed)(void *app, const char *request_id, const struct inis_error *err);
	size_t connections_max; /* beyond it the one that was idle longest makes room; if none is, more wait in the backlog */
	uint32_t requests_max; /* going on at once; 0 = as many as connections. This and the rate: see http/limits.h */
	size_t key_count; /* authenticate() gives numbers below */
	uint32_t rate; /* requests a second and key; 0 = no limit */
	uint32_t burst; /* of one key, after a rest */
	bool local_open; /* HTTP_LOCAL_OPEN counts */
	uint64_t head_timeout_ms; /* whole head must come in this time; also idle keep-alive */
	uint64_t body_idle_timeout_ms; /* longest silence inside a body or of a reader of our answer */
	uint32_t body_rate_min; /* bytes a second of a body we wait for, on the average of some time; 0 = no limit */
	uint64_t body_patience_ms; /* that time */
	uint64_t websocket_ping_ms; /* 0 = a usual one */
};

struct http_server *http_server_start(const struct http_config *config, struct inis_error *err);
/* Stops accepting and closes idle connections; running requests may end. done is called when none is left. */
void http_server_drain(struct http_server *s, void (*done)(void *ctx), void *ctx);
/* Closes what is left and frees. */
void http_server_close(struct http_server *s, void (*done)(void *ctx), void *ctx);
/* Connections open and requests unanswered now. */
void http_server_load(const struct http_server *s, size_t *connections, size_t *requests);

/* ---- request ---- */
void *http_app(struct http_request *rq);
const struct http_route *http_route(const struct http_request *rq); /* NULL when none was found */
const char *http_route_pattern(const struct http_request *rq); /* "" when no route was found */
int http_key(const struct http_request *rq); /* number of its key, -1 for none */
const char *http_method(const struct http_request *rq);
const char *http_path(const struct http_request *rq); /* raw, without query */
const char *http_request_id(const struct http_request *rq); /* "req_…", also sent as X-Inis-Request-Id */
/* Percent-decoded capture of the pattern; never NULL for a name in it; holds no NUL and no '/'. */
const char *http_param(const struct http_request *rq, const char *name);
/* First value of a query parameter, form-decoded ('+' is space), or NULL. Not valid UTF-8 in any: the request was refused. */
const char *http_query(const struct http_request *rq, const char *name);
/* All values of a repeated one, in order, at most max; returns how many. */
int http_query_all(const struct http_request *rq, const char *name, const char **values, int max);
const char *http_header(const struct http_request *rq, const char *lower_case_name); /* or NULL */
/* Whole body (not for STREAM_BODY); *n may be 0. */
const uint8_t *http_body(const struct http_request *rq, size_t *n);
/*
 * Body as a JSON object: strict, UTF-8, no duplicate keys, depth <= 32. An empty
 * body gives an empty object. Caller owns the reference. NULL + bad_request otherwise.
 * A string may hold NUL (file contents do): look at json_string_length() where it matters.
 */
json_t *http_body_json(struct http_request *rq, struct inis_error *err);

/* Ties an object of the handler to the request; on_close as said above. */
void http_set_context(struct http_request *rq, void *ctx, void (*on_close)(struct http_request *rq, void *ctx));
void *http_context(const struct http_request *rq);

/* ---- streamed body (HTTP_STREAM_BODY) ---- */
struct http_body_events {
	void (*on_data)(struct http_request *rq, void *ctx, const uint8_t *data, size_t n);
	void (*on_end)(struct http_request *rq, void *ctx); /* whole body came */
};
/* Announced Content-Length, or -1 when chunked. */
int64_t http_content_length(const struct http_request *rq);
void http_body_start(struct http_request *rq, const struct http_body_events *events, void *ctx);
void http_body_pause(struct http_request *rq);
void http_body_resume(struct http_request *rq);

/* ---- answer ---- */
/* Takes over the reference to body. */
void http_respond_json(struct http_request *rq, int status, json_t *body);
/* {"error","code"[,"field"]} with the status of the table; Retry-After on retryable ones. */
void http_respond_error(struct http_request *rq, const struct inis_error *err);
void http_respond_empty(struct http_request *rq); /* 204 */
void http_respond_bytes(struct http_request *rq, int status, const char *content_type, const void *data, size_t n);
/* Adds a header to the answer; before it begins. */
void http_add_header(struct http_request *rq, const char *name, const char *value);

/* Sends the head at once. length -1: chunked (or until close for HTTP/1.0). on_drain: room again after a full write. */
void http_stream_begin(struct http_request *rq, int status, const char *content_type, int64_t length,
		       void (*on_drain)(struct http_request *rq, void *ctx));
/* Copies data. false: more than HTTP_WRITE_HIGH is waiting, stop until on_drain (this piece was taken all the same). */
bool http_stream_write(struct http_request *rq, const void *data, size_t n);
/* Ends the answer and frees rq. Fewer bytes than announced, or ok == false: the connection is cut so that the client sees it. */
void http_stream_end(struct http_request *rq, bool ok);

/* ---- server-sent events over a stream; frames as api/openapi.yaml says ---- */
/* Begins a text/event-stream answer with a comment every 15 s. */
void http_sse_begin(struct http_request *rq, void (*on_drain)(struct http_request *rq, void *ctx));
/* One frame. data must be one line (may be ""). id may be NULL. Returns as http_stream_write(). */
bool http_sse_send(struct http_request *rq, const char *event, const char *id, const char *data, size_t n);
/* As above with data base64-encoded; n == 0 sends nothing. */
bool http_sse_send_base64(struct http_request *rq, const char *event, const char *id, const void *data, size_t n);
/* Ends the stream and frees rq. */
void http_sse_end(struct http_request *rq);

#endif
