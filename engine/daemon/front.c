/* SPDX-License-Identifier: Apache-2.0
 *
 * front.c - the unprivileged half of the server: one loop with the API, the sessions and their timers.
 *
 * Start: configuration, store, sessions compared with the broker's units, then
 * listening. End: at SIGTERM or when idle it stops accepting, lets running
 * requests finish for a while, writes what is not on disk and leaves; the
 * sessions run on. When the broker goes away it leaves at once and is started
 * again together with it.
 */
#include "daemon/front.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

#include "api/api.h"
#include "api/traffic.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/wall.h"
#include "daemon/front_config.h"
#include "daemon/front_memory.h"
#include "daemon/front_sandbox.h"
#include "daemon/loop_turns.h"

#define HEAD_TIMEOUT_MS 30000
#define BODY_IDLE_MS    120000
#define BODY_RATE_MIN   512 /* bytes a second */
#define BODY_PATIENCE   30000 /* ms */
#define DRAIN_MS        5000
#define IDLE_LOOK_MS    1000
#define STATUS_OK       0
#define STATUS_FAILED   1

enum front_phase { FRONT_STARTING, FRONT_SERVING, FRONT_DRAINING, FRONT_CLOSING };

struct front {
	uv_loop_t loop;
	struct front_config config;
	struct api api; /* first thing a handler sees */
	struct http_server *server;
	uv_signal_t on_term;
	uv_signal_t on_int;
	uv_timer_t drain_timer;
	uv_timer_t idle_timer;
	enum front_phase phase;
	inis_ms last_request;
	int status;
};

static struct front front;

/* ---- the end ---- */

static void on_kept_closed(void *ctx)
{
	(void)ctx;
	uv_stop(&front.loop);
}

static void on_store_closed(void *ctx)
{
	inis_kept_close(front.api.kept, on_kept_closed, ctx);
}

static void close_store(void *ctx)
{
	(void)ctx;
	if (front.api.registry)
		registry_close(front.api.registry);
	front.api.registry = NULL;
	inis_store_close(front.api.store, on_store_closed, NULL);
}

static void close_all(void)
{
	if (front.phase == FRONT_CLOSING)
		return;
	front.phase = FRONT_CLOSING;
	uv_timer_stop(&front.drain_timer);
	if (front.server)
		http_server_close(front.server, close_store, NULL);
	else
		close_store(NULL);
}

static void on_drained(void *ctx)
{
	(void)ctx;
	close_all();
}

static void on_drain_late(uv_timer_t *timer)
{
	(void)timer;
	close_all();
}

static void leave(int status, const char *why)
{
	if (front.phase >= FRONT_DRAINING)
		return;
	inis_log(INIS_LOG_INFO, "leaving", "why", why, NULL);
	front.status = status;
	uv_timer_stop(&front.idle_timer);
	if (front.phase == FRONT_STARTING) {
		close_all();
		return;
	}
	front.phase = FRONT_DRAINING;
	uv_timer_start(&front.drain_timer, on_drain_late, DRAIN_MS, 0);
	http_server_drain(front.server, on_drained, NULL);
}

static void on_signal(uv_signal_t *handle, int signum)
{
	(void)handle;
	leave(STATUS_OK, signum == SIGTERM ? "SIGTERM" : "SIGINT");
}

/* Nothing can be done without it, and a new front finds everything again. */
static void on_broker_lost(void *ctx)
{
	(void)ctx;
	if (front.phase < FRONT_DRAINING)
		_exit(STATUS_FAILED);
}

/* ---- idling ---- */

static bool is_idle(void)
{
	struct registry_load load;
	size_t connections, requests;

	registry_load(front.api.registry, &load);
	http_server_load(front.server, &connections, &requests);
	return load.running + load.paused == 0 && requests == 0 &&
	       inis_now_ms() - front.last_request >= front.config.exit_when_idle_ms;
}

static void on_idle_look(uv_timer_t *timer)
{
	(void)timer;
	if (is_idle())
		leave(INIS_FRONT_EXIT_IDLE, "idle");
}

/* ---- serving ---- */

static void on_answered(const struct http_request *rq, int status, int64_t duration_us)
{
	struct session_id id;
	const char *route = http_route_pattern(rq);
	bool named = strstr(route, "{id}") && session_id_parse(http_param(rq, "id"), &id);

	front.last_request = inis_now_ms();
	front_memory_used();
	traffic_count(front.api.traffic, rq, status, duration_us);
	inis_log(INIS_LOG_INFO, "request", "request", http_request_id(rq), "method", http_method(rq), "route", route,
		 "status", inis_log_int(status), "ms", inis_log_int(duration_us / 1000), "session", named ? id.s : NULL,
		 NULL);
}

static void on_malformed(void *app, const char *request_id, const struct inis_error *err)
{
	(void)app;
	inis_log(INIS_LOG_INFO, "malformed request", "request", request_id, "status",
		 inis_log_int(inis_code_http_status(err->code)), "error", err->message, NULL);
}

/* Of the files this process may open some must be left for sessions. */
static uint32_t connections_max(void)
{
	uint32_t wanted = front.config.connections_max;
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur / 2 >= wanted)
		return wanted;
	inis_log(INIS_LOG_WARN, "fewer connections than configured: too few open files are allowed", "connections",
		 inis_log_int((long long)files.rlim_cur / 2), NULL);
	return (uint32_t)(files.rlim_cur / 2);
}

static void set_limits(uint32_t connections)
{
	front.api.limits = (struct api_limits){.sessions = front.config.sessions_max,
					       .key_sessions = front.config.sessions_per_key_max,
					       .requests = connections - connections / 4,
					       .session_requests = front.config.session_requests_max,
					       .rate = front.config.rate_limit,
					       .burst = front.config.rate_burst};
}

