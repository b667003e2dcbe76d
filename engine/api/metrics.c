/* SPDX-License-Identifier: Apache-2.0
 *
 * metrics.c - GET /metrics: what the server does and has done, for Prometheus.
 *
 * The broker is asked how its pool is, but not waited for for long: when something is stuck, that is when the
 * numbers are wanted.
 */
#include <stdlib.h>
#include <sys/resource.h>

#include "api/api.h"
#include "api/exposition.h"
#include "api/handlers.h"
#include "api/traffic.h"

#define POOL_WAIT_MS 1000

/* ---- families ---- */

/* One sample for each name of a list, with the counter in the same place. */
static void by_name(struct exposition *x, const char *label, const char *const *names, const inis_counter *counters,
		    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *const labels[] = {label, names[i], NULL};

		expo_sample(x, labels, inis_counted(&counters[i]));
	}
}

static void write_sessions(struct exposition *x, const struct registry_gauges *g)
{
	static const char *const create_ends[CREATE_END_COUNT] = {
		[CREATE_POOLED] = "pooled",
		[CREATE_UNPOOLED] = "unpooled",
		[CREATE_FAILED] = "failed",
		[CREATE_REFUSED] = "refused",
	};

	expo_family(x, "inis_sessions", "gauge", "Sessions now, by state; transitions are states of their own.");
	for (unsigned i = 0; i < M_STATE_COUNT; i++) {
		const char *const labels[] = {"state", machine_state_name((enum machine_state)i), NULL};

		expo_sample(x, labels, g->states[i]);
	}
	expo_family(x, "inis_session_creates_total", "counter",
		    "Creates by what came of them: with a unit of the pool, with one made on the way, without one, or "
		    "refused.");
	by_name(x, "result", create_ends, inis_metrics.creates, CREATE_END_COUNT);
	expo_gauge(x, "inis_pool_ready", "Blank units that are ready.", g->pool_ready);
	expo_gauge(x, "inis_pool_target", "Blank units that should be.", g->pool_target);
	expo_counter(x, "inis_pool_hits_total", "Creates that found a unit ready.",
		     inis_counted(&inis_metrics.creates[CREATE_POOLED]));
	expo_counter(x, "inis_pool_misses_total", "Creates that had to wait for one to be made.",
		     inis_counted(&inis_metrics.creates[CREATE_UNPOOLED]));
}

static void write_guests(struct exposition *x, const struct registry_gauges *g)
{
	static const char *const exec_ends[EXEC_END_COUNT] = {
		[EXEC_END_EXITED] = "exited",       [EXEC_END_TIMED_OUT] = "timed_out",     [EXEC_END_OOM] = "oom",
		[EXEC_END_CANCELLED] = "cancelled", [EXEC_END_NOT_STARTED] = "not_started", [EXEC_END_LOST] = "lost",
	};

	expo_gauge(x, "inis_execs_running", "Commands that run.", g->execs);
	expo_counter(x, "inis_execs_started_total", "Commands handed to a guest.",
		     inis_counted(&inis_metrics.execs_started));
	expo_family(x, "inis_execs_ended_total", "counter",
		    "The same by their end; lost: it is not known, the session or the way to it is gone.");
	by_name(x, "outcome", exec_ends, inis_metrics.execs_ended, EXEC_END_COUNT);
	expo_counter(x, "inis_processes_started_total", "Named processes started.",
		     inis_counted(&inis_metrics.processes_started));
	expo_gauge(x, "inis_terminals", "Clients attached to terminals.", g->terminals);
	expo_counter(x, "inis_terminals_attached_total", "Clients that have been.",
		     inis_counted(&inis_metrics.terminals_attached));
	expo_counter(x, "inis_agent_reconnects_total", "Connections to agents that broke and were made anew.",
		     inis_counted(&inis_metrics.agent_reconnects));
}

static void write_http(struct exposition *x, const struct api *api)
{
	static const char *const limits[LIMIT_COUNT] = {
		[LIMIT_RATE] = "requests_per_second",
		[LIMIT_REQUESTS] = "requests",
		[LIMIT_SESSION_REQUESTS] = "requests_per_session",
		[LIMIT_SESSIONS] = "sessions",
		[LIMIT_KEY_SESSIONS] = "sessions_per_key",
	};
	size_t connections, requests;

	http_server_load(api->server, &connections, &requests);
	traffic_write(api->traffic, x);
	expo_gauge(x, "inis_http_requests_in_progress", "Requests not answered yet, streams and terminals included.",
		   requests);
	expo_gauge(x, "inis_http_connections", "Connections open.", connections);
	expo_counter(x, "inis_http_connections_total", "Connections accepted.",
		     inis_counted(&inis_metrics.connections));
	expo_counter(x, "inis_http_malformed_total", "What came in place of a request.",
		     inis_counted(&inis_metrics.malformed));
	expo_counter(x, "inis_http_received_bytes_total", "Bytes from clients.",
		     inis_counted(&inis_metrics.bytes_received));
	expo_counter(x, "inis_http_sent_bytes_total", "Bytes to clients.", inis_counted(&inis_metrics.bytes_sent));
	expo_family(x, "inis_limited_total", "counter", "Refusals with 429, by the limit.");
	by_name(x, "limit", limits, inis_metrics.limited, LIMIT_COUNT);
}

