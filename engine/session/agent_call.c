/* SPDX-License-Identifier: Apache-2.0
 *
 * agent_call.c - calls to the agent: their life, their streams and their limits.
 */
#include <stdlib.h>
#include <string.h>

#include "session/agent_private.h"

static const struct verb_rule RULES[] = {
	{.request = INIS_F_EXEC, .last = INIS_F_EXITED, .output = true, .both = true, .input = true, .runs = true},
	{.request = INIS_F_PTY_START, .last = INIS_F_EXITED, .output = true, .input = true, .runs = true},
	{.request = INIS_F_PTY_ATTACH,
	 .last = INIS_F_EXITED,
	 .info = INIS_F_PTY_INFO,
	 .output = true,
	 .input = true,
	 .runs = true},
	{.request = INIS_F_PTY_LIST, .last = INIS_F_END, .info = INIS_F_PTY_ENTRY},
	{.request = INIS_F_PTY_KILL, .last = INIS_F_END},
	{.request = INIS_F_PROC_START, .last = INIS_F_PROC_INFO},
	{.request = INIS_F_PROC_GET, .last = INIS_F_PROC_INFO},
	{.request = INIS_F_PROC_LIST, .last = INIS_F_END, .info = INIS_F_PROC_INFO},
	{.request = INIS_F_PROC_KILL, .last = INIS_F_PROC_INFO},
	{.request = INIS_F_PROC_STDIN, .last = INIS_F_END, .input = true},
	{.request = INIS_F_PROC_LOGS,
	 .last = INIS_F_END,
	 .info = INIS_F_LOGS_INFO,
	 .output = true,
	 .both = true,
	 .gaps = true},
	{.request = INIS_F_FILE_READ, .last = INIS_F_END, .info = INIS_F_FILE_INFO, .output = true},
	{.request = INIS_F_FILE_WRITE, .last = INIS_F_FILE_INFO, .input = true},
	{.request = INIS_F_FILE_LIST, .last = INIS_F_END, .output = true},
	{.request = INIS_F_FILE_MKDIR, .last = INIS_F_FILE_INFO},
	{.request = INIS_F_FILE_REMOVE, .last = INIS_F_END},
	{.request = INIS_F_FILE_RENAME, .last = INIS_F_FILE_INFO},
	{.request = INIS_F_FILE_STAT, .last = INIS_F_FILE_INFO},
	{.request = INIS_F_FILE_FIND, .last = INIS_F_END, .output = true},
	{.request = INIS_F_FILE_GREP, .last = INIS_F_END, .output = true},
};

static const struct verb_rule *rule_of(uint16_t request)
{
	for (size_t i = 0; i < sizeof(RULES) / sizeof(RULES[0]); i++) {
		if (RULES[i].request == request)
			return &RULES[i];
	}
	return NULL;
}

struct agent_call *call_new(struct agent *a, uint16_t request, const struct agent_handler *h, void *ctx,
			    struct inis_error *err)
{
	struct agent_call *c = calloc(1, sizeof(*c));

	if (!c) {
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		return NULL;
	}
	c->agent = a;
	c->rule = rule_of(request);
	c->handler = *h;
	c->ctx = ctx;
	c->limit_ms = CALL_LIMIT_MS;
	c->request.max = INIS_MESSAGE_MAX;
	c->message.max = INIS_MESSAGE_MAX;
	return c;
}

void call_free(struct agent_call *c)
{
	inis_buf_free(&c->request);
	inis_buf_free(&c->message);
	inis_buf_free(&c->input);
	free(c);
}

void call_enter(struct agent_call *c)
{
	c->busy++;
}

void call_leave(struct agent_call *c)
{
	if (--c->busy == 0 && c->over)
		call_free(c);
}

static void unlink_call(struct agent_call *c)
{
	if (c->over)
		return;
	c->over = true;
	TAILQ_REMOVE(&c->agent->calls, c, link);
}

void call_touch(struct agent_call *c)
{
	if (c->absolute && c->deadline)
		return;
	/* A process may read its input as late as it likes, and who has a terminal may keep it. */
	if ((c->rule->request == INIS_F_PROC_STDIN || c->rule->request == INIS_F_PTY_ATTACH) && c->input_open)
		c->limit_ms = INIS_NEVER;
	c->deadline = agent_deadline_in(c->agent, c->limit_ms);
	agent_wake_at(c->agent, c->deadline);
}

