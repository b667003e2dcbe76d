/* SPDX-License-Identifier: Apache-2.0
 *
 * exec.c - commands that belong to a client.
 *
 * An exec is attached (its channel is open), or waits for a client to come back, or is forgotten (nobody will ask
 * for it again: its output is dropped and it is freed at its end). One on a terminal has its output and its input
 * on that; what it has in place of stderr is a stream that is over.
 */
#include "agent/exec.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/channel.h"
#include "agent/input.h"
#include "agent/link.h"
#include "agent/outbuf.h"
#include "agent/outpipe.h"
#include "agent/request.h"
#include "agent/task.h"
#include "agent/terminal.h"
#include "base/cleanup.h"

struct exec;

struct stream {
	struct outpipe pipe;
	struct outbuf buf;
	struct exec *exec;
	uint64_t total; /* bytes written, dropped ones included */
	bool cut; /* capture_max was reached */
};

struct exec {
	struct list node;
	char id[INIS_PROC_NAME_MAX + 1];
	uint32_t flags;
	uint64_t capture_max;
	struct channel channel;
	struct task task;
	struct stream out;
	struct stream err;
	struct inpipe stdin_pipe;
	struct input input;
	struct terminal terminal;
	bool forgotten;
	bool exited_sent;
};

static struct list execs = LIST_INIT(execs);
static unsigned known;

static unsigned running(void)
{
	unsigned n = 0;

	list_each (at, &execs)
		n += task_live(&container_of(at, struct exec, node)->task);
	return n;
}

static struct exec *find(const char *id)
{
	list_each (at, &execs) {
		struct exec *e = container_of(at, struct exec, node);

		if (!e->forgotten && strcmp(e->id, id) == 0)
			return e;
	}
	return NULL;
}

static void exec_free(struct exec *e)
{
	channel_close(&e->channel);
	outpipe_abandon(&e->out.pipe);
	outpipe_abandon(&e->err.pipe);
	inpipe_close(&e->stdin_pipe);
	terminal_close(&e->terminal);
	outbuf_free(&e->out.buf);
	outbuf_free(&e->err.buf);
	inis_buf_free(&e->input.pending);
	list_remove(&e->node);
	known--;
	free(e);
}

/* Nobody will ask for it again. */
static void forget(struct exec *e, bool keep_running)
{
	channel_close(&e->channel);
	if (!task_live(&e->task)) {
		exec_free(e);
		return;
	}
	e->forgotten = true;
	outbuf_free(&e->out.buf);
	outbuf_free(&e->err.buf);
	outpipe_resume(&e->out.pipe);
	outpipe_resume(&e->err.pipe);
	if (!keep_running)
		task_kill(&e->task, INIS_TERM_GRACE_MS);
}

static size_t stream_room(struct outpipe *p)
{
	struct stream *s = container_of(p, struct stream, pipe);

	/* What is dropped anyway needs no room. */
	if (s->exec->forgotten || (s->exec->capture_max && s->total >= s->exec->capture_max))
		return AGENT_SCRATCH;
	return outbuf_room(&s->buf, link_window());
}

static void stream_data(struct outpipe *p, const void *data, size_t n)
{
	struct stream *s = container_of(p, struct stream, pipe);
	uint64_t max = s->exec->capture_max;
	size_t keep = n;

	if (max && s->total + n > max) {
		keep = s->total < max ? (size_t)(max - s->total) : 0;
		s->cut = true;
	}
	s->total += n;
	if (s->exec->forgotten || keep == 0)
		return;
	if (!outbuf_append(&s->buf, data, keep))
		s->cut = true;
	channel_ready(&s->exec->channel);
}

static void stream_done(struct outpipe *p)
{
	channel_ready(&container_of(p, struct stream, pipe)->exec->channel);
}

static const struct outpipe_ops stream_ops = {stream_room, stream_data, stream_done};

static bool send_some(struct exec *e, struct stream *s, enum inis_frame_type type)
{
	const uint8_t *data;
	size_t n = outbuf_next(&s->buf, link_window(), LINK_CHUNK, &data);

	if (n == 0)
		return false;
	link_send_stream(e->channel.id, type, s->buf.sent, data, n);
	outbuf_mark_sent(&s->buf, n);
	return true;
}

static bool all_sent(const struct stream *s)
{
	return s->pipe.fd < 0 && s->buf.sent == outbuf_end(&s->buf);
}

static void send_exited(struct exec *e)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_exited m = {.out_total = e->out.total, .err_total = e->err.total};

	task_exited(&e->task, &m);
	m.flags |= (e->out.cut ? INIS_EXIT_OUT_CUT : 0) | (e->err.cut ? INIS_EXIT_ERR_CUT : 0);
	inis_exited_pack(&b, &m);
	inis_usage_pack(&b, &m);
	link_send_buf(e->channel.id, INIS_F_EXITED, &b);
	e->exited_sent = true;
}

