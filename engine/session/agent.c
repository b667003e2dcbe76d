/* SPDX-License-Identifier: Apache-2.0
 *
 * agent.c - the connection to an agent: attach, greet, write, break, try again.
 *
 * A broken connection is asked for again at once and then at growing distances;
 * after the last try all calls end. A connection that has worked for a while
 * starts the count anew, so that an agent which breaks every connection ends in
 * on_lost and not in a busy loop.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/metrics.h"
#include "session/agent_private.h"

#define READ_SIZE      (64 * 1024)
#define GREET_LIMIT_MS 10000
#define STABLE_MS      10000
#define OWED_MAX       (4 * 1024 * 1024) /* more than all windows of a session are worth in acknowledgements */

static const inis_ms RETRY_MS[] = {0, 100, 300, 1000, 3000};
#define RETRIES (sizeof(RETRY_MS) / sizeof(RETRY_MS[0]))

static void on_timer(uv_timer_t *timer);
static void drop(struct agent *a);
static void broke(struct agent *a);

/* ---- life of the object ---- */

static void on_timer_closed(uv_handle_t *handle)
{
	struct agent *a = handle->data;

	inis_buf_free(&a->control);
	free(a);
}

struct agent *agent_new(uv_loop_t *loop, const struct agent_owner *owner, void *ctx, struct inis_error *err)
{
	struct agent *a = calloc(1, sizeof(*a));

	if (!a) {
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		return NULL;
	}
	a->loop = loop;
	a->owner = *owner;
	a->ctx = ctx;
	a->window = INIS_AGENT_WINDOW;
	a->timer_at = a->retry_at = a->greet_by = a->quiet_by = INIS_NEVER;
	a->control.max = INIS_MESSAGE_MAX;
	TAILQ_INIT(&a->calls);
	uv_timer_init(loop, &a->timer);
	a->timer.data = a;
	return a;
}

void agent_enter(struct agent *a)
{
	a->busy++;
}

void agent_leave(struct agent *a)
{
	if (--a->busy == 0 && a->closed && !uv_is_closing((uv_handle_t *)&a->timer))
		uv_close((uv_handle_t *)&a->timer, on_timer_closed);
}

static void end_calls(struct agent *a, const struct inis_error *why)
{
	struct agent_call *c;

	while ((c = TAILQ_FIRST(&a->calls)))
		call_done(c, NULL, why);
}

void agent_close(struct agent *a, const struct inis_error *why)
{
	if (!a || a->closed)
		return;
	agent_enter(a);
	a->closed = true;
	drop(a);
	end_calls(a, why);
	agent_leave(a);
}

bool agent_connected(const struct agent *a)
{
	return a->state == AGENT_UP;
}

/* ---- timer ---- */

void agent_arm(struct agent *a)
{
	if (a->closed)
		return;
	if (a->timer_at == INIS_NEVER && a->quiet_by == INIS_NEVER)
		uv_timer_stop(&a->timer);
	else
		uv_timer_start(&a->timer, on_timer, agent_timer_ms(a), 0);
}

void agent_wake_at(struct agent *a, inis_ms when)
{
	if (a->closed || when >= a->timer_at)
		return;
	a->timer_at = when;
	agent_arm(a);
}

/* A call that we hold back ourselves, or whose input the client has not sent, is not the agent's fault. */
static inis_ms due(const struct agent_call *c)
{
	bool ours = c->held || (c->input_open && !c->input_eof && c->input.len == 0);

	return ours && !c->absolute && c->deadline > 0 ? INIS_NEVER : c->deadline;
}

static void expire_calls(struct agent *a, inis_ms now)
{
	struct agent_call *c, *next;
	bool again = true;

	/* A handler may end other calls, so each end starts the search anew. */
	while (again && !a->closed) {
		again = false;
		for (c = TAILQ_FIRST(&a->calls); c; c = next) {
			next = TAILQ_NEXT(c, link);
			if (due(c) > now)
				continue;
			call_control(c, INIS_F_RELEASE, NULL);
			if (inis_buf_failed(&c->input))
				call_fail(c, INIS_UNAVAILABLE, "out of memory");
			else
				call_fail(c, INIS_SESSION_UNAVAILABLE, "the sandbox did not answer in time");
			again = true;
			break;
		}
	}
}

static void ask(struct agent *a)
{
	a->state = AGENT_CONNECTING;
	a->retry_at = INIS_NEVER;
	a->owner.on_connect(a->ctx);
}

