/* SPDX-License-Identifier: Apache-2.0
 *
 * agent_frames.c - what arrives from an agent: checked, put together, handed to its call.
 *
 * The agent is hostile. A frame that no rule of its call allows, an offset that
 * does not follow, more bytes than the window: the connection is dropped.
 */
#include <string.h>

#include "base/log.h"
#include "session/agent_private.h"
#include "wire/spool_proto.h"

static struct agent_call *find_call(struct agent *a, uint32_t channel)
{
	struct agent_call *c;

	TAILQ_FOREACH (c, &a->calls, link) {
		if (c->channel == channel && c->sent)
			return c;
	}
	return NULL;
}

/* ---- greeting ---- */

void agent_hello(struct agent *a)
{
	const struct inis_hello hello = {.version = INIS_AGENT_VERSION,
					 .window = INIS_AGENT_WINDOW,
					 .features = INIS_FEATURE_EXEC | INIS_FEATURE_PROCS | INIS_FEATURE_FILES |
						     INIS_FEATURE_PTYS | INIS_FEATURE_PAUSE | INIS_FEATURE_USAGE};
	cleanup_buf struct inis_buf payload = INIS_BUF_INIT(0);
	cleanup_buf struct inis_buf out = INIS_BUF_INIT(0);

	inis_hello_pack(&payload, &hello);
	inis_frame_put(&out, a->epoch, 0, INIS_F_HELLO, 0, payload.data, payload.len);
	agent_send(a, &out);
}

/* Names the execs that shall go on, on new channels. */
static void send_reconnect(struct agent *a)
{
	static struct inis_reconnect entries[INIS_RECONNECT_MAX];
	cleanup_buf struct inis_buf payload = INIS_BUF_INIT(0);
	cleanup_buf struct inis_buf out = INIS_BUF_INIT(0);
	struct agent_call *c;
	uint32_t n = 0;

	TAILQ_FOREACH (c, &a->calls, link) {
		if (!c->sent || !c->rule->runs || n == INIS_RECONNECT_MAX)
			continue;
		c->channel = ++a->last_channel;
		entries[n] = (struct inis_reconnect){
			.channel = c->channel, .out_have = c->got[AGENT_OUT], .err_have = c->got[AGENT_ERR]};
		memcpy(entries[n].id, c->id, sizeof(c->id));
		n++;
	}
	inis_reconnect_pack(&payload, entries, n);
	inis_frame_put_message(&out, a->epoch, 0, INIS_F_RECONNECT, payload.data, payload.len);
	agent_send(a, &out);
}

static void on_hello(struct agent *a, const struct inis_frame *f)
{
	struct inis_hello hello;

	if (a->state != AGENT_GREETING || inis_hello_unpack(f->payload, f->length, &hello) < 0 ||
	    hello.version != INIS_AGENT_VERSION || hello.window < 4096) {
		agent_fault(a, "bad greeting");
		return;
	}
	a->epoch = f->epoch;
	a->features = hello.features;
	a->window = hello.window < INIS_AGENT_WINDOW ? hello.window : INIS_AGENT_WINDOW;
	send_reconnect(a);
}

/* One exec after a break: goes on, or has lost output and ends. */
static void resume(struct agent_call *c, uint8_t state)
{
	if (state == INIS_RESUME_UNKNOWN) {
		call_fail(c, INIS_SESSION_UNAVAILABLE, "the command was lost when the connection to the sandbox broke");
		return;
	}
	if (state == INIS_RESUME_GAP) {
		call_fail(c, INIS_SESSION_UNAVAILABLE, "output was lost when the connection to the sandbox broke");
		return;
	}
	c->acked[AGENT_OUT] = c->got[AGENT_OUT];
	c->acked[AGENT_ERR] = c->got[AGENT_ERR];
	c->input_sent = c->input_acked;
	c->input_eof_sent = false;
	inis_buf_reset(&c->message);
	if (c->started)
		return;
	c->started = c->input_open = true;
	if (c->handler.started)
		c->handler.started(c->ctx);
}

