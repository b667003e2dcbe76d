/* SPDX-License-Identifier: Apache-2.0
 *
 * app.c - a small application on a real server.
 */
#include "app.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <uv.h>

#include "http/http.h"
#include "sockets.h"
#include "upload.h"

struct app_inside {
	pthread_t thread;
	uv_loop_t loop;
	uv_async_t wake;
	uv_timer_t poll;
	struct http_server *server;
	atomic_bool drain_wanted;
	atomic_bool stop_wanted;
	bool draining;
	bool stopping;
	struct http_request *parked[256];
	size_t parked_count;
};

uv_loop_t *app_loop(struct app *app)
{
	return &app->inside->loop;
}

struct app *app_called(struct http_request *rq)
{
	struct app *app = http_app(rq);

	atomic_fetch_add(&app->calls, 1);
	return app;
}

void app_count_close(struct http_request *rq, void *ctx)
{
	struct app *app = http_app(rq);

	(void)ctx;
	atomic_fetch_add(&app->closes, 1);
}

void app_no_memory(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;

	inis_fail(&err, INIS_UNAVAILABLE, "out of memory");
	http_respond_error(rq, &err);
}

/* ---- handlers ---- */

static void get_hello(struct http_request *rq)
{
	app_called(rq);
	http_respond_json(rq, 200, json_pack("{s:b}", "ok", 1));
}

static void get_item(struct http_request *rq)
{
	const char *q = http_query(rq, "q");

	app_called(rq);
	http_respond_json(rq, 200, json_pack("{s:s, s:s?}", "name", http_param(rq, "name"), "q", q));
}

static void get_special(struct http_request *rq)
{
	app_called(rq);
	http_respond_json(rq, 200, json_pack("{s:s}", "special", "literal"));
}

static void delete_item(struct http_request *rq)
{
	app_called(rq);
	http_respond_empty(rq);
}

static void post_json(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	json_t *body = http_body_json(rq, &err);

	app_called(rq);
	if (body)
		http_respond_json(rq, 200, body);
	else
		http_respond_error(rq, &err);
}

static void post_echo(struct http_request *rq)
{
	size_t n;
	const uint8_t *body = http_body(rq, &n);

	app_called(rq);
	http_respond_bytes(rq, 200, "application/octet-stream", body, n);
}

static void get_busy(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;

	app_called(rq);
	inis_fail(&err, INIS_UNAVAILABLE, "busy \xff\x01");
	http_respond_error(rq, &err);
}

static void get_field(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;

	app_called(rq);
	inis_fail_field(&err, "cwd", "must exist");
	http_respond_error(rq, &err);
}

/* Answers when the test says so. */
static void get_hang(struct http_request *rq)
{
	struct app *app = app_called(rq);

	http_set_context(rq, app, app_count_close);
	app->inside->parked[app->inside->parked_count++] = rq;
}

static void get_large(struct http_request *rq)
{
	size_t n = (size_t)atol(http_query(rq, "n"));
	char *data = malloc(n);

	app_called(rq);
	if (!data) {
		app_no_memory(rq);
		return;
	}
	memset(data, 'x', n);
	http_respond_bytes(rq, 200, "application/octet-stream", data, n);
	free(data);
}

/* Three pieces; ?length=N announces one, ?cut=1 ends badly. */
static void get_pieces(struct http_request *rq)
{
	const char *length = http_query(rq, "length");

	app_called(rq);
	http_add_header(rq, "X-Note", "a\r\nb");
	http_stream_begin(rq, 200, "text/plain", length ? atol(length) : -1, NULL);
	http_stream_write(rq, "one", 3);
	http_stream_write(rq, "two", 3);
	http_stream_write(rq, "three", 5);
	http_stream_end(rq, !http_query(rq, "cut"));
}

static void flood(struct http_request *rq, void *ctx)
{
	static const char block[16384];
	struct app *app = http_app(rq);

	(void)ctx;
	atomic_fetch_add(&app->drains, 1);
	while (!atomic_load(&app->ended)) {
		atomic_fetch_add(&app->produced, sizeof(block));
		if (!http_stream_write(rq, block, sizeof(block))) {
			atomic_fetch_add(&app->refused_writes, 1);
			return;
		}
	}
}

/* Writes as fast as it may until the test ends it or the client is gone. */
static void get_flood(struct http_request *rq)
{
	struct app *app = app_called(rq);

	http_set_context(rq, app, app_count_close);
	http_stream_begin(rq, 200, "application/octet-stream", -1, flood);
	app->inside->parked[app->inside->parked_count++] = rq;
	flood(rq, app);
}

static void get_events(struct http_request *rq)
{
	struct app *app = app_called(rq);

	http_set_context(rq, app, app_count_close);
	http_sse_begin(rq, NULL);
	http_sse_send_base64(rq, "stdout", NULL, "hi\n", 3);
	http_sse_send_base64(rq, "stdout", NULL, "", 0);
	http_sse_send_base64(rq, "stderr", "3,4", "oops", 4);
	if (http_query(rq, "late")) {
		http_respond_json(rq, 200, json_object());
		return;
	}
	if (http_query(rq, "wait")) {
		app->inside->parked[app->inside->parked_count++] = rq;
		return;
	}
	http_sse_send(rq, "exit", NULL, "{\"exit_code\":0}", 15);
	http_sse_send(rq, "eof", NULL, "", 0);
	http_sse_end(rq);
}