/* Verbs of the broker that the front uses; the others have no name here. */
static const char *const VERBS[INIS_METRICS_VERBS] = {
	[INIS_B_HELLO] = "hello",     [INIS_B_CREATE] = "create", [INIS_B_CONNECT] = "connect",
	[INIS_B_DESTROY] = "destroy", [INIS_B_FREEZE] = "freeze", [INIS_B_THAW] = "thaw",
	[INIS_B_STATS] = "stats",     [INIS_B_LIST] = "list",     [INIS_B_TEMPLATES] = "templates",
};

static void write_broker(struct exposition *x)
{
	expo_family(x, "inis_broker_duration_seconds", "histogram",
		    "What the broker took, from the request to the end of its reply.");
	for (unsigned i = 0; i < INIS_METRICS_VERBS; i++) {
		const char *const labels[] = {"verb", VERBS[i], NULL};

		if (VERBS[i])
			expo_histogram(x, labels, &inis_metrics.broker_verbs[i]);
	}
	expo_family(x, "inis_broker_failures_total", "counter", "Requests that the broker could not carry out.");
	for (unsigned i = 0; i < INIS_METRICS_VERBS; i++) {
		const char *const labels[] = {"verb", VERBS[i], NULL};

		if (VERBS[i])
			expo_sample(x, labels, inis_counted(&inis_metrics.broker_failures[i]));
	}
}

static void write_store(struct exposition *x)
{
	uint64_t written = inis_counted(&inis_metrics.store_written);
	uint64_t queued = inis_counted(&inis_metrics.store_queued);

	expo_gauge(x, "inis_store_queue", "Writes that wait for the disk.", queued > written ? queued - written : 0);
	expo_counter(x, "inis_store_writes_total", "Writes done, with success or without.", written);
	expo_counter(x, "inis_store_failures_total", "Writes that failed.", inis_counted(&inis_metrics.store_failures));
	expo_family(x, "inis_store_commit_duration_seconds", "histogram", "What one commit of all that waited took.");
	expo_histogram(x, NULL, &inis_metrics.store_commits);
}

static uint64_t time_us(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

static void write_process(struct exposition *x, const struct api *api)
{
	const char *const build[] = {"version", INIS_VERSION, NULL};
	struct rusage used;

	expo_family(x, "inis_build_info", "gauge", "Always 1; what runs is in the labels.");
	expo_sample(x, build, 1);
	expo_family(x, "inis_loop_turn_duration_seconds", "histogram",
		    "What a turn of the event loop took without its waiting: how late anything may have been served.");
	expo_histogram(x, NULL, &inis_metrics.loop_turns);
	getrusage(RUSAGE_SELF, &used);
	expo_family(x, "process_cpu_seconds_total", "counter", "Processor time of the HTTP side.");
	expo_seconds(x, NULL, time_us(used.ru_utime) + time_us(used.ru_stime));
	expo_gauge(x, "process_start_time_seconds", "When the HTTP side started, seconds since 1970.",
		   (uint64_t)(api->started_at / 1000));
}

/* ---- request ---- */

struct scrape {
	struct http_request *rq; /* NULL: answered */
	uv_timer_t timer;
	bool asking;
	bool closed;
};

static void scrape_free(struct scrape *s)
{
	if (s->closed && !s->asking)
		free(s);
}

static void on_timer_closed(uv_handle_t *handle)
{
	struct scrape *s = handle->data;

	s->closed = true;
	scrape_free(s);
}

static void respond(struct http_request *rq)
{
	static const struct inis_error no_memory = {.code = INIS_UNAVAILABLE, .message = "out of memory"};
	static const struct inis_error ending = {.code = INIS_UNAVAILABLE, .message = "the server is stopping"};
	cleanup_buf struct inis_buf text = INIS_BUF_INIT(0);
	struct exposition x = {.to = &text};
	const struct api *api = api_of(rq);
	struct registry_gauges gauges;

	if (!api->registry) {
		http_respond_error(rq, &ending);
		return;
	}
	registry_gauges(api->registry, &gauges);
	write_sessions(&x, &gauges);
	write_guests(&x, &gauges);
	write_http(&x, api);
	write_broker(&x);
	write_store(&x);
	write_process(&x, api);
	if (inis_buf_failed(&text))
		http_respond_error(rq, &no_memory);
	else
		http_respond_bytes(rq, 200, EXPOSITION_TYPE, text.data, text.len);
}

static void answer(struct scrape *s)
{
	struct http_request *rq = s->rq;

	if (!rq)
		return;
	s->rq = NULL;
	uv_close((uv_handle_t *)&s->timer, on_timer_closed);
	respond(rq);
}

static void on_late(uv_timer_t *timer)
{
	answer(timer->data);
}

static void on_pool(void *ctx)
{
	struct scrape *s = ctx;

	s->asking = false;
	answer(s);
	scrape_free(s);
}

void metrics_get(struct http_request *rq)
{
	struct scrape *s = calloc(1, sizeof(*s));

	if (!s) {
		respond(rq);
		return;
	}
	s->rq = rq;
	uv_timer_init(api_of(rq)->loop, &s->timer);
	s->timer.data = s;
	uv_timer_start(&s->timer, on_late, POOL_WAIT_MS, 0);
	s->asking = registry_ask_pool(api_of(rq)->registry, on_pool, s) == 0;
	if (!s->asking)
		answer(s);
}