struct agent_call *call_start(struct agent_call *c, struct inis_error *err)
{
	struct agent *a = c->agent;

	if (inis_buf_failed(&c->request) || a->closed) {
		inis_fail(err, a->closed ? INIS_SESSION_UNAVAILABLE : INIS_PAYLOAD_TOO_LARGE,
			  a->closed ? "the session is ending" : "the request is too large");
		call_free(c);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&a->calls, c, link);
	call_count_begin(c);
	call_touch(c);
	if (a->state == AGENT_UP)
		call_send(c);
	else
		agent_want(a);
	return c;
}

void call_send(struct agent_call *c)
{
	cleanup_buf struct inis_buf out = INIS_BUF_INIT(0);
	struct agent *a = c->agent;

	c->channel = ++a->last_channel;
	c->sent = true;
	inis_frame_put_message(&out, a->epoch, c->channel, c->rule->request, c->request.data, c->request.len);
	agent_send(a, &out);
}

void call_control(struct agent_call *c, uint16_t type, const struct inis_buf *payload)
{
	cleanup_buf struct inis_buf out = INIS_BUF_INIT(0);

	if (!c->sent || c->agent->state != AGENT_UP)
		return;
	inis_frame_put(&out, c->agent->epoch, c->channel, type, 0, payload ? payload->data : NULL,
		       payload ? payload->len : 0);
	if (type == INIS_F_ACK)
		agent_reply(c->agent, &out);
	else
		agent_send(c->agent, &out);
}

void call_done(struct agent_call *c, const struct agent_result *r, const struct inis_error *err)
{
	if (c->over)
		return;
	call_enter(c);
	unlink_call(c);
	call_count_end(c, r);
	c->handler.done(c->ctx, r, err);
	/* The agent keeps an ended exec until it is told that we have the end; whoever waits for that comes first. */
	if (c->rule->runs)
		call_control(c, INIS_F_RELEASE, NULL);
	call_leave(c);
}

void call_fail(struct agent_call *c, enum inis_code code, const char *text)
{
	struct inis_error err = INIS_ERROR_INIT;

	inis_fail(&err, code, "%s", text);
	call_done(c, NULL, &err);
}

void agent_call_release(struct agent_call *c)
{
	call_enter(c);
	call_control(c, INIS_F_RELEASE, NULL);
	if (!c->over)
		call_count_end(c, NULL);
	unlink_call(c);
	call_leave(c);
}

static void send_cancel(struct agent_call *c)
{
	cleanup_buf struct inis_buf grace = INIS_BUF_INIT(0);

	inis_pack_u32(&grace, c->cancel_grace_ms);
	call_control(c, INIS_F_CANCEL, &grace);
}

void agent_call_cancel(struct agent_call *c, uint32_t grace_ms)
{
	inis_ms by = agent_deadline_in(c->agent, (inis_ms)grace_ms + CALL_LIMIT_MS);

	c->cancelled = true;
	c->cancel_grace_ms = grace_ms;
	if (by < c->deadline) {
		c->deadline = by;
		agent_wake_at(c->agent, by);
	}
	send_cancel(c);
}

/* ---- terminal ---- */

static void send_size(struct agent_call *c)
{
	cleanup_buf struct inis_buf size = INIS_BUF_INIT(0);

	inis_pack_u16(&size, c->rows);
	inis_pack_u16(&size, c->cols);
	c->rows = 0;
	call_control(c, INIS_F_PTY_RESIZE, &size);
}

static void send_signal(struct agent_call *c, uint32_t signo)
{
	cleanup_buf struct inis_buf payload = INIS_BUF_INIT(0);

	inis_pack_u32(&payload, signo);
	c->signals &= ~(1ULL << signo);
	call_control(c, INIS_F_PTY_SIGNAL, &payload);
}

static bool can_control(const struct agent_call *c)
{
	return c->started && c->agent->state == AGENT_UP;
}