static const struct http_route ROUTES[] = {
	{"GET", "/open", get_hello, HTTP_NO_AUTH, 0},
	{"GET", "/hello", get_hello, 0, 0},
	{"GET", "/items/{name}", get_item, 0, 0},
	{"DELETE", "/items/{name}", delete_item, 0, 0},
	{"GET", "/items/special", get_special, 0, 0},
	{"GET", "/items/{id}/parts/{name}", get_item, 0, 0},
	{"POST", "/json", post_json, 0, 0},
	{"POST", "/echo", post_echo, 0, 1024 * 1024},
	{"GET", "/busy", get_busy, 0, 0},
	{"GET", "/field", get_field, 0, 0},
	{"GET", "/hang", get_hang, 0, 0},
	{"GET", "/large", get_large, 0, 0},
	{"HEAD", "/large", get_large, 0, 0},
	{"GET", "/pieces", get_pieces, 0, 0},
	{"GET", "/flood", get_flood, 0, 0},
	{"GET", "/events", get_events, 0, 0},
	{"PUT", "/upload", put_upload, HTTP_STREAM_BODY, 0},
	{"PUT", "/patient", put_upload, HTTP_STREAM_BODY | HTTP_SLOW_BODY, 0},
	{"GET", "/unlimited", get_hello, HTTP_UNLIMITED, 0},
	{"PUT", "/slow-upload", put_slow_upload, HTTP_STREAM_BODY, 0},
	{"PUT", "/stuck", put_stuck_upload, HTTP_STREAM_BODY, 0},
	{"PUT", "/refused", put_refused, HTTP_STREAM_BODY, 0},
	{"PUT", "/half", put_half, HTTP_STREAM_BODY, 0},
	{"GET", "/socket", get_socket, HTTP_UPGRADE, 0},
};

/* ---- the thread ---- */

static int authenticate(void *ctx, const char *token)
{
	(void)ctx;
	return token && strcmp(token, APP_KEY) == 0 ? 0 : -1;
}

static void on_malformed(void *ctx, const char *request_id, const struct inis_error *err)
{
	struct app *app = ctx;

	if (strncmp(request_id, "req_", 4) == 0 && err->code != INIS_OK)
		atomic_fetch_add(&app->malformed, 1);
}

static void end_parked(struct app *app)
{
	struct app_inside *in = app->inside;

	for (size_t i = 0; i < in->parked_count; i++)
		http_stream_end(in->parked[i], true);
	in->parked_count = 0;
}

static void on_drained(void *ctx)
{
	struct app *app = ctx;

	atomic_store(&app->drained, true);
}

static void on_server_closed(void *ctx)
{
	struct app *app = ctx;

	app->inside->server = NULL;
	uv_close((uv_handle_t *)&app->inside->poll, NULL);
	uv_close((uv_handle_t *)&app->inside->wake, NULL);
}

static void look(struct app *app)
{
	struct app_inside *in = app->inside;
	size_t connections, requests;

	if (!in->server)
		return;
	http_server_load(in->server, &connections, &requests);
	atomic_store(&app->connections, connections);
	atomic_store(&app->requests, requests);
	if (atomic_load(&app->ended))
		end_parked(app);
	if (atomic_load(&in->drain_wanted) && !in->draining) {
		in->draining = true;
		http_server_drain(in->server, on_drained, app);
	}
	if (atomic_load(&in->stop_wanted) && !in->stopping) {
		in->stopping = true;
		http_server_close(in->server, on_server_closed, app);
		atomic_store(&app->ended, true);
		end_parked(app);
	}
}

static void on_poll(uv_timer_t *timer)
{
	look(timer->data);
}

static void on_wake(uv_async_t *async)
{
	look(async->data);
}

static void *run(void *ctx)
{
	struct app *app = ctx;

	uv_run(&app->inside->loop, UV_RUN_DEFAULT);
	return NULL;
}

static int listen_on_loopback(int *port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, n) < 0 || listen(fd, 511) < 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &n) < 0)
		abort();
	*port = ntohs(at.sin_port);
	return fd;
}

struct app *app_start(const struct app_options *options)
{
	struct app *app = calloc(1, sizeof(*app));
	struct app_inside *in = calloc(1, sizeof(*in));
	struct inis_error err = INIS_ERROR_INIT;
	struct http_config config = {
		.loop = &in->loop,
		.routes = ROUTES,
		.route_count = sizeof(ROUTES) / sizeof(ROUTES[0]),
		.app = app,
		.authenticate = authenticate,
		.connections_max = options->connections_max ? options->connections_max : 1000,
		.head_timeout_ms = options->head_timeout_ms ? options->head_timeout_ms : 60000,
		.body_idle_timeout_ms = options->body_idle_timeout_ms ? options->body_idle_timeout_ms : 60000,
		.websocket_ping_ms = options->websocket_ping_ms,
		.malformed = on_malformed,
		.key_count = 1,
		.rate = options->rate,
		.burst = options->burst,
		.requests_max = options->requests_max,
		.body_rate_min = options->body_rate_min,
		.body_patience_ms = options->body_patience_ms,
	};

	app->inside = in;
	uv_loop_init(&in->loop);
	config.listen_fd = listen_on_loopback(&app->port);
	in->server = http_server_start(&config, &err);
	if (!in->server)
		abort();
	uv_async_init(&in->loop, &in->wake, on_wake);
	uv_timer_init(&in->loop, &in->poll);
	in->wake.data = in->poll.data = app;
	uv_timer_start(&in->poll, on_poll, 10, 10);
	if (pthread_create(&in->thread, NULL, run, app) != 0)
		abort();
	return app;
}

void app_drain(struct app *app)
{
	atomic_store(&app->inside->drain_wanted, true);
	uv_async_send(&app->inside->wake);
}

void app_stop(struct app *app)
{
	atomic_store(&app->inside->stop_wanted, true);
	uv_async_send(&app->inside->wake);
	pthread_join(app->inside->thread, NULL);
	if (uv_loop_close(&app->inside->loop) != 0)
		abort();
	free(app->inside);
	free(app);
}
