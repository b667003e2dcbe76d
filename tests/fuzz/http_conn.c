/* SPDX-License-Identifier: Apache-2.0
 *
 * http_conn.c - any bytes on a connection are answered the same way however they are cut.
 *
 * This file stands in for sock.c: what the connection writes is kept in memory and
 * what it reads is the input, once in one piece and once in small ones.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "http/server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define INPUT_MAX 60000

static uv_loop_t loop;
static struct http_server *server;
static struct inis_buf written;

/* ---- the socket ---- */

int http_sock_accept(struct http_sock *s, struct http_conn *conn, uv_stream_t *listener, char *read_space)
{
	(void)listener;
	(void)read_space;
	s->conn = conn;
	return 0;
}

void http_sock_read(struct http_sock *s, bool on)
{
	s->reading = on;
}

void http_sock_write(struct http_sock *s, const uv_buf_t *bufs, unsigned count)
{
	if (s->closing || s->ending)
		return;
	for (unsigned i = 0; i < count; i++)
		inis_buf_append(&written, bufs[i].base, bufs[i].len);
}

size_t http_sock_unsent(const struct http_sock *s)
{
	(void)s;
	return 0;
}

bool http_sock_stalled(struct http_sock *s, uint64_t now, uint64_t ms)
{
	(void)s;
	(void)now;
	(void)ms;
	return false;
}

uint64_t http_sock_unheard_ms(const struct http_sock *s)
{
	(void)s;
	return 0;
}

bool http_sock_peer_gone(const struct http_sock *s)
{
	(void)s;
	return false;
}

bool http_sock_peer_is_local(const struct http_sock *s)
{
	(void)s;
	return false;
}

void http_sock_end(struct http_sock *s)
{
	s->ending = true;
}

void http_sock_close(struct http_sock *s, bool reset)
{
	(void)reset;
	s->closing = true;
}

/* ---- the application ---- */

static struct http_request *parked;

static void echo(struct http_request *rq)
{
	size_t n;
	const uint8_t *body = http_body(rq, &n);

	http_respond_bytes(rq, 200, "text/plain", body, n);
}

static void json(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	json_t *body = http_body_json(rq, &err);

	if (body)
		http_respond_json(rq, 200, body);
	else
		http_respond_error(rq, &err);
}

static void item(struct http_request *rq)
{
	if (!http_param(rq, "name"))
		abort();
	http_respond_json(rq, 200, json_pack("{s:s}", "name", http_param(rq, "name")));
}

static void events(struct http_request *rq)
{
	http_sse_begin(rq, NULL);
	http_sse_send_base64(rq, "stdout", NULL, "x", 1);
	http_sse_end(rq);
}

static void on_data(struct http_request *rq, void *ctx, const uint8_t *data, size_t n)
{
	unsigned *sum = ctx;

	for (size_t i = 0; i < n; i++)
		*sum = *sum * 31 + data[i];
	http_body_pause(rq);
	parked = rq;
}

static void on_end(struct http_request *rq, void *ctx)
{
	unsigned *sum = ctx;

	parked = NULL;
	http_respond_json(rq, 200, json_pack("{s:I}", "sum", (json_int_t)*sum));
}

static void on_close(struct http_request *rq, void *ctx)
{
	(void)ctx;
	parked = NULL;
	http_respond_empty(rq);
}

static void upload(struct http_request *rq)
{
	static const struct http_body_events body_events = {on_data, on_end};
	static unsigned sum;

	sum = 0;
	http_set_context(rq, &sum, on_close);
	http_body_start(rq, &body_events, &sum);
}

static const struct http_route ROUTES[] = {
	{"GET", "/i/{name}", item, 0, 0},       {"POST", "/e", echo, HTTP_NO_AUTH, 4096},
	{"POST", "/j", json, HTTP_NO_AUTH, 0},  {"PUT", "/u", upload, HTTP_NO_AUTH | HTTP_STREAM_BODY, 0},
	{"GET", "/s", events, HTTP_NO_AUTH, 0},
};

static int authenticate(void *app, const char *token)
{
	(void)app;
	return token && strcmp(token, "k") == 0 ? 0 : -1;
}

static void start(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct http_config config = {.loop = &loop,
				     .routes = ROUTES,
				     .route_count = sizeof(ROUTES) / sizeof(ROUTES[0]),
				     .authenticate = authenticate,
				     .key_count = 1,
				     .connections_max = 10,
				     .head_timeout_ms = 1000000,
				     .body_idle_timeout_ms = 1000000};

	uv_loop_init(&loop);
	config.listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (config.listen_fd < 0 || bind(config.listen_fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		abort();
	server = http_server_start(&config, NULL);
	if (!server)
		abort();
}

/* ---- one run ---- */

static void settle(struct http_conn *c)
{
	do {
		if (parked && c->rq == parked)
			http_body_resume(parked);
		uv_run(&loop, UV_RUN_NOWAIT);
	} while (c->kicked || (parked && c->rq == parked && parked->paused));
}

/* Feeds data in pieces and gives the statuses of all answers, 1xx left out, and the bodies. */
static void run(const uint8_t *data, size_t n, size_t piece, struct inis_buf *story)
{
	struct http_conn *c = http_conn_new(server);

	if (!c)
		abort();
	written.len = 0;
	http_sock_accept(&c->sock, c, NULL, NULL);
	http_server_add(server, c);
	http_conn_run(c);
	for (size_t at = 0; at < n && c->state != HTTP_CONN_CLOSED && c->sock.reading; at += piece) {
		http_conn_input(c, data + at, n - at < piece ? n - at : piece);
		settle(c);
	}
	if (c->state != HTTP_CONN_CLOSED)
		http_conn_eof(c);
	settle(c);
	if (c->rq || parked)
		abort();
	http_conn_closed(c);
	inis_buf_append(story, written.data, written.len);
	if (!inis_buf_cstr(story))
		abort();
}

/* Blanks what differs from run to run: request ids, and 100 Continue, which depends on timing. */
static void normalise(struct inis_buf *story)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	char *at = (char *)story->data;

	while ((at = memmem(at, story->len - (size_t)(at - (char *)story->data), "Id: req_", 8)))
		memset(at + 8, 'x', INIS_REQUEST_ID_LEN - 4), at += 8;
	while ((at = memmem(story->data, story->len, go_on, sizeof(go_on) - 1))) {
		memmove(at, at + sizeof(go_on) - 1,
			story->len - (size_t)(at - (char *)story->data) - sizeof(go_on) + 1);
		story->len -= sizeof(go_on) - 1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	cleanup_buf struct inis_buf whole = INIS_BUF_INIT(0), cut = INIS_BUF_INIT(0);
	size_t piece;

	if (!server)
		start();
	if (n < 1 || n > INPUT_MAX)
		return 0;
	piece = data[0] % 16 + 1;
	run(data + 1, n - 1, INPUT_MAX, &whole);
	run(data + 1, n - 1, piece, &cut);
	normalise(&whole);
	normalise(&cut);
	if (whole.len != cut.len || (whole.len > 0 && memcmp(whole.data, cut.data, whole.len) != 0)) {
		fprintf(stderr, "--- whole\n%.*s\n--- cut\n%.*s\n", (int)whole.len, whole.data, (int)cut.len, cut.data);
		abort();
	}
	return 0;
}