static int serve(struct inis_error *err)
{
	const uint32_t connections = connections_max();
	const struct http_config http = {.loop = &front.loop,
					 .listen_fd = INIS_FRONT_FD_LISTEN,
					 .routes = API_ROUTES,
					 .route_count = API_ROUTE_COUNT,
					 .app = &front.api,
					 .authenticate = api_authenticate,
					 .answered = on_answered,
					 .malformed = on_malformed,
					 .connections_max = connections,
					 .requests_max = connections - connections / 4,
					 .key_count = inis_store_key_count(front.api.store),
					 .rate = front.config.rate_limit,
					 .burst = front.config.rate_burst,
					 .local_open = front.config.metrics_local,
					 .head_timeout_ms = HEAD_TIMEOUT_MS,
					 .body_idle_timeout_ms = BODY_IDLE_MS,
					 .body_rate_min = BODY_RATE_MIN,
					 .body_patience_ms = BODY_PATIENCE};

	/* Before the first byte of a client. */
	if (WALL("front.seccomp") && inis_front_sandbox(err) < 0)
		return -1;
	set_limits(connections);
	front.server = http_server_start(&http, err);
	if (!front.server)
		return -1;
	front.api.server = front.server;
	front.phase = FRONT_SERVING;
	front.last_request = inis_now_ms();
	if (front.config.exit_when_idle_ms > 0)
		uv_timer_start(&front.idle_timer, on_idle_look, IDLE_LOOK_MS, IDLE_LOOK_MS);
	inis_log(INIS_LOG_INFO, "serving", "base_url", front.config.base_url, "version", front.config.version, NULL);
	return 0;
}

static void give_up(const struct inis_error *err)
{
	inis_log(INIS_LOG_ERROR, "cannot serve", "error", err->message, NULL);
	leave(STATUS_FAILED, "start failed");
}

static void on_registry_started(void *ctx, const struct inis_error *err)
{
	struct inis_error mine = INIS_ERROR_INIT;

	(void)ctx;
	if (front.phase != FRONT_STARTING)
		return;
	if (err || serve(&mine) < 0)
		give_up(err ? err : &mine);
}

/* ---- start ---- */

static int open_store(struct inis_error *err)
{
	const struct inis_store_config config = {
		.loop = &front.loop, .dir = front.config.store_dir, .history_ms = 30LL * 24 * 3600 * 1000};

	front.api.store = inis_store_open(&config, err);
	if (!front.api.store)
		return -1;
	return inis_store_keys_set(front.api.store, (const char *const *)front.config.keys, front.config.key_count,
				   err);
}

static int open_kept(struct inis_error *err)
{
	const struct inis_kept_config config = {.loop = &front.loop,
						.dir = front.config.logs_dir,
						.keep_ms = front.config.logs_keep_ms,
						.max_bytes = (uint64_t)front.config.logs_max_bytes};

	front.api.kept = inis_kept_open(&config, err);
	return front.api.kept ? 0 : -1;
}

static void on_unit_gone(void *ctx, const struct session_id *id)
{
	(void)ctx;
	inis_kept_added(front.api.kept, id);
}

static int open_registry(struct inis_error *err)
{
	const struct registry_config config = {.loop = &front.loop,
					       .store = front.api.store,
					       .broker_fd = INIS_FRONT_FD_BROKER,
					       .sessions_max = front.config.sessions_max,
					       .key_sessions_max = front.config.sessions_per_key_max,
					       .pids_max = front.config.pids_max,
					       .disk_mb = front.config.disk_mb,
					       .on_broker_lost = on_broker_lost,
					       .on_unit_gone = on_unit_gone,
					       .on_started = on_registry_started};

	front.api.registry = registry_open(&config, err);
	return front.api.registry ? 0 : -1;
}

static int set_up_loop(struct inis_error *err)
{
	if (uv_loop_init(&front.loop) < 0)
		return inis_fail(err, INIS_INTERNAL, "no event loop");
	loop_turns_watch(&front.loop);
	front_memory_watch(&front.loop);
	front.api.loop = &front.loop;
	front.api.started_at = inis_wall_ms();
	front.api.traffic = traffic_new();
	if (!front.api.traffic)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	uv_signal_init(&front.loop, &front.on_term);
	uv_signal_init(&front.loop, &front.on_int);
	uv_timer_init(&front.loop, &front.drain_timer);
	uv_timer_init(&front.loop, &front.idle_timer);
	if (uv_signal_start(&front.on_term, on_signal, SIGTERM) < 0 ||
	    uv_signal_start(&front.on_int, on_signal, SIGINT) < 0)
		return inis_fail(err, INIS_INTERNAL, "no signal handlers");
	return 0;
}

static int set_up(struct inis_error *err)
{
	if (front_config_read(&front.config, INIS_FRONT_FD_CONFIG, err) < 0 || set_up_loop(err) < 0 ||
	    open_store(err) < 0 || open_kept(err) < 0)
		return -1;
	front_config_forget_keys(&front.config);
	return open_registry(err);
}

int inis_front_main(void)
{
	struct inis_error err = INIS_ERROR_INIT;

	signal(SIGPIPE, SIG_IGN);
	/* Memory holds secrets: no core files, no tracing by others of this uid. */
	prctl(PR_SET_DUMPABLE, 0);
	if (set_up(&err) < 0) {
		inis_log(INIS_LOG_ERROR, "cannot start", "error", err.message, NULL);
		return STATUS_FAILED;
	}
	uv_run(&front.loop, UV_RUN_DEFAULT);
	return front.status;
}