static bool exec_pump(struct channel *ch)
{
	struct exec *e = container_of(ch, struct exec, channel);
	bool sent = send_some(e, &e->out, INIS_F_OUT);

	sent |= send_some(e, &e->err, INIS_F_ERR);
	if (!sent && !e->exited_sent && e->task.stage == TASK_OVER && all_sent(&e->out) && all_sent(&e->err))
		send_exited(e);
	return sent;
}

static void push_input(struct exec *e)
{
	bool moved;

	if (e->stdin_pipe.fd < 0)
		return;
	if (input_push(&e->input, e->stdin_pipe.fd, &moved) < 0 || input_finished(&e->input)) {
		inpipe_close(&e->stdin_pipe);
		inis_buf_free(&e->input.pending);
		moved = true;
	}
	inpipe_want(&e->stdin_pipe, e->input.pending.len > 0);
	if (moved && e->channel.id)
		link_send_stdin_ack(e->channel.id, e->input.taken, e->stdin_pipe.fd < 0);
}

static void on_stdin_ready(struct inpipe *p, bool broken)
{
	struct exec *e = container_of(p, struct exec, stdin_pipe);

	if (!broken) {
		push_input(e);
		return;
	}
	inpipe_close(p);
	inis_buf_free(&e->input.pending);
	if (e->channel.id)
		link_send_stdin_ack(e->channel.id, e->input.taken, true);
}

static int on_stdin(struct exec *e, const struct inis_frame *f, struct inis_error *err)
{
	/* The reader is gone and the client was told: what was on its way is dropped. */
	if (e->stdin_pipe.fd < 0)
		return 0;
	if (input_add(&e->input, f, INIS_AGENT_WINDOW, err) < 0)
		return -1;
	push_input(e);
	return 0;
}

static int on_ack(struct exec *e, const struct inis_frame *f, struct inis_error *err)
{
	struct inis_unpack u;
	uint64_t out, errs;

	inis_unpack_init(&u, f->payload, f->length);
	out = inis_unpack_u64(&u);
	errs = inis_unpack_u64(&u);
	if (!inis_unpack_ok(&u) || !outbuf_ack(&e->out.buf, out) || !outbuf_ack(&e->err.buf, errs))
		return request_malformed(err);
	outpipe_resume(&e->out.pipe);
	outpipe_resume(&e->err.pipe);
	channel_ready(&e->channel);
	return 0;
}

static int on_cancel(struct exec *e, const struct inis_frame *f, struct inis_error *err)
{
	struct inis_unpack u;
	uint32_t grace;

	inis_unpack_init(&u, f->payload, f->length);
	grace = inis_unpack_u32(&u);
	if (!inis_unpack_ok(&u))
		return request_malformed(err);
	task_kill(&e->task, grace);
	return 0;
}

static bool on_terminal(const struct exec *e)
{
	return e->terminal.master >= 0;
}

static int on_resize(struct exec *e, const struct inis_frame *f, struct inis_error *err)
{
	uint16_t rows, cols;

	if (!on_terminal(e) || terminal_read_size(f, &rows, &cols) < 0)
		return request_malformed(err);
	terminal_resize(&e->terminal, rows, cols);
	return 0;
}

static int exec_frame(struct channel *ch, const struct inis_frame *f, struct inis_error *err)
{
	struct exec *e = container_of(ch, struct exec, channel);

	switch (f->type) {
	case INIS_F_STDIN:
		return on_stdin(e, f, err);
	case INIS_F_ACK:
		return on_ack(e, f, err);
	case INIS_F_CANCEL:
		return on_cancel(e, f, err);
	case INIS_F_PTY_RESIZE:
		return on_resize(e, f, err);
	case INIS_F_PTY_SIGNAL:
		return on_terminal(e) ? terminal_signal(&e->terminal, &e->task, f, err) : request_malformed(err);
	default:
		return request_malformed(err);
	}
}

static void exec_gone(struct channel *ch, enum channel_end how)
{
	struct exec *e = container_of(ch, struct exec, channel);

	if (how != CHANNEL_LOST)
		forget(e, how == CHANNEL_RELEASED && (e->flags & INIS_EXEC_DETACHED));
}

static const struct channel_ops exec_ops = {exec_frame, exec_pump, exec_gone};

static void exec_over(struct task *t)
{
	struct exec *e = container_of(t, struct exec, task);

	inpipe_close(&e->stdin_pipe);
	if (e->forgotten) {
		exec_free(e);
		return;
	}
	outpipe_finish(&e->out.pipe);
	outpipe_finish(&e->err.pipe);
	channel_ready(&e->channel);
}

static int admit(const struct inis_exec *m, char id[static INIS_PROC_NAME_MAX + 1], struct inis_error *err)
{
	struct exec *old;

	if (m->id.len > INIS_PROC_NAME_MAX)
		return inis_fail_field(err, "exec_id", "too long");
	memcpy(id, m->id.s, m->id.len);
	id[m->id.len] = '\0';
	if (!proc_name_valid(id))
		return inis_fail_field(err, "exec_id", "not a valid id");
	old = find(id);
	if (old && (task_live(&old->task) || old->channel.id))
		return inis_fail(err, INIS_CONFLICT, "exec \"%s\" is already running", id);
	if (old)
		exec_free(old);
	if (known >= AGENT_EXECS_KNOWN_MAX || running() >= AGENT_EXECS_RUNNING_MAX)
		return inis_fail(err, INIS_UNAVAILABLE, "too many commands at once in this session");
	return 0;
}