static inis_ms next_due(const struct agent *a)
{
	inis_ms first = a->retry_at < a->greet_by ? a->retry_at : a->greet_by;
	const struct agent_call *c;

	TAILQ_FOREACH (c, &a->calls, link) {
		if (due(c) < first)
			first = due(c);
	}
	return first;
}

static void on_timer(uv_timer_t *timer)
{
	struct agent *a = timer->data;
	inis_ms now = agent_now(a);

	agent_enter(a);
	a->timer_at = INIS_NEVER;
	if (a->broken)
		broke(a);
	if (!a->closed && inis_now_ms() >= a->quiet_by)
		agent_quiet(a);
	expire_calls(a, now);
	if (!a->closed && now >= a->greet_by)
		agent_fault(a, "no greeting");
	if (!a->closed && now >= a->retry_at)
		ask(a);
	if (!a->closed) {
		a->timer_at = next_due(a);
		agent_arm(a);
	}
	agent_leave(a);
}

/* ---- connection ---- */

static void on_conn_closed(uv_handle_t *handle)
{
	struct agent_conn *conn = handle->data;

	inis_buf_free(&conn->in);
	free(conn);
}

static void drop(struct agent *a)
{
	struct agent_conn *conn = a->conn;

	a->greet_by = INIS_NEVER;
	a->retry_at = INIS_NEVER;
	a->state = AGENT_DOWN;
	a->broken = false;
	inis_buf_reset(&a->control);
	if (!conn)
		return;
	a->conn = NULL;
	conn->agent = NULL;
	uv_close((uv_handle_t *)&conn->pipe, on_conn_closed);
}

/* After a break: what goes on keeps waiting, the rest ends. */
static void sort_calls(struct agent *a)
{
	static const struct inis_error broken = {.code = INIS_SESSION_UNAVAILABLE,
						 .message = "the connection to the sandbox broke"};
	bool again = true;

	while (again && !a->closed) {
		struct agent_call *c;

		again = false;
		TAILQ_FOREACH (c, &a->calls, link) {
			if (!c->sent || c->resumes)
				continue;
			call_done(c, NULL, &broken);
			again = true;
			break;
		}
	}
}

static void try_again(struct agent *a)
{
	static const struct inis_error lost = {.code = INIS_SESSION_UNAVAILABLE,
					       .message = "the sandbox cannot be reached"};

	if (a->up_since && agent_now(a) - a->up_since >= STABLE_MS)
		a->attempts = 0;
	a->up_since = 0;
	if (a->attempts >= RETRIES) {
		a->attempts = 0;
		end_calls(a, &lost);
		if (!a->closed)
			a->owner.on_lost(a->ctx);
		return;
	}
	a->state = AGENT_CONNECTING;
	a->retry_at = agent_deadline_in(a, RETRY_MS[a->attempts++]);
	agent_wake_at(a, a->retry_at);
}

static void broke(struct agent *a)
{
	agent_enter(a);
	drop(a);
	sort_calls(a);
	if (!a->closed)
		try_again(a);
	agent_leave(a);
}

void agent_fault(struct agent *a, const char *what)
{
	inis_log(INIS_LOG_WARN, "agent broke the protocol", "what", what, NULL);
	broke(a);
}

void agent_unreachable(struct agent *a)
{
	if (a->closed || a->state != AGENT_CONNECTING)
		return;
	broke(a);
}

void agent_want(struct agent *a)
{
	if (a->closed || a->state != AGENT_DOWN)
		return;
	a->state = AGENT_CONNECTING;
	a->retry_at = agent_now(a);
	agent_wake_at(a, a->retry_at);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct agent_conn *conn = handle->data;
	uint8_t *room = inis_buf_reserve(&conn->in, READ_SIZE);

	(void)suggested;
	*buf = uv_buf_init((char *)room, room ? READ_SIZE : 0);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct agent_conn *conn = stream->data;
	struct agent *a = conn->agent;
	size_t used;

	(void)buf;
	if (!a || n == 0)
		return;
	if (n < 0) {
		broke(a);
		return;
	}
	agent_enter(a);
	conn->in.len += (size_t)n;
	used = agent_frames(conn, conn->in.data, conn->in.len);
	inis_buf_consume(&conn->in, used);
	agent_leave(a);
}