void agent_call_resize(struct agent_call *c, uint16_t rows, uint16_t cols)
{
	c->rows = rows;
	c->cols = cols;
	if (can_control(c))
		send_size(c);
}

void agent_call_signal(struct agent_call *c, unsigned signo)
{
	c->signals |= 1ULL << signo;
	if (can_control(c))
		send_signal(c, signo);
}

void call_catch_up(struct agent_call *c)
{
	if (!can_control(c))
		return;
	if (c->rows)
		send_size(c);
	for (unsigned signo = 1; c->signals && signo < 64; signo++) {
		if (c->signals & (1ULL << signo))
			send_signal(c, signo);
	}
}

/* ---- output ---- */

void call_ack(struct agent_call *c, bool now)
{
	cleanup_buf struct inis_buf payload = INIS_BUF_INIT(0);
	uint64_t open_out = c->got[AGENT_OUT] - c->acked[AGENT_OUT];
	uint64_t open_err = c->got[AGENT_ERR] - c->acked[AGENT_ERR];

	if (c->held || (open_out == 0 && open_err == 0))
		return;
	/* A quarter of the window keeps the sender going without a frame for each frame. */
	if (!now && open_out < c->agent->window / 4 && open_err < c->agent->window / 4)
		return;
	c->acked[AGENT_OUT] = c->got[AGENT_OUT];
	c->acked[AGENT_ERR] = c->got[AGENT_ERR];
	inis_pack_u64(&payload, c->acked[AGENT_OUT]);
	inis_pack_u64(&payload, c->acked[AGENT_ERR]);
	call_control(c, INIS_F_ACK, &payload);
}

void agent_call_hold(struct agent_call *c)
{
	c->held = true;
}

void agent_call_unhold(struct agent_call *c)
{
	if (!c->held)
		return;
	c->held = false;
	call_touch(c);
	call_ack(c, true);
}

/* ---- input ---- */

/* The bytes that may go now: not yet sent, and within the window after what was acknowledged. */
static size_t sendable(const struct agent_call *c)
{
	uint64_t unacked = c->input_sent - c->input_acked;
	size_t left = c->input.len - (size_t)unacked;
	uint64_t room = unacked < c->agent->window ? c->agent->window - unacked : 0;

	return left < room ? left : (size_t)room;
}

static void send_input(struct agent_call *c, size_t n, bool eof)
{
	cleanup_buf struct inis_buf head = INIS_BUF_INIT(0);
	size_t unacked = (size_t)(c->input_sent - c->input_acked);

	inis_frame_put_stream_head(&head, c->agent->epoch, c->channel, INIS_F_STDIN, eof ? INIS_FRAME_EOF : 0,
				   c->input_sent, n);
	c->input_sent += n;
	c->input_eof_sent = eof;
	agent_send_data(c->agent, &head, n > 0 ? c->input.data + unacked : NULL, n);
}

void call_pump(struct agent_call *c)
{
	if (!c->input_open || !c->sent || c->input_eof_sent || c->agent->state != AGENT_UP)
		return;
	for (;;) {
		size_t n = sendable(c);
		size_t piece = n < INIS_STREAM_DATA_MAX ? n : INIS_STREAM_DATA_MAX;
		bool last = c->input_eof && c->input_sent - c->input_acked + piece == c->input.len;

		if (piece == 0 && !last)
			return;
		send_input(c, piece, last);
		if (last || c->agent->state != AGENT_UP)
			return;
	}
}

bool agent_call_write(struct agent_call *c, const void *data, size_t n)
{
	if (c->input_closed)
		return true;
	inis_buf_append(&c->input, data, n);
	if (inis_buf_failed(&c->input)) {
		/* Ended from the timer: the caller still holds the call. */
		c->deadline = 0;
		agent_wake_at(c->agent, 0);
		return false;
	}
	call_touch(c);
	call_pump(c);
	return c->input.len < c->agent->window;
}

void agent_call_finish(struct agent_call *c)
{
	c->input_eof = true;
	call_touch(c);
	call_pump(c);
}

uint64_t agent_call_input_taken(const struct agent_call *c)
{
	return c->input_acked;
}

bool agent_call_input_closed(const struct agent_call *c)
{
	return c->input_closed;
}