/* Followed logs are asked for again from where they were. */
static void rewind_logs(struct agent *a)
{
	struct agent_call *c;

	TAILQ_FOREACH (c, &a->calls, link) {
		if (!c->sent || c->rule->request != INIS_F_PROC_LOGS)
			continue;
		c->sent = false;
		c->logs.out_from = c->got[AGENT_OUT];
		c->logs.err_from = c->got[AGENT_ERR];
		inis_buf_reset(&c->request);
		inis_logs_pack(&c->request, &c->logs);
	}
}

static void on_reconnected(struct agent *a, const uint8_t *data, size_t n)
{
	static struct inis_reconnect entries[INIS_RECONNECT_MAX];
	int count = inis_reconnect_unpack(data, n, entries, INIS_RECONNECT_MAX);

	if (a->state != AGENT_GREETING || count < 0) {
		agent_fault(a, "bad reconnect answer");
		return;
	}
	for (int i = 0; i < count && !a->closed; i++) {
		struct agent_call *c = find_call(a, entries[i].channel);

		if (!c || !c->rule->runs || strcmp(c->id, entries[i].id) != 0) {
			agent_fault(a, "reconnect answer for another exec");
			return;
		}
		call_enter(c);
		resume(c, entries[i].state);
		call_leave(c);
	}
	if (a->closed)
		return;
	rewind_logs(a);
	agent_greeted(a);
}

static void on_control(struct agent *a, const struct inis_frame *f)
{
	cleanup_buf struct inis_buf out = INIS_BUF_INIT(0);

	switch (f->type) {
	case INIS_F_HELLO:
		on_hello(a, f);
		return;
	case INIS_F_RECONNECTED:
		inis_buf_append(&a->control, f->payload, f->length);
		if (inis_buf_failed(&a->control)) {
			agent_fault(a, "reconnect answer too long");
		} else if (!(f->flags & INIS_FRAME_MORE)) {
			on_reconnected(a, a->control.data, a->control.len);
			inis_buf_reset(&a->control);
		}
		return;
	case INIS_F_PING:
		if (f->length > 64) {
			agent_fault(a, "long ping");
			return;
		}
		inis_frame_put(&out, a->epoch, 0, INIS_F_PONG, 0, f->payload, f->length);
		agent_reply(a, &out);
		return;
	case INIS_F_PONG:
		return;
	case INIS_F_QUIET:
		agent_quiet(a);
		return;
	default:
		agent_fault(a, "unknown control frame");
	}
}

/* ---- frames of calls ---- */

static void on_output(struct agent_call *c, const struct inis_frame *f)
{
	enum agent_stream stream = f->type == INIS_F_OUT ? AGENT_OUT : AGENT_ERR;
	const struct verb_rule *rule = c->rule;
	struct inis_unpack u;
	uint64_t offset;
	size_t n;

	inis_unpack_init(&u, f->payload, f->length);
	offset = inis_unpack_u64(&u);
	n = u.left;
	if (u.failed || n == 0 || (f->flags & INIS_FRAME_MORE) || !rule->output ||
	    (stream == AGENT_ERR && !rule->both)) {
		agent_fault(c->agent, "output that was not asked for");
		return;
	}
	if (offset != c->got[stream]) {
		if (!rule->gaps || offset < c->got[stream]) {
			agent_fault(c->agent, "output out of place");
			return;
		}
		c->got[stream] = c->acked[stream] = offset;
	}
	if (c->got[stream] - c->acked[stream] + n > c->agent->window) {
		agent_fault(c->agent, "output beyond the window");
		return;
	}
	c->got[stream] += n;
	call_touch(c);
	if (c->handler.data)
		c->handler.data(c->ctx, stream, offset, u.at, n);
	if (!c->over)
		call_ack(c, false);
}