static void send_started(const struct exec *e)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_pack_u32(&b, (uint32_t)e->task.pid);
	inis_pack_u64(&b, e->task.started_wall);
	link_send_buf(e->channel.id, INIS_F_STARTED, &b);
}

static void begin(struct exec *e, struct spawned *s, const struct inis_exec *m)
{
	e->flags = m->flags;
	e->out.exec = e->err.exec = e;
	list_append(&execs, &e->node);
	known++;
	task_start(&e->task, s, m->timeout_ms, exec_over);
	send_started(e);
}

static struct exec *exec_new(uint32_t channel, const struct inis_exec *m, struct inis_error *err)
{
	cleanup_free struct exec *e = calloc(1, sizeof(*e));

	if (!e) {
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		return NULL;
	}
	channel_init(&e->channel);
	e->stdin_pipe.fd = e->out.pipe.fd = e->err.pipe.fd = -1;
	e->terminal = (struct terminal)TERMINAL_NONE;
	if (admit(m, e->id, err) < 0 || channel_open(&e->channel, channel, &exec_ops, err) < 0)
		return NULL;
	return take_ptr(e);
}

/* One that has not begun. */
static int give_up(struct exec *e)
{
	channel_close(&e->channel);
	terminal_close(&e->terminal);
	free(e);
	return -1;
}

static int start(uint32_t channel, const struct inis_exec *m, struct inis_error *err)
{
	struct exec *e = exec_new(channel, m, err);
	struct spawned s;

	if (!e)
		return -1;
	if (spawn(m, &s, err) < 0)
		return give_up(e);
	begin(e, &s, m);
	e->capture_max = m->capture_max;
	if (s.in >= 0)
		inpipe_open(&e->stdin_pipe, s.in, on_stdin_ready);
	outpipe_open(&e->out.pipe, s.out, &stream_ops);
	outpipe_open(&e->err.pipe, s.err, &stream_ops);
	if (s.complaint[0])
		stream_data(&e->err.pipe, s.complaint, strlen(s.complaint));
	return 0;
}

static int start_on_terminal(uint32_t channel, const struct inis_pty *m, struct inis_error *err)
{
	struct exec *e = exec_new(channel, &m->exec, err);
	struct spawned s;

	if (!e)
		return -1;
	if (terminal_spawn(&e->terminal, m, &s, err) < 0)
		return give_up(e);
	begin(e, &s, &m->exec);
	e->task.terminal = true;
	inpipe_open(&e->stdin_pipe, s.in, on_stdin_ready);
	outpipe_open_terminal(&e->out.pipe, s.out, &stream_ops);
	if (s.complaint[0])
		stream_data(&e->out.pipe, s.complaint, strlen(s.complaint));
	return 0;
}

int exec_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	struct inis_exec m;
	int rc;

	if (inis_exec_unpack(data, n, &m) < 0)
		return request_malformed(err);
	rc = start(channel, &m, err);
	inis_exec_free(&m);
	return rc;
}

int pty_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	struct inis_pty m;
	int rc;

	if (inis_pty_unpack(data, n, &m) < 0)
		return request_malformed(err);
	rc = start_on_terminal(channel, &m, err);
	inis_exec_free(&m.exec);
	return rc;
}

void execs_forget_unattached(void)
{
	list_each (at, &execs) {
		struct exec *e = container_of(at, struct exec, node);

		if (!e->forgotten && e->channel.id == 0)
			forget(e, e->flags & INIS_EXEC_DETACHED);
	}
}

enum inis_resume_state exec_resume(const struct inis_reconnect *r)
{
	struct exec *e = find(r->id);

	if (!e || e->channel.id || r->channel == 0 || channel_find(r->channel))
		return INIS_RESUME_UNKNOWN;
	if (!outbuf_resume(&e->out.buf, r->out_have) || !outbuf_resume(&e->err.buf, r->err_have))
		return INIS_RESUME_GAP;
	if (channel_open(&e->channel, r->channel, &exec_ops, NULL) < 0)
		return INIS_RESUME_UNKNOWN;
	e->exited_sent = false;
	return INIS_RESUME_GOES_ON;
}

void exec_go_on(const struct inis_reconnect *r)
{
	struct exec *e = find(r->id);

	if (!e)
		return;
	if (e->stdin_pipe.fd >= 0 || e->input.taken > 0)
		link_send_stdin_ack(e->channel.id, e->input.taken, e->stdin_pipe.fd < 0);
	outpipe_resume(&e->out.pipe);
	outpipe_resume(&e->err.pipe);
	channel_ready(&e->channel);
}