void agent_attach(struct agent *a, int fd)
{
	cleanup_close int own = fd;
	struct agent_conn *conn;

	if (a->closed || a->conn)
		return;
	a->state = AGENT_CONNECTING;
	conn = calloc(1, sizeof(*conn));
	if (!conn || uv_pipe_init(a->loop, &conn->pipe, 0) < 0) {
		free(conn);
		broke(a);
		return;
	}
	conn->agent = a;
	conn->pipe.data = conn;
	a->conn = conn;
	if (uv_pipe_open(&conn->pipe, own) < 0 || uv_read_start((uv_stream_t *)&conn->pipe, on_alloc, on_read) < 0) {
		broke(a);
		return;
	}
	take_fd(&own);
	a->state = AGENT_GREETING;
	a->greet_by = agent_deadline_in(a, GREET_LIMIT_MS);
	agent_wake_at(a, a->greet_by);
	agent_hello(a);
}

/* ---- writing ---- */

struct write_job {
	uv_write_t req;
	struct agent_conn *conn;
	size_t owed; /* memory of a reply */
	uint8_t data[];
};

static void on_written(uv_write_t *req, int status)
{
	struct write_job *job = (struct write_job *)req;
	struct agent *a = job->conn->agent;

	job->conn->owed -= job->owed;
	free(job);
	if (status < 0 && status != UV_ECANCELED && a)
		broke(a);
}

/* Not at once: the caller is in the middle of something with a call that would end. */
static void break_soon(struct agent *a)
{
	a->broken = true;
	agent_wake_at(a, 0);
}

/* What the socket would not take of the two parts. */
static void queue_write(struct agent *a, const uv_buf_t parts[2], size_t sent, bool reply)
{
	struct write_job *job = malloc(sizeof(*job) + parts[0].len + parts[1].len - sent);
	uv_buf_t rest = uv_buf_init(job ? (char *)job->data : NULL, 0);

	if (!job) {
		break_soon(a);
		return;
	}
	job->conn = a->conn;
	for (int i = 0; i < 2; i++) {
		size_t skip = sent < parts[i].len ? sent : parts[i].len;

		sent -= skip;
		if (skip < parts[i].len)
			memcpy(rest.base + rest.len, parts[i].base + skip, parts[i].len - skip);
		rest.len += parts[i].len - skip;
	}
	job->owed = reply ? sizeof(*job) + rest.len : 0;
	a->conn->owed += job->owed;
	if (uv_write(&job->req, (uv_stream_t *)&a->conn->pipe, &rest, 1, on_written) < 0) {
		a->conn->owed -= job->owed;
		free(job);
		break_soon(a);
	}
}

static void send_parts(struct agent *a, const struct inis_buf *head, const void *data, size_t n, bool reply)
{
	const uv_buf_t parts[2] = {uv_buf_init((char *)head->data, (unsigned)head->len),
				   uv_buf_init((char *)data, (unsigned)n)};
	int sent;

	if (!a->conn || a->broken)
		return;
	if (inis_buf_failed(head)) {
		break_soon(a);
		return;
	}
	sent = uv_try_write((uv_stream_t *)&a->conn->pipe, parts, n > 0 ? 2 : 1);
	if (sent < 0 && sent != UV_EAGAIN)
		break_soon(a);
	else if (sent < 0 || (size_t)sent < parts[0].len + parts[1].len)
		queue_write(a, parts, sent > 0 ? (size_t)sent : 0, reply);
}

void agent_send_data(struct agent *a, const struct inis_buf *head, const void *data, size_t n)
{
	send_parts(a, head, data, n, false);
}

void agent_send(struct agent *a, const struct inis_buf *frames)
{
	send_parts(a, frames, NULL, 0, false);
}

void agent_reply(struct agent *a, const struct inis_buf *frames)
{
	send_parts(a, frames, NULL, 0, true);
	if (a->conn && a->conn->owed > OWED_MAX)
		break_soon(a);
}

/* ---- greeted ---- */

void agent_greeted(struct agent *a)
{
	struct agent_call *c;

	if (a->greeted)
		inis_count(&inis_metrics.agent_reconnects);
	a->greeted = true;
	a->state = AGENT_UP;
	a->greet_by = INIS_NEVER;
	a->up_since = agent_now(a);
	agent_say_resumed(a);
	TAILQ_FOREACH (c, &a->calls, link) {
		if (!c->sent)
			call_send(c);
		if (c->cancelled)
			agent_call_cancel(c, c->cancel_grace_ms);
		call_catch_up(c);
		call_pump(c);
	}
	a->owner.on_ready(a->ctx);
}