static void on_input_ack(struct agent_call *c, const struct inis_frame *f)
{
	struct inis_unpack u;
	uint64_t offset;
	bool closed;

	inis_unpack_init(&u, f->payload, f->length);
	offset = inis_unpack_u64(&u);
	closed = inis_unpack_u8(&u) != 0;
	if (!inis_unpack_ok(&u) || !c->rule->input || offset > c->input_sent) {
		agent_fault(c->agent, "bad acknowledgement of input");
		return;
	}
	if (offset > c->input_acked) {
		inis_buf_consume(&c->input, (size_t)(offset - c->input_acked));
		c->input_acked = offset;
	}
	c->input_open = true;
	c->input_closed |= closed;
	call_touch(c);
	call_pump(c);
	if (c->handler.input && (c->input_closed || c->input.len < c->agent->window / 2))
		c->handler.input(c->ctx);
}

/* -1: not such a message. On success r->proc must be freed. */
static int decode(const struct agent_call *c, uint16_t type, const uint8_t *data, size_t n, struct agent_result *r)
{
	struct inis_unpack u;

	inis_unpack_init(&u, data, n);
	switch (type) {
	case INIS_F_END:
		r->end_flags = inis_unpack_u32(&u);
		return inis_unpack_ok(&u) ? 0 : -1;
	case INIS_F_EXITED:
		return inis_exited_unpack(data, n, &r->exited) < 0 || !inis_exited_sound(&r->exited) ? -1 : 0;
	case INIS_F_PROC_INFO:
		return inis_proc_info_unpack(data, n, &r->proc) < 0 || !inis_proc_info_sound(&r->proc) ? -1 : 0;
	case INIS_F_FILE_INFO:
		return inis_file_info_unpack(data, n, &r->file);
	case INIS_F_PTY_INFO:
		return inis_pty_info_unpack(data, n, &r->tape);
	case INIS_F_PTY_ENTRY:
		return inis_pty_entry_unpack(data, n, &r->pty);
	case INIS_F_LOGS_INFO:
		r->first[AGENT_OUT] = inis_unpack_u64(&u);
		r->first[AGENT_ERR] = inis_unpack_u64(&u);
		r->truncated = inis_unpack_u8(&u) != 0;
		return inis_unpack_ok(&u) && r->first[AGENT_OUT] >= c->got[AGENT_OUT] &&
				       r->first[AGENT_ERR] >= c->got[AGENT_ERR]
			       ? 0
			       : -1;
	default:
		return -1;
	}
}

static void on_info(struct agent_call *c, uint16_t type, const struct agent_result *r)
{
	bool again = c->informed;

	c->informed = true;
	if (type == INIS_F_LOGS_INFO) {
		for (int i = 0; i < AGENT_STREAM_COUNT; i++)
			c->got[i] = c->acked[i] = r->first[i];
		if (again)
			return;
	} else if (type == INIS_F_PTY_INFO) {
		/* Said again after a break, in case that it had not come. */
		if (again)
			return;
		c->got[AGENT_OUT] = c->acked[AGENT_OUT] = r->tape.first;
	} else if (type == INIS_F_FILE_INFO && again) {
		agent_fault(c->agent, "file described twice");
		return;
	}
	if (c->handler.info)
		c->handler.info(c->ctx, r);
}

/* What the guest may say to a client. Anything else, as a fault of the server's or a key's, is not its to say. */
static bool code_allowed(enum inis_code code)
{
	switch (code) {
	case INIS_BAD_REQUEST:
	case INIS_PAYLOAD_TOO_LARGE:
	case INIS_NOT_FOUND:
	case INIS_CONFLICT:
	case INIS_NOT_IMPLEMENTED:
	case INIS_UNAVAILABLE:
	case INIS_INVALID_PATH:
	case INIS_IS_DIRECTORY:
	case INIS_PERMISSION_DENIED:
		return true;
	default:
		return false;
	}
}

static void on_error(struct agent_call *c, const uint8_t *data, size_t n)
{
	struct inis_error err = INIS_ERROR_INIT;

	if (inis_wire_error_unpack(data, n, &err) < 0) {
		agent_fault(c->agent, "malformed error");
		return;
	}
	if (!code_allowed(err.code)) {
		inis_log(INIS_LOG_WARN, "agent failed", "code", inis_code_name(err.code), "error", err.message, NULL);
		err.code = INIS_SESSION_UNAVAILABLE;
	}
	call_done(c, NULL, &err);
}

static void on_started(struct agent_call *c)
{
	if (!c->rule->runs || c->started) {
		agent_fault(c->agent, "unexpected start");
		return;
	}
	c->started = c->input_open = true;
	call_touch(c);
	if (c->handler.started)
		c->handler.started(c->ctx);
}

static void on_message(struct agent_call *c, uint16_t type, const uint8_t *data, size_t n)
{
	const struct verb_rule *rule = c->rule;
	struct agent_result r = {0};
	bool last = type == rule->last;

	if (type == INIS_F_ERROR) {
		on_error(c, data, n);
		return;
	}
	if (type == INIS_F_STARTED) {
		on_started(c);
		return;
	}
	if (!last && (rule->info == 0 || type != rule->info)) {
		agent_fault(c->agent, "answer of another kind");
		return;
	}
	if (decode(c, type, data, n, &r) < 0) {
		inis_proc_info_free(&r.proc);
		inis_pty_entry_free(&r.pty);
		agent_fault(c->agent, "malformed answer");
		return;
	}
	call_touch(c);
	if (last)
		call_done(c, &r, NULL);
	else
		on_info(c, type, &r);
	inis_proc_info_free(&r.proc);
	inis_pty_entry_free(&r.pty);
}

/* An agent begins one message after the other: those of all calls together are no longer than one may be. */
static bool too_long(const struct agent *a)
{
	const struct agent_call *c;
	size_t sum = 0;

	TAILQ_FOREACH (c, &a->calls, link)
		sum += c->message.len;
	return sum > INIS_MESSAGE_MAX;
}

/* A message may come in several frames of one type. */
static void on_piece(struct agent_call *c, const struct inis_frame *f)
{
	bool more = f->flags & INIS_FRAME_MORE;

	if (c->message.len == 0 && !more) {
		on_message(c, f->type, f->payload, f->length);
		return;
	}
	if (c->message.len > 0 && c->message_type != f->type) {
		agent_fault(c->agent, "mixed messages");
		return;
	}
	c->message_type = f->type;
	inis_buf_append(&c->message, f->payload, f->length);
	if (inis_buf_failed(&c->message) || too_long(c->agent)) {
		agent_fault(c->agent, "message too long");
		return;
	}
	if (more)
		return;
	on_message(c, f->type, c->message.data, c->message.len);
	inis_buf_reset(&c->message);
}

static void on_call_frame(struct agent_call *c, const struct inis_frame *f)
{
	call_enter(c);
	if (f->type == INIS_F_OUT || f->type == INIS_F_ERR)
		on_output(c, f);
	else if (f->type == INIS_F_STDIN_ACK)
		on_input_ack(c, f);
	else
		on_piece(c, f);
	call_leave(c);
}

static void on_frame(struct agent *a, const struct inis_frame *f)
{
	struct agent_call *c;

	if (f->channel == 0) {
		on_control(a, f);
		return;
	}
	if (f->epoch != a->epoch || a->state != AGENT_UP)
		return;
	/* Frames for a channel that we have left may still be on their way. */
	c = find_call(a, f->channel);
	if (c)
		on_call_frame(c, f);
}

size_t agent_frames(struct agent_conn *conn, const uint8_t *data, size_t n)
{
	struct inis_error err = INIS_ERROR_INIT;
	size_t used = 0;

	while (conn->agent && !conn->agent->closed) {
		struct inis_frame f;
		ptrdiff_t took = inis_frame_parse(data + used, n - used, &f, &err);

		if (took == 0)
			break;
		if (took < 0) {
			agent_fault(conn->agent, err.message);
			break;
		}
		used += (size_t)took;
		on_frame(conn->agent, &f);
	}
	return used;
}
